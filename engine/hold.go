package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// mostReason bounds the reason of a hold, in bytes.
const mostReason = 1000

// coveredByHold reports whether a hold keeps a case of that route and group queued.
func coveredByHold(holds []store.Hold, route, group string) bool {
	return slices.ContainsFunc(holds, func(h store.Hold) bool { return holdCovers(&h, route, group) })
}

// holdCovers reports whether the hold keeps a case of that route and group queued.
func holdCovers(h *store.Hold, route, group string) bool {
	return h.Engine || h.Route != "" && identity.Fold(h.Route) == identity.Fold(route) || h.Group != "" && h.Group == group
}

// findHold returns the hold of that name, in any case, or nil.
func findHold(r store.Reader, name string) (*store.Hold, error) {
	holds, err := r.Queue().Holds()
	i := slices.IndexFunc(holds, func(h store.Hold) bool { return identity.Fold(h.Name) == identity.Fold(name) })
	if err != nil || i < 0 {
		return nil, err
	}
	return &holds[i], nil
}

// holdForm is the complete form of a hold: one of route, group and
// engine says what is held.
type holdForm struct {
	Name     string  `json:"name"`
	Route    *string `json:"route"`
	Group    *string `json:"group"`
	Engine   bool    `json:"engine"`
	Reason   string  `json:"reason"`
	Author   string  `json:"author"`
	Created  string  `json:"created"`
	Modified string  `json:"modified"`
}

func holdResource(h *store.Hold) *Resource {
	form := holdForm{
		Name: h.Name, Engine: h.Engine, Reason: h.Reason, Author: h.Author,
		Created: h.Created.UTC().Format(time.RFC3339), Modified: h.Modified.UTC().Format(time.RFC3339),
	}
	if h.Route != "" {
		form.Route = &h.Route
	}
	if h.Group != "" {
		form.Group = &h.Group
	}
	etag := fmt.Sprintf(`"h%d-%d"`, h.ID, h.Revision)
	return &Resource{
		Name: h.Name, Seq: h.ID, Form: document.Form(form), FormETag: etag, Definition: etag,
		Created: h.Created, Modified: h.Modified, Own: true, Lock: store.HoldKey(h.ID),
	}
}

func holdVersion(h *store.Hold) Version {
	if h == nil {
		return Version{}
	}
	r := holdResource(h)
	return Version{Exists: true, ETag: r.FormETag, Definition: r.Definition, Modified: r.Modified}
}

// holdScope says which locks concern a hold, nil for none.
func holdScope(h *store.Hold) change.LockScope {
	if h == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.HoldKey(h.ID))
}

// holdTarget returns a hold, or the place of one.
func (e *Locks) holdTarget(r store.Reader, by identity.Principal, name string) (*targeted, error) {
	if !by.Admin() {
		return nil, change.Absent("folder")
	}
	h, err := findHold(r, name)
	if err != nil {
		return nil, err
	}
	return &targeted{LockScope: holdScope(h), version: holdVersion(h)}, nil
}

// Holds returns all holds in order of creation, for administrators. Errors:
// errs.NotFound for other users.
func (e *Holds) Holds(ctx context.Context, by identity.Principal) ([]Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("folder")
	}
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		holds, err := r.Queue().Holds()
		for i := range holds {
			out = append(out, *holdResource(&holds[i]))
		}
		return err
	})
	return out, err
}

// Hold returns the hold of that name, for administrators. Errors:
// errs.NotFound, also for other users.
func (e *Holds) Hold(ctx context.Context, by identity.Principal, name string) (*Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("hold")
	}
	var found *store.Hold
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		found, err = findHold(r, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, change.Absent("hold")
	}
	return holdResource(found), nil
}

// PutHold makes a hold, or replaces the one of that name. Once it is answered
// no matching case starts. Errors: errs.NotFound for users who are not
// administrators; errs.Invalid with every fault of the document.
func (e *Holds) PutHold(ctx context.Context, req Request, name string, body []byte) (*Outcome, error) {
	if !req.By.Admin() {
		return nil, change.Absent("folder")
	}
	node, err := document.Parse(body, false)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.Update(ctx, func(tx store.Tx) error {
		if !req.By.Admin() {
			return change.Absent("folder")
		}
		old, err := findHold(tx, name)
		if err != nil {
			return err
		}
		if err := e.CheckRequest(tx.Locks(), req, holdVersion(old), holdScope(old)); err != nil {
			return err
		}
		h, err := e.readHold(req, old, name, node)
		if err != nil {
			return err
		}
		out, err = e.writeHold(ctx, tx, req, old, h)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.runDueNow(ctx)
	return out, nil
}

// readHold reads the document of a hold. old is the hold that it replaces, or
// nil.
func (e *Holds) readHold(req Request, old *store.Hold, name string, node *document.Node) (*store.Hold, error) {
	h := &store.Hold{Name: name, Author: string(req.By.Name), Created: req.Now}
	if old != nil {
		h.ID, h.Name, h.Author, h.Revision, h.Created = old.ID, old.Name, old.Author, old.Revision, old.Created
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		root.Only("name", "route", "group", "engine", "reason", "author", "created", "modified")
		if old != nil {
			checkHoldIdentity(root, old)
		}
		e.readHeld(req, root, old, h)
		root.Get("reason").Text(&h.Reason, mostReason)
	}
	return h, faults.Err()
}

func checkHoldIdentity(root document.Value, old *store.Hold) {
	if v := root.Get("name"); v.Given() {
		if s, ok := v.Str(); ok && identity.Fold(s) != identity.Fold(old.Name) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", old.Name)
		}
	}
	if v, created := root.Get("created"), old.Created.UTC().Format(time.RFC3339); v.Given() {
		if s, ok := v.Str(); ok && s != created {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %s", created)
		}
	}
}

// readHeld reads what a hold is about: one of three. A route that is held
// already may have gone: the hold is saved again all the same.
func (e *Holds) readHeld(req Request, root document.Value, old, h *store.Hold) {
	route, group, all := root.Get("route"), root.Get("group"), root.Get("engine")
	if h.Route = readName(route); h.Route != "" {
		if info := e.rights.Visible(req.By, h.Route); info != nil {
			h.Route = info.Name
		} else if old != nil && identity.Fold(old.Route) == identity.Fold(h.Route) {
			h.Route = old.Route
		} else {
			route.Fail(errs.CodeNotFound, "there is no route %q", h.Route)
		}
	}
	if h.Group = readName(group); h.Group != "" && !identity.Legal(h.Group) {
		group.Fail(errs.CodeFormat, "%q is not a valid name for a group: use letters, digits, _ and -, at most 63, the first a letter or digit", h.Group)
	}
	all.Flag(&h.Engine)
	said := ""
	for _, about := range []struct {
		key  string
		said bool
	}{{"route", route.Given()}, {"group", group.Given()}, {"engine", h.Engine}} {
		switch {
		case !about.said:
		case said == "":
			said = about.key
		default:
			root.Get(about.key).Fail(errs.CodeConflict, "cannot be given together with %s: a hold is about one thing; make another one", said)
		}
	}
	if said == "" && (all.Node == nil || all.Node.Kind == document.Null || all.Node.Kind == document.Bool) {
		route.Fail(errs.CodeRequired, "is required, or group or engine instead, which say what the hold is for: {\"engine\": true} holds everything")
	}
}

func (e *Holds) writeHold(ctx context.Context, tx store.Tx, req Request, old, h *store.Hold) (*Outcome, error) {
	changed := old == nil || old.Route != h.Route || old.Group != h.Group || old.Engine != h.Engine || old.Reason != h.Reason
	if h.Modified = req.Now; !changed {
		h.Modified = old.Modified
	}
	if changed {
		// Not one more than the last: a hold that is made after another was deleted
		// must not have its ETag.
		h.Revision = e.NewID(req)
		before, err := tx.Queue().Holds()
		if err != nil {
			return nil, err
		}
		if err := tx.Write().Queue().PutHold(h); err != nil {
			return nil, err
		}
		after := append(slices.DeleteFunc(slices.Clone(before), func(other store.Hold) bool { return other.Name == h.Name }), *h)
		if err := (&deeds{&decider{e.base}, tx}).tellHolds(req, h, before, after); err != nil {
			return nil, err
		}
		action := audit.HoldChange
		if old == nil {
			action = audit.HoldAdd
		}
		if err := e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, action, h.Name, aboutHold(h))); err != nil {
			return nil, err
		}
		tx.AfterCommit(e.sweeper.noteQueued) // it may have been about something else
	}
	r := holdResource(h)
	out := &Outcome{Created: old == nil, Changed: changed, Name: h.Name, Form: r.Form, FormETag: r.FormETag, Modified: h.Modified}
	return out, e.Finish(tx, req, out)
}

// aboutHold says in words what the hold is about.
func aboutHold(h *store.Hold) string {
	text := "engine"
	if h.Route != "" {
		text = "route " + h.Route
	} else if h.Group != "" {
		text = "group " + h.Group
	}
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	return text
}

// DeleteHold ends a hold: what waited for that starts. Errors: errs.NotFound,
// also for users who are not administrators.
func (e *Holds) DeleteHold(ctx context.Context, req Request, name string) error {
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		if !req.By.Admin() {
			return change.Absent("folder")
		}
		h, err := findHold(tx, name)
		if err != nil {
			return err
		}
		if h == nil {
			return change.Absent("hold")
		}
		if err := e.CheckRequest(tx.Locks(), req, holdVersion(h), holdScope(h)); err != nil {
			return err
		}
		if err := tx.Write().Locks().DeleteOn(store.HoldKey(h.ID)); err != nil {
			return err
		}
		before, err := tx.Queue().Holds()
		if err != nil {
			return err
		}
		after := slices.DeleteFunc(slices.Clone(before), func(other store.Hold) bool { return other.ID == h.ID })
		if err := (&deeds{&decider{e.base}, tx}).tellHolds(req, h, before, after); err != nil {
			return err
		}
		if err := tx.Write().Queue().DeleteHold(h.ID); err != nil { // with what is known of it
			return err
		}
		tx.AfterCommit(e.sweeper.noteQueued)
		return e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.HoldDelete, h.Name, aboutHold(h)))
	})
	if err != nil {
		return err
	}
	e.runDueNow(ctx)
	return nil
}
