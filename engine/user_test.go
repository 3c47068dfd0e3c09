package engine_test

import (
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// user is somebody who acts.
type user struct {
	*world
	name string
}

func (w *world) as(name string) user { return user{w, name} }

// by returns the principal, with the contexts of this moment.
func (u user) by() identity.Principal {
	id := u.Accounts.PartyID(u.name)
	if id == 0 {
		u.Fatalf("there is no %s", u.name)
	}
	return u.Accounts.Principal(id)
}

func (u user) id() identity.ID { return u.by().ID }

// option changes a request.
type option func(*engine.Request)

// onlyIf makes a request conditional on what is stored.
func onlyIf(what string, holds func(engine.Version) bool) option {
	return func(req *engine.Request) {
		req.If = func(v engine.Version) error {
			if holds(v) {
				return nil
			}
			return errs.New(errs.Precondition, "It is not so: %s.", what)
		}
	}
}

// ifMatch is an If-Match, as the drive judges it.
func ifMatch(etag string) option {
	return onlyIf("If-Match: "+etag, func(v engine.Version) bool {
		return v.Exists && (v.ETag == etag || v.Definition != "" && strings.HasPrefix(etag, v.Definition))
	})
}

// ifNew is If-None-Match: *.
func ifNew() option {
	return onlyIf("If-None-Match: *", func(v engine.Version) bool { return !v.Exists })
}

// withKey gives a request an idempotency key; its answer is the identity.
func withKey(key, url, body string) option {
	return func(req *engine.Request) {
		req.Key = keyOf(key, url, body)
		req.Answer = func(o *engine.Outcome) []byte { return []byte(o.Name) }
	}
}

func keyOf(key, url, body string) *engine.IdempotencyKey {
	k := &engine.IdempotencyKey{Key: key}
	copy(k.URL[:], url)
	copy(k.Request[:], body)
	return k
}

func (u user) request(options []option) engine.Request {
	req := engine.Request{By: u.by(), Now: u.clock.Now()}
	for _, o := range options {
		o(&req)
	}
	return req
}

// ref reads a file name as the drive does.
func (u user) ref(name string) engine.Ref {
	stem, ext, _ := strings.Cut(name, ".")
	if uuid, ok := store.ParseUUID(stem); ok {
		return engine.Ref{Entry: uuid}
	}
	if id, err := strconv.ParseInt(stem, 10, 64); err == nil {
		return engine.Ref{CaseID: id}
	}
	if name == "" {
		return engine.Ref{}
	}
	if own, author, found := strings.Cut(stem, "@"); found {
		return engine.Ref{Author: u.Accounts.PartyID(author), Name: own + "." + ext}
	}
	return engine.Ref{Author: u.id(), Name: name}
}

func (u user) putEntry(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Schedules.PutEntry(u.Context(), u.request(options), u.ref(name), []byte(doc))
}

func (u user) mustPutEntry(name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putEntry(name, doc, options...)).must(u.world, "PUT of the entry "+name)
}

func (u user) deleteEntry(name string, options ...option) error {
	return u.Schedules.DeleteEntry(u.Context(), u.request(options), u.ref(name))
}

// entry returns the complete form of an entry.
func (u user) entry(name string) form {
	u.Helper()
	return u.form(u.entryResource(name).Form)
}

func (u user) entryResource(name string) *engine.Resource {
	u.Helper()
	return try(u.Schedules.Entry(u.Context(), u.by(), u.ref(name))).must(u.world, "GET of the entry "+name)
}

// occurrences returns the outcome and instant of each occurrence, newest
// first.
func (u user) occurrences(uuid string) []string {
	u.Helper()
	res := try(u.Schedules.Occurrences(u.Context(), u.by(), u.ref(uuid).Entry)).must(u.world, "GET of the occurrences")
	list := u.form(res.Form)
	out := []string{}
	for i := range list.node.Items {
		at := strconv.Itoa(i)
		out = append(out, unquote(list.get(at+"/outcome"))+" "+unquote(list.get(at+"/instant")))
	}
	return out
}

func unquote(s string) string { return strings.Trim(s, `"`) }

func (u user) putCase(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Cases.PutCase(u.Context(), u.request(options), u.ref(name), []byte(doc))
}

func (u user) mustPutCase(name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putCase(name, doc, options...)).must(u.world, "PUT of the case "+name)
}

// startCase starts a case and returns its id.
func (u user) startCase(doc string) int64 {
	u.Helper()
	return u.mustPutCase("", doc).CaseID
}

func (u user) deleteCase(name string, options ...option) error {
	return u.Archive.DeleteCase(u.Context(), u.request(options), u.ref(name))
}

func (u user) caseResource(name string) *engine.Resource {
	u.Helper()
	return try(u.Cases.Case(u.Context(), u.by(), u.ref(name))).must(u.world, "GET of the case "+name)
}

// caseForm returns the complete form of a case.
func (u user) caseForm(id int64) form {
	u.Helper()
	return u.form(u.caseResource(strconv.FormatInt(id, 10)).Form)
}

func (u user) perform(id int64, action, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Cases.Perform(u.Context(), u.request(options), id, action, []byte(doc))
}

func (u user) mustPerform(id int64, action string) *engine.Outcome {
	u.Helper()
	return try(u.perform(id, action, `{}`)).must(u.world, "performing "+action)
}

func (u user) putLabel(id int64, label, content string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Cases.PutLabel(u.Context(), u.request(options), id, engine.NewMessage{Label: label, MediaType: "text/plain", Body: strings.NewReader(content)})
}

func (u user) putRoute(name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Routes.PutRoute(u.Context(), u.request(options), name, true, []byte(doc))
}

func (u user) mustPutRoute(name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putRoute(name, doc, options...)).must(u.world, "PUT of the route "+name)
}

func (u user) deleteRoute(name string, options ...option) error {
	return u.Routes.DeleteRoute(u.Context(), u.request(options), name, false)
}

// routeID returns the id of a route.
func (u user) routeID(name string) string {
	u.Helper()
	res := try(u.Routes.Route(u.Context(), u.by(), name)).must(u.world, "GET of the route "+name)
	return u.form(res.Form).get("id")
}

func (u user) putParty(kind identity.Kind, name, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Accounts.PutParty(u.Context(), u.request(options), kind, name, []byte(doc))
}

func (u user) mustPutParty(kind identity.Kind, name, doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putParty(kind, name, doc, options...)).must(u.world, "PUT of the "+string(kind)+" "+name)
}

// logTexts returns what the log of a case says, "kind: text" each.
func (u user) logTexts(id int64) []string {
	u.Helper()
	res := try(u.Cases.CaseLog(u.Context(), u.by(), id, nil)).must(u.world, "GET of the log")
	log := u.form(res.Form)
	var out []string
	for i := range log.node.Items {
		at := strconv.Itoa(i)
		out = append(out, unquote(log.get(at+"/kind"))+": "+unquote(log.get(at+"/text")))
	}
	return out
}
