package engine

import (
	"context"
	"path"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// Drop is a file dropped into the folder of a route: a case of the route with
// the file as its input message (docs/contract/drive.md#dropped-files,
// docs/contract/labels-attachments.md#xattrs-of-a-dropped-file).
type Drop struct {
	Route    string
	Name     string     // under which its author finds it while the case is open or has failed
	Xattrs   label.Dict // keys normalised; labels not substituted yet
	Title    string     // "": the file's name without its extension
	Priority *int       // nil: the route's
	StartAt  string     // an instant, or a date of the caller's zone; "": as soon as it can be
	Context  string     // name or id of the context of the case; "": the caller's own
}

// MayDrop returns errs.NotFound if by may not see the route, and
// errs.NotAllowed if by may not start its cases.
func (e *Drops) MayDrop(_ context.Context, by identity.Principal, route string) error {
	_, err := e.startable(by, route)
	return err
}

// startable returns the route of that name if by may start its cases.
func (e *Drops) startable(by identity.Principal, name string) (*access.Route, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	if !e.rights.MayStart(by, info) {
		return nil, errs.New(errs.NotAllowed, "You may see the route %q but not start its cases.", info.Name)
	}
	return info, nil
}

// Drop starts a case of a route with the upload as its input message. Another
// file under the same name starts another case, unless the first one is a draft or has
// failed: it gets what is dropped then. Errors: errs.NotFound if by may
// not see the route; errs.NotAllowed if by may not start its cases;
// errs.ContextNotAvailable; errs.TooMany for too many open cases;
// errs.TooLarge; errs.Full.
func (e *Drops) Drop(ctx context.Context, req Request, d Drop, up contents.Upload) (*Outcome, error) {
	if up.MediaType == "" {
		up.MediaType = mediatype.Of(d.Name)
	}
	var room int64
	err := e.Store.View(ctx, func(r store.Reader) (err error) { // before the body is read
		room, err = e.judgeDrop(r, req, d, up.Size)
		return err
	})
	if err != nil {
		return nil, err
	}
	in, done := e.arriving.Reader(e.quota, req.By.ID, up.Body, room)
	defer done()
	input, err := e.contents.Read(up.MediaType, in, req.DryRun)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.contents.StoringContent(ctx, input, func() (err error) {
		out, err = e.drop(ctx, req, d, input)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.runDueNow(ctx)
	return out, nil
}

// readDrop returns the case that a dropped file asks for, if the caller may
// start it.
func (e *Drops) readDrop(r store.Reader, req Request, d Drop, input *contents.Content) (*newCase, error) {
	info, err := e.startable(req.By, d.Route)
	if err != nil {
		return nil, err
	}
	starter := e.directory().ByID(req.By.ID)
	if starter == nil {
		return nil, errs.New(errs.NotAllowed, "Only users can start cases.")
	}
	if err := judgeAlias(r, req, info.ID, d.Name); err != nil {
		return nil, err
	}
	owner := starter
	if d.Context != "" {
		id, err := e.attachments.ownContext(req.By, d.Context)
		if err != nil {
			return nil, err
		}
		owner = e.directory().ByID(id)
	}
	if err := e.usage.Check(quota.OpenCases, req.By.ID, e.limits.OpenCases, r.Cases().CountOpen); err != nil {
		return nil, err
	}
	startAt, err := e.dropStart(req, d)
	if err != nil {
		return nil, err
	}
	used, err := e.use(r, info)
	if err != nil {
		return nil, err
	}
	b := &newCase{
		zone: e.zoneOf(req.By).String(),
		info: used, context: *owner, starter: *starter, title: d.Title, priority: used.Compiled.Priority,
		xattrs: d.Xattrs, input: input, at: req.Now, startAt: startAt, mayLack: true,
	}
	if d.Priority != nil {
		b.priority = *d.Priority
	}
	if b.title == "" {
		b.title = stemOf(d.Name)
	}
	if input != nil {
		input.Name = d.Name
	}
	return b, nil
}

// stemOf returns the name of a file without its extension.
func stemOf(name string) string {
	if stem := strings.TrimSuffix(name, path.Ext(name)); stem != "" {
		return stem
	}
	return name
}

// drop starts the case of a file whose content is stored.
func (e *Drops) drop(ctx context.Context, req Request, d Drop, input *contents.Content) (*Outcome, error) {
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		again, err := e.earlierOf(r, req, d)
		if err != nil {
			return nil, err
		}
		if again != nil {
			return e.dropAgain(r, req, again, input)
		}
		b, err := e.readDrop(r, req, d, input)
		if err != nil {
			return nil, err
		}
		b.from = r
		now, err := e.decider.startsNow(r, b.startable(), req.Now)
		if err != nil {
			return nil, err
		}
		c, err := createAsked(e.decider, req, *b, now)
		if err != nil {
			return nil, err
		}
		if input != nil {
			c.warnings = append(c.warnings, formAsInput(input.Inline, c.after)...)
		}
		return func(tx store.Tx) (*Outcome, error) {
			return e.writeDrop(tx, req, d, c)
		}, nil
	})
}

func (e *Drops) writeDrop(tx store.Tx, req Request, d Drop, c *caseChange) (*Outcome, error) {
	if _, err := tx.Routes().CurrentVersion(c.row.RouteID); err != nil {
		return nil, staleIfGone(err)
	}
	if err := judgeAlias(tx, req, c.row.RouteID, d.Name); err != nil {
		return nil, err
	}
	if err := e.decider.writeAsked(tx, c); err != nil {
		return nil, err
	}
	alias := &store.Alias{Author: req.By.ID, RouteID: c.row.RouteID, Name: d.Name, CaseID: c.row.ID}
	if err := tx.Write().Names().PutAlias(alias); err != nil {
		return nil, err
	}
	input := c.messages[0]
	out := &Outcome{
		Draft: draftTask(c), Created: true, Changed: true, Name: strconv.FormatInt(c.row.ID, 10), Form: c.formFor(req), FormETag: caseETag(c.after),
		Modified: c.after.Modified, CaseID: c.row.ID, Life: c.after.Shown(), Status: c.after.Status, LogSeq: c.after.LogSeq,
		Route: c.after.RouteName, Message: input.UUID, Warnings: c.warnings,
	}
	if keepsAlias(c.after) {
		out.ETag = MessageETag(input)
	}
	return out, e.Finish(tx, req, out)
}

// keepsAlias reports whether the author of a dropped file finds it under its name: while its
// case is open or has failed.
func keepsAlias(c *machine.Case) bool { return open(c.Life) || c.Shown() == machine.Failed }

// dropStart returns when the case of a dropped file is to be started.
func (e *Drops) dropStart(req Request, d Drop) (time.Time, error) {
	if d.StartAt == "" {
		return time.Time{}, nil
	}
	zone := e.zoneOf(req.By)
	at, ok := clock.ParseMoment(d.StartAt, zone)
	if !ok { // a plus that the client has not escaped says a blank
		at, ok = clock.ParseMoment(strings.Replace(d.StartAt, " ", "+", 1), zone)
	}
	if !ok {
		return time.Time{}, errs.New(errs.BadParameter, "The parameter .startAt must be %s.", clock.InstantForm)
	}
	return at, nil
}
