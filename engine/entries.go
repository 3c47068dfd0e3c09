package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/schedule"
	"flowdrive/store"
)

// Entry returns the schedule entry that the reference names. Errors:
// errs.NotFound if by may not see it.
func (e *Schedules) Entry(ctx context.Context, by identity.Principal, ref Ref) (*Resource, error) {
	var out *Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		stored, given, err := e.findEntry(r, by, ref)
		if err != nil {
			return err
		}
		if stored == nil {
			return change.Absent("schedule entry")
		}
		out, err = e.entryResource(r, by, stored, given)
		return err
	})
	return out, err
}

// findEntry returns the entry that a reference names, with its given name, or
// nil if by may not see it.
func (e *Schedules) findEntry(r store.Reader, by identity.Principal, ref Ref) (*store.Entry, *store.GivenName, error) {
	uuid := ref.Entry
	var given *store.GivenName
	var err error
	if !ref.Identity() {
		if ref.Name == "" {
			return nil, nil, nil
		}
		if given, err = store.OrNil(r.Names().Get(store.FolderSchedule, ref.Author, ref.Name)); err != nil || given == nil {
			return nil, nil, err
		}
		uuid = given.Entry
	}
	stored, err := store.OrNil(r.Entries().Get(uuid))
	if err != nil || stored == nil || !access.SeesEntry(by, stored.ContextID) {
		return nil, nil, err
	}
	if given == nil {
		given, err = store.OrNil(r.Names().Of(store.FolderSchedule, uuid, 0))
	}
	return stored, given, err
}

func (e *Schedules) entryResource(r store.Reader, by identity.Principal, s *store.Entry, given *store.GivenName) (*Resource, error) {
	form, etag, err := e.shownEntry(r, s)
	if err != nil {
		return nil, err
	}
	res := &Resource{
		Name: s.UUID.String(), Seq: s.Seq, Form: form, FormETag: etag, Definition: entryDefinition(s),
		Created: s.Created, Modified: s.Modified, Own: by.In(s.ContextID), Lock: store.EntryKey(s.UUID),
	}
	e.addGiven(res, given)
	return res, nil
}

// entryDefinition begins every ETag of the entry's present definition; what
// follows counts firings.
func entryDefinition(s *store.Entry) string { return fmt.Sprintf(`"%x-%d.`, s.UUID[:4], s.Definition) }

func entryETag(s *store.Entry) string { return fmt.Sprintf(`%s%d"`, entryDefinition(s), s.Revision) }

// Entries returns the schedule entries that by sees, in order of creation.
func (e *Schedules) Entries(ctx context.Context, by identity.Principal, f Filter) ([]Resource, error) {
	filter := store.EntryFilter{Type: f.Type, After: f.After, Limit: f.Limit}
	if !by.Admin() || f.OwnOnly {
		filter.Contexts = by.Contexts()
	}
	if f.Route != "" {
		info := e.rights.Visible(by, f.Route)
		if info == nil {
			return nil, nil
		}
		filter.RouteID = info.ID
	}
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = pages[store.Entry]{
			limit: f.Limit, size: filter.Limit, each: f.Each,
			list: func(after int64, limit int) ([]store.Entry, error) {
				filter.After, filter.Limit = after, limit
				return r.Entries().List(filter)
			},
			place: func(s *store.Entry) int64 { return s.Seq },
			add: func(rows []store.Entry, out []Resource) ([]Resource, error) {
				return e.addEntries(r, by, f, rows, out)
			},
		}.all(filter.After)
		return err
	})
	return out, err
}

// addEntries appends the entries that match the filters which the store does
// not know.
func (e *Schedules) addEntries(r store.Reader, by identity.Principal, f Filter, stored []store.Entry, out []Resource) ([]Resource, error) {
	uuids := make([]store.UUID, len(stored))
	for i := range stored {
		uuids[i] = stored[i].UUID
	}
	given, err := r.Names().List(store.FolderSchedule, uuids, nil)
	if err != nil {
		return nil, err
	}
	byEntry := make(map[store.UUID]*store.GivenName, len(given))
	for i := range given {
		byEntry[given[i].Entry] = &given[i]
	}
	for i := range stored {
		if !e.entryPasses(by, f, &stored[i]) {
			continue
		}
		res, err := e.entryResource(r, by, &stored[i], byEntry[stored[i].UUID])
		if err != nil {
			return nil, err
		}
		out = append(out, *res)
	}
	return out, nil
}

// entryPasses applies the filters that the store does not know.
func (e *Schedules) entryPasses(by identity.Principal, f Filter, s *store.Entry) bool {
	if !e.rights.InContext(by, f.Context, s.ContextID) || f.Paused != "" && (f.Paused == "true") == s.Paused.IsZero() {
		return false
	}
	if f.Query == "" {
		return true
	}
	entry, err := schedule.ReadForm(s.Form, e.zones)
	return err == nil && strings.Contains(identity.Fold(entry.Title+"\n"+entry.Note), identity.Fold(f.Query))
}

// PutEntry creates a schedule entry or replaces the one that the reference
// names (docs/contract/schedule.md#replacing-an-entry). Errors: errs.Invalid
// with every fault of the document; errs.NotAllowed; errs.ContextNotAvailable;
// errs.TooMany for too many entries, or for commands that come too often.
func (e *Schedules) PutEntry(ctx context.Context, req Request, ref Ref, body []byte) (*Outcome, error) {
	return change.Do(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		next, err := e.readEntry(r, req, ref, body)
		if err != nil {
			return nil, err
		}
		if next.command != nil {
			return next.command, nil
		}
		return func(tx store.Tx) (*Outcome, error) { return e.writeEntry(tx, req, next) }, nil
	})
}

// entryChange is a schedule entry after a change.
type entryChange struct {
	stored   store.Entry
	given    *store.GivenName // to be stored, nil for no name
	was      string           // ETag of what has the name now, "" for a new name
	byName   bool             // the request's URL is the given name's
	restored bool             // a new one that was deleted a moment ago
	base     int64            // revision it was decided on, 0 for a new entry
	body     []byte
	warnings []string

	command func(store.Tx) (*Outcome, error) // what is to be done instead of all that
}

func (e *Schedules) readEntry(r store.Reader, req Request, ref Ref, body []byte) (*entryChange, error) {
	stored, given, err := e.findEntry(r, req.By, ref)
	if err != nil {
		return nil, err
	}
	if stored == nil && (ref.Identity() || ref.Author != req.By.ID && ref.Name != "") {
		return nil, change.Absent("schedule entry")
	}
	if stored != nil && !e.rights.MayChangeEntry(req.By, stored.ContextID, stored.AuthorID) {
		return nil, errs.New(errs.NotAllowed, "Only its author and administrators may change an entry of everyone.")
	}
	if err := e.CheckRequest(r.Locks(), req, entryVersion(stored, given, ref), sceneOfEntry(stored)); err != nil {
		return nil, err
	}
	node, err := parseNamed(ref, body)
	if err != nil {
		return nil, err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if stored != nil && node.Get("do") != nil {
		return e.readCommand(r, req, root, stored, given)
	}
	before := stored // whose identity and counters it has
	if stored == nil {
		if before, err = e.restorable(r, req, ref); err != nil {
			return nil, err
		}
	}
	var old *schedule.Entry
	if before != nil {
		if old, err = e.readForm(before); err != nil {
			return nil, err
		}
		if !before.Paused.IsZero() {
			old.Resume(before.Paused) // so that what it missed comes first, if the document resumes it
		}
	}
	entry := schedule.Read(root, req.Now, old, e.zones)
	var keeps identity.ID
	if stored != nil {
		keeps = stored.ContextID
	}
	contextErr, err := e.resolveEntry(r, req, root, entry, keeps)
	if err != nil {
		return nil, err
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if contextErr != nil {
		return nil, contextErr
	}
	c := &entryChange{}
	if stored != nil {
		c.stored, c.base = *stored, stored.Revision
	} else if c, err = e.newEntry(r, req, ref, entry, before); err != nil {
		return nil, err
	}
	return c.decided(req, ref, entry, given, body), nil
}

func entryVersion(s *store.Entry, given *store.GivenName, ref Ref) Version {
	if s == nil {
		return Version{}
	}
	v := Version{Exists: true, ETag: entryETag(s), Definition: entryDefinition(s), Modified: s.Modified}
	if !ref.Identity() && given != nil {
		v.ETag = given.ETag
	}
	return v
}

func sceneOfEntry(s *store.Entry) change.LockScope {
	if s == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.EntryKey(s.UUID))
}

// resolveEntry fills in the context and the route that the document names, and
// checks what it refers to. If nothing else is wrong, contextErr says that the
// context is not available. keeps is the context that the entry has already.
func (e *Schedules) resolveEntry(r store.Reader, req Request, root document.Value, entry *schedule.Entry, keeps identity.ID) (contextErr, err error) {
	by := req.By
	context, contextErr := e.contextRef(by, root, wantedContext{id: entry.ContextID, name: entry.Context, keeps: keeps, hands: keeps != 0})
	if contextErr == nil {
		entry.ContextID, entry.Context = int64(context.ID), string(context.Name)
	}
	usable := func(info *access.Route) bool {
		as := e.directory().Principal(context.ID)
		return contextErr != nil || e.rights.SeesRoute(as, info) && e.rights.MayStart(as, info)
	}
	if info := e.routeRef(by, root, entry.Route, entry.RouteID, usable); info != nil {
		entry.RouteID, entry.Route = info.ID, info.Name
		used, err := e.use(r, info)
		if err != nil {
			return nil, err
		}
		belowXattrDict(root.Faults, used.Compiled)
		warnByRoute(entry, used)
	}
	as := by // if the context is not one of the caller's
	if contextErr == nil {
		as = e.directory().Principal(context.ID)
		as.Scope = by.Scope // the entry goes on when the app password has ended
	}
	if entry.AttachmentUUID != "" {
		if _, err := e.attachments.attachmentRef(r, as, root.Get("attachmentUUID"), entryAttachment(entry), req.Now); err != nil {
			return nil, err
		}
	}
	if entry.Document != "" {
		if entry.Document, err = e.files.ReadRef(r, as, root.Get("document"), entry.Document); err != nil {
			return nil, err
		}
	}
	if entry.ExcludeCalendar != "" {
		err = e.calendars.Resolve(r, as, root.Get("excludeCalendar"), entry, req.Now)
	}
	e.checkHeartbeat(req.By, root, entry)
	return contextErr, err
}

// newEntry begins the change that creates an entry. before is the one that was
// deleted under the name a moment ago and is restored, nil for none.
func (e *Schedules) newEntry(r store.Reader, req Request, ref Ref, entry *schedule.Entry, before *store.Entry) (*entryChange, error) {
	if err := hiddenName(r, store.FolderSchedule, ref); err != nil {
		return nil, err
	}
	if err := e.usage.Check(quota.Entries, req.By.ID, e.limits.Entries, r.Entries().Count); err != nil {
		return nil, err
	}
	if before != nil {
		return &entryChange{stored: *before, restored: true}, nil
	}
	c := &entryChange{stored: store.Entry{UUID: store.NewUUID(), AuthorID: req.By.ID, Created: req.Now}}
	entry.UUID, entry.Created = c.stored.UUID.String(), req.Now
	return c, nil
}

// decided puts the read entry into the records to be stored.
func (c *entryChange) decided(req Request, ref Ref, entry *schedule.Entry, given *store.GivenName, body []byte) *entryChange {
	c.warnings = entry.Warnings()
	c.body, c.byName = body, !ref.Identity()
	entry.Modified = req.Now
	c.stored.ContextID = identity.ID(entry.ContextID)
	c.stored.RouteID = entry.RouteID
	c.stored.Type = string(entry.Type)
	c.stored.Attachment = entryAttachment(entry)
	c.stored.Definition++
	c.stored.Revision++
	c.stored.Modified = req.Now
	c.stored.Paused = time.Time{}
	if entry.Paused {
		c.stored.Paused = entry.PausedSince(req.Now)
	}
	c.stored.Due, _ = entry.Due()
	c.stored.Form = entry.Form()
	switch {
	case given != nil:
		c.given, c.was = given, given.ETag
	case ref.Name != "":
		c.given = &store.GivenName{Folder: store.FolderSchedule, Author: req.By.ID, Name: ref.Name, Entry: c.stored.UUID}
	}
	if c.given != nil {
		setSource(c.given, body, req.Now)
	}
	return c
}

func (e *Schedules) writeEntry(tx store.Tx, req Request, c *entryChange) (*Outcome, error) {
	created := c.base == 0
	if _, err := tx.Routes().CurrentVersion(c.stored.RouteID); err != nil {
		return nil, staleIfGone(err)
	}
	var attached store.UUID // before
	if c.restored {
		if again, err := store.OrNil(tx.Entries().Get(c.stored.UUID)); err != nil || again != nil {
			return nil, cmp.Or(err, error(change.ErrStale))
		}
		if err := tx.Write().History().DeleteTombstone(req.By.ID, store.FolderSchedule, c.given.Name); err != nil {
			return nil, err
		}
		if err := tx.Write().Entries().DeleteEnded(c.stored.UUID); err != nil {
			return nil, err
		}
	}
	if created {
		if err := tx.Write().Entries().Insert(&c.stored); err != nil {
			return nil, err
		}
	} else {
		now, err := tx.Entries().Get(c.stored.UUID)
		if err != nil {
			return nil, staleIfGone(err)
		}
		if now.Revision != c.base {
			return nil, change.ErrStale
		}
		if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.EntryKey(c.stored.UUID))); err != nil {
			return nil, err
		}
		if err := tx.Write().Entries().Update(&c.stored); err != nil {
			return nil, err
		}
		attached = now.Attachment
		if err := (&daysOffTroubles{e.decider, tx}).lookIfKnown(c.stored.UUID, req.Now); err != nil {
			return nil, err
		}
		if err := (&deeds{e.decider, tx}).tellPause(req, now, &c.stored); err != nil {
			return nil, err
		}
	}
	if len(c.stored.Form) >= quota.Page {
		if err := e.checkQuota(tx, c.stored.AuthorID, 0); err != nil {
			return nil, err
		}
	}
	if err := e.attachments.moveUse(tx, c.stored.ContextID, attached, c.stored.Attachment, req.Now); err != nil {
		return nil, err
	}
	if c.given != nil {
		if err := e.claimName(tx, c.given, c.was); err != nil {
			return nil, err
		}
	}
	due, became := c.stored.Due, ChangeChanged
	if created {
		became = ChangeCreated
	}
	e.publishEntry(tx, &c.stored, became, req.Now)
	tx.AfterCommit(func() {
		e.sweeper.note(due)
		if created {
			e.usage.Add(quota.Entries, c.stored.AuthorID, 1)
		}
	})
	out := &Outcome{
		Created: created, Changed: true, Name: c.stored.UUID.String(), Form: c.stored.Form,
		FormETag: entryETag(&c.stored), Modified: c.stored.Modified, Warnings: c.warnings,
	}
	switch {
	case c.given != nil && c.byName:
		out.ETag = c.given.ETag
	case bytes.Equal(c.body, c.stored.Form):
		out.ETag = out.FormETag
	}
	return out, e.Finish(tx, req, out)
}

// staleIfGone says that something a decision rests on has gone.
func staleIfGone(err error) error {
	if errs.Is(err, errs.NotFound) {
		return change.ErrStale
	}
	return err
}

// DeleteEntry deletes a schedule entry. The cases it made stay. Errors:
// errs.NotFound, errs.NotAllowed.
func (e *Schedules) DeleteEntry(ctx context.Context, req Request, ref Ref) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		stored, given, err := e.findEntry(tx, req.By, ref)
		if err != nil {
			return err
		}
		if stored == nil {
			return change.Absent("schedule entry")
		}
		if !e.rights.MayChangeEntry(req.By, stored.ContextID, stored.AuthorID) {
			return errs.New(errs.NotAllowed, "Only its author and administrators may delete an entry of everyone.")
		}
		if err := e.CheckRequest(tx.Locks(), req, entryVersion(stored, given, ref), sceneOfEntry(stored)); err != nil {
			return err
		}
		if err := tx.Write().Locks().DeleteOn(store.EntryKey(stored.UUID)); err != nil {
			return err
		}
		if err := e.keepEntry(tx, req, stored, given); err != nil {
			return err
		}
		return e.dropEntry(tx, stored, given, entryEnd{req.Now, string(req.By.Name)})
	})
}

// dropEntry removes an entry with its given name, and keeps what people want to
// know of it.
func (e *Schedules) dropEntry(tx store.Tx, stored *store.Entry, given *store.GivenName, end entryEnd) error {
	now := end.at
	if err := keepEnded(tx, stored, given, end); err != nil {
		return err
	}
	if err := e.decider.forgetEntry(tx, stored, end); err != nil { // as long as it has its name, by which people are told
		return err
	}
	if given != nil {
		if err := keepPastName(tx, given, now); err != nil {
			return err
		}
		if err := tx.Write().Names().Delete(store.FolderSchedule, given.Author, given.Name); err != nil {
			return err
		}
	}
	if err := tx.Write().Entries().Delete(stored.UUID); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.usage.Add(quota.Entries, stored.AuthorID, -1) })
	e.publishEntry(tx, stored, ChangeDeleted, now)
	return e.attachments.moveUse(tx, stored.ContextID, stored.Attachment, store.UUID{}, now)
}

// xattrs returns an entry's dictionary as cases have it.
func xattrs(list []schedule.XAttr) label.Dict {
	out := make(label.Dict, 0, len(list))
	for _, x := range list {
		v := label.Value{Kind: document.String}
		switch value := x.Value.(type) {
		case string:
			v.Text = value
		case json.Number:
			v = label.Value{Kind: document.Number, Text: value.String()}
		case bool:
			v = label.Value{Kind: document.Bool, Text: fmt.Sprint(value)}
		}
		out = append(out, label.XAttr{Key: x.Name(), Value: v})
	}
	return out
}
