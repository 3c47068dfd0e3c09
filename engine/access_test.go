package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// lookups are all ways of looking at something, by name: each returns what
// came of it.
func (w *world) lookups(ctx context.Context, entry, route string, id int64) map[string]func(identity.Principal) error {
	uuid := w.as("admin").ref(entry).Entry
	return map[string]func(identity.Principal) error{
		"entry":       func(by identity.Principal) error { return try(w.Schedules.Entry(ctx, by, engine.Ref{Entry: uuid})).err },
		"occurrences": func(by identity.Principal) error { return try(w.Schedules.Occurrences(ctx, by, uuid)).err },
		"route":       func(by identity.Principal) error { return try(w.Routes.Route(ctx, by, route)).err },
		"versions":    func(by identity.Principal) error { return try(w.Routes.RouteVersions(ctx, by, route)).err },
		"overview":    func(by identity.Principal) error { return try(w.Pictures.Overview(ctx, by, route)).err },
		"texts":       func(by identity.Principal) error { return try(w.Pictures.VersionTexts(ctx, by, route, 1)).err },
		"picture":     func(by identity.Principal) error { return try(w.Pictures.OfRoute(ctx, by, route, 0)).err },
		"case":        func(by identity.Principal) error { return try(w.Cases.Case(ctx, by, engine.Ref{CaseID: id})).err },
		"log.json":    func(by identity.Principal) error { return try(w.Cases.CaseLog(ctx, by, id, nil)).err },
		"log.txt":     func(by identity.Principal) error { return try(w.Cases.CaseLogText(ctx, by, id, nil)).err },
		"messages":    func(by identity.Principal) error { return try(w.Cases.Messages(ctx, by, id)).err },
		"input": func(by identity.Principal) error {
			return try(w.Cases.Message(ctx, by, id, store.UUID{}, engine.OwnInput)).err
		},
		"tasks": func(by identity.Principal) error { return try(w.Cases.Tasks(ctx, by, id)).err },
		"task":  func(by identity.Principal) error { return try(w.Cases.Task(ctx, by, id, "end")).err },
		"user":  func(by identity.Principal) error { return try(w.Accounts.Party(ctx, by, identity.User, "sam")).err },
		"users": func(by identity.Principal) error { return try(w.Accounts.Parties(ctx, by, identity.User)).err },
	}
}

// What a team has is its members', and an administrator's; for others it is
// not there, in the same words as what is nowhere.
func TestStrangersSeeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	entry := sam.mustPutEntry("", `{"type": "interval", "minutes": 2, "route": "own", "context": "core"}`).Name + ".json"
	id := sam.startCase(`{"route": "own", "context": "core"}`)
	lookups := w.lookups(t.Context(), entry, "own", id)
	nowhere := w.lookups(t.Context(), strings.Repeat("ab", 16)+".json", "nowhere", 99999)
	for what, look := range lookups {
		admins := what == "user" || what == "users"
		for _, who := range []string{"sam", "ann", "admin", "bob", "eve"} {
			err := look(w.as(who).by())
			sees := who == "admin" || !admins && (who == "sam" || who == "ann")
			if sees != (err == nil) {
				t.Errorf("%s looks at the %s: %v", who, what, err)
			}
			if sees {
				continue
			}
			if got := errs.KindOf(err); got != errs.NotFound {
				t.Errorf("%s looks at the %s: %v", who, what, err)
			}
			if other := nowhere[what](w.as(who).by()); fmt.Sprint(other) != fmt.Sprint(err) {
				t.Errorf("the %s is told from what is nowhere: %q, %q", what, err, other)
			}
		}
	}
	for _, who := range []string{"bob", "eve"} {
		u := w.as(who)
		same(t, "entries", names(w.Schedules.Entries(t.Context(), u.by(), engine.Filter{})), "")
		same(t, "cases", names(w.Cases.Cases(t.Context(), u.by(), engine.Filter{})), "")
		same(t, "routes", names(w.Routes.Routes(t.Context(), u.by(), engine.Filter{})), "auto ask")
		for what, err := range map[string]error{
			"PUT of the entry":  try(u.putEntry(entry, every)).err,
			"DELETE of it":      u.deleteEntry(entry),
			"PUT of the case":   try(u.putCase(fmt.Sprint(id)+".json", `{}`)).err,
			"DELETE of that":    u.deleteCase(fmt.Sprint(id) + ".json"),
			"performing":        try(u.perform(id, "end", `{}`)).err,
			"a label":           try(u.putLabel(id, "Note", "x")).err,
			"DELETE of a route": u.deleteRoute("own"),
			"a user":            try(u.putParty(identity.User, "new", `{}`)).err,
			"DELETE of a user":  u.Accounts.DeleteParty(t.Context(), u.request(nil), identity.User, "sam", ""),
		} {
			if got := errs.KindOf(err); got != errs.NotFound {
				t.Errorf("%s: %s: %v", who, what, err)
			}
		}
	}
}

// Who leaves a team has lost what was the team's at once, and who joins one
// has it at once.
func TestLeavingATeam(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, admin := w.as("ann"), w.as("admin")
	entry := ann.mustPutEntry("team.json", `{"type": "interval", "minutes": 2, "route": "own", "context": "core"}`).Name + ".json"
	id := ann.startCase(`{"route": "own", "context": "core"}`)
	sees := func(who string) (n int) {
		for what, look := range w.lookups(t.Context(), entry, "own", id) {
			if look(w.as(who).by()) == nil && what != "user" && what != "users" {
				n++
			}
		}
		return n
	}
	const all = 14
	same(t, "sam sees", sees("sam"), all)
	same(t, "eve sees", sees("eve"), 0)
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann", "eve"]}`)
	same(t, "sam sees after leaving", sees("sam"), 0)
	same(t, "eve sees after joining", sees("eve"), all)
	// Through a team in the team as well.
	admin.mustPutParty(identity.Team, "core", `{"members": ["ann", "ops"]}`)
	same(t, "bob sees through ops", sees("bob"), all)
	admin.mustPutParty(identity.Team, "ops", `{"members": []}`)
	same(t, "bob sees after ops", sees("bob"), 0)
	// The starter keeps what they started.
	admin.mustPutParty(identity.Team, "core", `{"members": [], "admins": []}`)
	if _, err := w.Cases.Case(t.Context(), ann.by(), engine.Ref{CaseID: id}); err != nil {
		t.Error(err)
	}
	w.refused(try(w.Schedules.Entry(t.Context(), ann.by(), ann.ref("team.json"))).err, errs.NotFound)
	// The entry goes on, for its context is what counts.
	w.advanceTo("2012-11-09T12:36:56Z")
	same(t, "occurrences", admin.occurrences(entry), []string{"fired 2012-11-09T12:36:56Z"})
}

// By what somebody sees a case: each of these alone is enough.
func TestTiesToACase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tie, start string
		route      string
		who        string
	}{
		{"starter", `{"route": "run"}`, routeAsk, "sam"},
		{"context", `{"route": "run", "context": "staff"}`, strings.Replace(routeAsk, "team:core", "user:sam", 1), "ann"},
		{"role, by name", `{"route": "run", "roles": {"helper": ["bob"]}}`, routeAsk, "bob"},
		{"role, by team", `{"route": "run"}`, routeAsk, "ann"},
		{"stakeholder", `{"route": "run", "stakeholders": ["eve"]}`, routeAsk, "eve"},
		{"stakeholder, by team", `{"route": "run", "stakeholders": ["ops"]}`, routeAsk, "bob"},
		{"route's admin", `{"route": "run"}`, strings.Replace(routeAsk, "access: {", "access: {admin: [ops], ", 1), "bob"},
		{"administrator", `{"route": "run"}`, routeAsk, "admin"},
	} {
		t.Run(test.tie, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as("admin").mustPutRoute("run", test.route)
			id := w.as("sam").startCase(test.start)
			by := w.as(test.who).by()
			if _, err := w.Cases.Case(t.Context(), by, engine.Ref{CaseID: id}); err != nil {
				t.Error(err)
			}
			same(t, "listed", names(w.Cases.Cases(t.Context(), by, engine.Filter{})), fmt.Sprint(id))
			if test.who != "eve" {
				_, err := w.Cases.Case(t.Context(), w.as("eve").by(), engine.Ref{CaseID: id})
				w.in(t).refused(err, errs.NotFound)
			}
		})
	}
}

// What everyone's schedule starts is seen by all, and nobody's to cancel but
// the administrators'.
func TestCasesOfEveryone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutEntry("", `{"type": "interval", "minutes": 2, "repeat": 1, "route": "ask", "context": "everyone"}`)
	w.advanceTo("2012-11-09T12:36:56Z")
	id := w.cases()[0].get("id")
	eve := w.as("eve")
	eve.caseForm(eve.ref(id).CaseID).wants("starter", `"everyone"`, "roles/asker", `["everyone"]`)
	w.refused(eve.deleteCase(id+".json"), errs.NotAllowed)
	_, err := eve.putCase(id+".json", `{"title": "x"}`)
	w.refused(err, errs.NotAllowed)
	if err := w.as("admin").deleteCase(id + ".json"); err != nil {
		t.Error(err)
	}
}
