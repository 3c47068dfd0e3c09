package engine

import (
	"context"
	"encoding/hex"
	"io"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/schedule"
	"flowdrive/store"
)

// NewAttachment is what an upload says of itself.
type NewAttachment struct {
	Name      string
	MediaType string         // "": by the name
	CaseID    int64          // to bind it to, 0 for none
	Context   string         // name or id of the context to give it to, "" for the caller's own
	Lifetime  clock.Duration // zero: the default
	Size      int64          // as it was announced, -1: not at all
	Replaces  bool           // it takes the place of what the case has under the name (replaced)
}

// defaultLifetime is how long an attachment lives that is bound to no case.
const defaultLifetime = 30 * 24 * time.Hour

// OpenAttachment is an attachment with its content, to be read and closed.
type OpenAttachment struct {
	store.Attachment
	Body io.ReadSeekCloser
}

// attachmentForm is an attachment in .contents.
type attachmentForm struct {
	UUID    string  `json:"uuid"`
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Size    int64   `json:"size"`
	SHA256  string  `json:"sha256"`
	Created string  `json:"created"`
	Expires *string `json:"expires"`
	BoundTo *int64  `json:"boundTo"`
}

func attachmentResource(a *store.Attachment, by identity.Principal) *Resource {
	form := attachmentForm{
		UUID: a.UUID.String(), Name: a.Name, Type: a.MediaType, Size: a.Size,
		SHA256: hex.EncodeToString(a.SHA256[:]), Created: a.Created.UTC().Format(time.RFC3339),
	}
	if !a.Expires.IsZero() {
		text := a.Expires.UTC().Format(time.RFC3339)
		form.Expires = &text
	}
	if a.CaseID != 0 {
		form.BoundTo = &a.CaseID
	}
	data := document.Form(form)
	out := &Resource{
		Name: form.UUID, Seq: a.Seq, Form: data, FormETag: a.ETag(), SourceETag: a.ETag(), SourceSize: a.Size,
		Given: a.Name, MediaType: a.MediaType, Created: a.Created, Modified: a.Created, Own: a.CaseID == 0 && by.In(a.ContextID),
	}
	if a.CaseID != 0 { // elsewhere its address has no name that could be written again
		out.Lock = store.AttachmentKey(a.CaseID, a.UUID)
	}
	return out
}

// findAttachment returns the attachment if by may see it at now, or nil.
func (e *Attachments) findAttachment(r store.Reader, by identity.Principal, uuid store.UUID, now time.Time) (*store.Attachment, error) {
	a, err := store.OrNil(r.Attachments().Get(uuid))
	if err != nil || a == nil || !a.Expires.IsZero() && !a.Expires.After(now) {
		return nil, err
	}
	if sees, err := e.rights.SeesAttachment(r, by, a); err != nil || !sees {
		return nil, err
	}
	return a, nil
}

// Attachments returns the attachments that by sees, in order of creation.
func (e *Attachments) Attachments(ctx context.Context, by identity.Principal, f Filter) (out []Resource, err error) {
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		if _, err = e.needCase(r, by, f.CaseID); err == nil {
			out, err = e.attachments(r, by, f)
		}
		return err
	})
	return out, err
}

func (e *Attachments) attachments(r store.Reader, by identity.Principal, f Filter) ([]Resource, error) {
	filter := store.AttachmentFilter{CaseID: f.CaseID, Now: e.Clock.Now(), After: f.After, Limit: f.Limit}
	var absent []identity.Principal // for whom by stands in
	switch {
	case f.OwnOnly:
		filter.Access, filter.Unbound = by.Contexts(), true
	case !by.Admin():
		absent = e.rights.Represented(by)
		filter.Access, filter.Routes = access.WithContexts(by, absent), e.rights.Administered(by)
	}
	return pages[store.Attachment]{
		limit: f.Limit, size: filter.Limit,
		list: func(after int64, limit int) ([]store.Attachment, error) {
			filter.After, filter.Limit = after, limit
			return r.Attachments().List(filter)
		},
		place: func(a *store.Attachment) int64 { return a.Seq },
		add: func(list []store.Attachment, out []Resource) (_ []Resource, err error) {
			for i := range list {
				sees := true
				if len(absent) > 0 { // found by what they see; not all of that is lent
					if sees, err = e.rights.SeesAttachment(r, by, &list[i]); err != nil {
						return nil, err
					}
				}
				if sees && e.rights.InContext(by, f.Context, list[i].ContextID) {
					out = append(out, *attachmentResource(&list[i], by))
				}
			}
			return out, nil
		},
	}.all(filter.After)
}

// needCase returns a case, or errs.NotFound for one that by does not see; 0 is
// none.
func (e *Attachments) needCase(r store.Reader, by identity.Principal, id int64) (*store.Case, error) {
	if id == 0 {
		return nil, nil
	}
	row, _, err := e.findCase(r, by, Ref{CaseID: id})
	if err == nil && row == nil {
		err = change.Absent("case")
	}
	return row, err
}

// Attachment returns an attachment without its content. Errors: errs.NotFound
// if by may not see it.
func (e *Attachments) Attachment(ctx context.Context, by identity.Principal, uuid store.UUID) (*store.Attachment, error) {
	var a *store.Attachment
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		a, err = e.findAttachment(r, by, uuid, e.Clock.Now())
		return err
	})
	if err == nil && a == nil {
		err = change.Absent("attachment")
	}
	return a, err
}

// OpenAttachment opens an attachment. Errors: errs.NotFound if by may not see
// it.
func (e *Attachments) OpenAttachment(ctx context.Context, by identity.Principal, uuid store.UUID) (*OpenAttachment, error) {
	var out *OpenAttachment
	err := e.contents.Reading(func() error {
		a, err := e.Attachment(ctx, by, uuid)
		if err == nil {
			err = looks{e.base}.attachment(ctx, by, a)
		}
		if err != nil {
			return err
		}
		body, err := e.contents.Open(a.SHA256)
		out = &OpenAttachment{Attachment: *a, Body: body}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PutAttachment stores a new attachment. Errors: errs.ContextNotAvailable,
// errs.BadParameter if it would expire too late, errs.TooLarge, errs.Full if
// the quota is used up, errs.NotFound if it is for a case that by may not see;
// of one that replaces another also errs.Locked, and errs.ReadOnly for the name of the
// input.
func (e *Attachments) PutAttachment(ctx context.Context, req Request, given NewAttachment, body io.Reader) (*Outcome, error) {
	var a *store.Attachment
	var room int64
	err := e.Store.View(ctx, func(r store.Reader) (err error) { // before the body is read
		if a, _, err = e.newAttachment(r, req, given); err != nil {
			return err
		}
		room, err = e.roomInQuota(r, req.By.ID, 0, given.Size)
		return err
	})
	if err != nil {
		return nil, err
	}
	in, done := e.arriving.Reader(e.quota, req.By.ID, body, room)
	defer done()
	spooled, err := e.contents.Spool(in, contents.MaxSize, req.DryRun)
	if err != nil {
		return nil, err
	}
	a.Size, a.SHA256 = spooled.Size(), spooled.Sum()
	var out *Outcome
	err = e.contents.Storing(ctx, spooled, func() error {
		return e.Update(ctx, func(tx store.Tx) (err error) {
			out, err = e.insertAttachment(tx, req, given, a)
			return err
		})
	})
	return out, err
}

// newAttachment returns the attachment to create, without its content, if the
// caller may create it, and the one that it replaces.
func (e *Attachments) newAttachment(r store.Reader, req Request, given NewAttachment) (a *store.Attachment, old *Resource, err error) {
	a = &store.Attachment{
		UUID: store.NewUUID(), ContextID: req.By.ID, AuthorID: req.By.ID, CaseID: given.CaseID,
		Name: given.Name, MediaType: given.MediaType, Created: req.Now,
	}
	if a.MediaType == "" {
		a.MediaType = mediatype.Of(a.Name)
	}
	c, err := e.needCase(r, req.By, given.CaseID)
	if err != nil {
		return nil, nil, err
	}
	if err := notArchived(c); err != nil {
		return nil, nil, err
	}
	if given.Context != "" {
		id, err := e.ownContext(req.By, given.Context)
		if err != nil {
			return nil, nil, err
		}
		a.ContextID = id
	}
	lifetime := given.Lifetime
	if lifetime.IsZero() && given.CaseID == 0 {
		lifetime.Exact = defaultLifetime
	}
	if !lifetime.IsZero() {
		a.Lifetime, a.Expires = lifetime.String(), lifetime.After(req.Now)
		if a.Expires.Year() > 9999 || !a.Expires.After(req.Now) {
			return nil, nil, errs.New(errs.BadParameter, "An attachment cannot expire after %s; give it less time.", a.Lifetime)
		}
	}
	if !given.Replaces {
		return a, nil, change.CheckVersion(req.If, Version{})
	}
	old, err = e.replaced(r, req, given)
	return a, old, err
}

// ownContext returns the context of that name or id if by may create objects in
// it.
func (e *Attachments) ownContext(by identity.Principal, text string) (identity.ID, error) {
	id := e.rights.ContextID(text)
	if id == 0 || !e.directory().MayOwn(by, id) {
		return 0, errs.New(errs.ContextNotAvailable, "The context is not one of yours; leave it out, or name one of your own.")
	}
	return id, nil
}

func (e *Attachments) insertAttachment(tx store.Tx, req Request, given NewAttachment, a *store.Attachment) (*Outcome, error) {
	_, old, err := e.newAttachment(tx, req, given) // again: while the body came, things may have moved
	if err != nil {
		return nil, err
	}
	if err := e.checkQuota(tx, req.By.ID, a.Size); err != nil {
		return nil, err
	}
	if req.DryRun { // whose content has no row yet
		if err := tx.Write().Blobs().Note(a.SHA256); err != nil {
			return nil, err
		}
	}
	if old != nil {
		if err := e.keepNames(tx, req, a, old); err != nil {
			return nil, err
		}
	}
	if err := tx.Write().Attachments().Insert(a); err != nil {
		return nil, err
	}
	if old != nil {
		if err := e.giveWay(tx, old, a); err != nil {
			return nil, err
		}
	}
	if err := e.logAttached(tx, req, a, old != nil); err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { e.sweeper.note(a.Expires) })
	out := &Outcome{
		Created: old == nil, Changed: true, Name: a.UUID.String(), Form: attachmentResource(a, req.By).Form, ETag: a.ETag(), FormETag: a.ETag(),
		Modified: a.Created, CaseID: a.CaseID,
	}
	return out, e.Finish(tx, req, out)
}

// DeleteAttachment deletes an attachment that no schedule entry names. Errors:
// errs.NotFound, errs.NotAllowed, errs.InUse if an entry names it,
// errs.ReadOnly if its case is archived.
func (e *Attachments) DeleteAttachment(ctx context.Context, req Request, uuid store.UUID) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		a, err := e.findAttachment(tx, req.By, uuid, req.Now)
		if err != nil {
			return err
		}
		if a == nil {
			return change.Absent("attachment")
		}
		if err := e.mayDelete(tx, req.By, a); err != nil {
			return err
		}
		// In /attachfs/ nothing can be locked except what is bound to a case, by its name there.
		r := attachmentResource(a, req.By)
		if err := e.CheckRequest(tx.Locks(), req, attachedVersion(r), attachedScope(r)); err != nil {
			return err
		}
		if err := unused(tx, uuid); err != nil {
			return err
		}
		if err := tx.Write().Locks().DeleteOn(store.AttachmentKey(a.CaseID, uuid)); err != nil {
			return err
		}
		if err := e.dropAttachment(tx, uuid); err != nil || a.CaseID == 0 {
			return err
		}
		return e.logFile(tx, req, a.CaseID, "Deleted the file "+a.Name)
	})
}

// mayDelete answers why by may not delete an attachment.
func (e *Attachments) mayDelete(r store.Reader, by identity.Principal, a *store.Attachment) error {
	may, err := e.rights.MayDeleteAttachment(r, by, a)
	if err != nil {
		return err
	}
	if !may {
		return errs.New(errs.NotAllowed, "Only the person who uploaded this attachment and the route's administrators may rename or delete it.")
	}
	c, err := e.needCase(r, by, a.CaseID)
	if err == nil {
		err = notArchived(c)
	}
	return err
}

// unused answers errs.InUse if a schedule entry names the attachment.
func unused(r store.Reader, uuid store.UUID) error {
	used, err := r.Attachments().InUse(uuid)
	if err == nil && used {
		err = errs.New(errs.InUse, "A schedule entry takes this attachment as its input; change or delete the entry first.")
	}
	return err
}

func (e *Attachments) dropAttachment(tx store.Tx, uuid store.UUID) error {
	e.contents.RouseAfter(tx)
	return tx.Write().Attachments().Delete(uuid)
}

// expire deletes an attachment that has expired. The row is read again: an
// entry may have begun to name it.
func (e *Attachments) expire(tx store.Tx, uuid store.UUID, now time.Time) error {
	a, err := store.OrNil(tx.Attachments().Get(uuid))
	if err != nil || a == nil || a.Expires.IsZero() || a.Expires.After(now) {
		return err
	}
	return e.dropAttachment(tx, uuid)
}

// moveUse keeps attachments from expiring while a schedule entry names them:
// the entry named was, and from now on names is, or neither. It is called
// when the entry is written. change.ErrStale says that the attachment has gone
// since the entry was read.
func (e *Attachments) moveUse(tx store.Tx, context identity.ID, was, is store.UUID, now time.Time) error {
	if is != (store.UUID{}) {
		a, err := e.findAttachment(tx, e.directory().Principal(context), is, now)
		if err != nil {
			return err
		}
		if a == nil {
			return change.ErrStale
		}
		if !a.Expires.IsZero() {
			if err := tx.Write().Attachments().SetExpiry(is, time.Time{}); err != nil {
				return err
			}
		}
	}
	if was == (store.UUID{}) || was == is {
		return nil
	}
	return e.endUse(tx, was, now)
}

// endUse lets an attachment expire again that no entry names any more: it
// has its whole lifetime from now on.
func (e *Attachments) endUse(tx store.Tx, uuid store.UUID, now time.Time) error {
	used, err := tx.Attachments().InUse(uuid)
	if err != nil || used {
		return err
	}
	a, err := store.OrNil(tx.Attachments().Get(uuid))
	if err != nil || a == nil || a.Lifetime == "" {
		return err
	}
	lifetime, err := clock.ParseDuration(a.Lifetime)
	if err != nil {
		return errs.Wrap("read the lifetime of attachment "+uuid.String(), err)
	}
	expires := lifetime.After(now)
	tx.AfterCommit(func() { e.sweeper.note(expires) })
	return tx.Write().Attachments().SetExpiry(uuid, expires)
}

// entryAttachment returns the attachment that the entry names, zero for none.
func entryAttachment(entry *schedule.Entry) store.UUID {
	uuid, _ := store.ParseUUID(entry.AttachmentUUID) // checked when the entry was read
	return uuid
}

// attachmentRef resolves an "attachmentUUID" of a document to an attachment
// that by sees. One that does not is a fault at v, and nil.
func (e *Attachments) attachmentRef(r store.Reader, by identity.Principal, v document.Value, uuid store.UUID, now time.Time) (*store.Attachment, error) {
	a, err := e.findAttachment(r, by, uuid, now)
	switch {
	case err != nil:
	case a == nil:
		v.Fail(errs.CodeNotFound, "there is no attachment %s that %s may use", uuid, by.Name)
	case !by.Scope.Reads("/attachfs/" + uuid.String()):
		v.Fail(errs.CodeNotFound, "%s", by.Scope.Outside())
		a = nil
	}
	return a, err
}

// attachmentContent returns the attachment as the input of a case: the same content, and
// the same media type.
func attachmentContent(a *store.Attachment) *contents.Content {
	return &contents.Content{Name: a.Name, MediaType: a.MediaType, File: &contents.File{Sum: a.SHA256, Size: a.Size}}
}

// startInput returns the attachment that a start document names as the input of
// its case, or nil if it names none or one that the caller may not see.
func (e *Attachments) startInput(r store.Reader, req Request, v document.Value) (*contents.Content, error) {
	text, ok := v.Str()
	if !ok {
		return nil, nil
	}
	uuid, ok := store.ParseUUID(text)
	if !ok {
		v.Fail(errs.CodeFormat, "must be the UUID of an attachment: 32 hexadecimal digits, with or without dashes and braces")
		return nil, nil
	}
	a, err := e.attachmentRef(r, req.By, v, uuid, req.Now)
	if err != nil || a == nil {
		return nil, err
	}
	c := attachmentContent(a)
	c.Holds = func(tx store.Tx) error {
		again, err := e.findAttachment(tx, req.By, uuid, req.Now)
		if err == nil && again == nil {
			err = change.ErrStale
		}
		return err
	}
	return c, nil
}
