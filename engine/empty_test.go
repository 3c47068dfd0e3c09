package engine_test

import (
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// An empty document is told of as what it is, but only to whom the place may
// be known and where a whole one would be looked at.
func TestEmptyDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, ann, bob := w.as("admin"), w.as("sam"), w.as("ann"), w.as("bob")
	open := sam.startCase(`{"route": "ask"}`)
	uuid := sam.mustPutEntry("a.json", every).Name
	before := len(sam.logTexts(open))
	for what, tt := range map[string]struct {
		put  func(doc string) error
		want errs.Kind
	}{
		"an entry":                    {func(doc string) error { return try(sam.putEntry("a.json", doc)).err }, errs.EmptyDocument},
		"a new entry":                 {func(doc string) error { return try(sam.putEntry("b.json", doc)).err }, errs.EmptyDocument},
		"an entry that is not seen":   {func(doc string) error { return try(bob.putEntry(uuid+".json", doc)).err }, errs.NotFound},
		"an entry under a condition":  {func(doc string) error { return try(sam.putEntry("a.json", doc, ifMatch(`"x"`))).err }, errs.Precondition},
		"a case":                      {func(doc string) error { return try(sam.putCase("", doc)).err }, errs.EmptyDocument},
		"a route":                     {func(doc string) error { return try(sam.putRoute("new", doc)).err }, errs.EmptyDocument},
		"a route of others":           {func(doc string) error { return try(bob.putRoute("ask", doc)).err }, errs.NotAllowed},
		"a name of a route not seen":  {func(doc string) error { return try(bob.putRoute("own", doc)).err }, errs.EmptyDocument},
		"a user":                      {func(doc string) error { return try(admin.putParty(identity.User, "sam", doc)).err }, errs.EmptyDocument},
		"a user, to whom may not":     {func(doc string) error { return try(sam.putParty(identity.User, "sam", doc)).err }, errs.NotFound},
		"what one says of oneself":    {func(doc string) error { return try(sam.putMe(doc)).err }, errs.EmptyDocument},
		"an app password":             {func(doc string) error { return try(sam.putApp("phone", doc)).err }, errs.EmptyDocument},
		"an action":                   {func(doc string) error { return try(ann.perform(open, "answer", doc)).err }, errs.EmptyDocument},
		"an action that is not there": {func(doc string) error { return try(ann.perform(open, "nothing", doc)).err }, errs.NotFound},
		"an action, not enabled":      {func(doc string) error { return try(ann.perform(open, "close", doc)).err }, errs.ActionNotEnabled},
		"an action, not allowed":      {func(doc string) error { return try(ann.perform(open, "audit", doc)).err }, errs.NotAllowed},
		"an action that is not seen":  {func(doc string) error { return try(bob.perform(9999, "answer", doc)).err }, errs.NotFound},
	} {
		for _, doc := range []string{"", " \r\n\t"} {
			w.kind(what, tt.put(doc), tt.want)
		}
	}
	same(t, "log entries", len(sam.logTexts(open)), before)
}
