package engine

import (
	"context"
	"fmt"
	"io"
	"slices"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// The labels that name a case's own contents in calls of Message. No other
// label begins like them.
const (
	OwnInput     = "@input"
	OwnOutput    = "@output"
	OwnException = "@exception"
)

// Messages returns the messages of a case, in order of creation, without their
// contents. Errors: errs.NotFound if by may not see the case.
func (e *Cases) Messages(ctx context.Context, by identity.Principal, id int64) ([]store.Message, error) {
	var out []store.Message
	err := e.Store.View(ctx, func(r store.Reader) error {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil {
			return err
		}
		if row == nil {
			return change.Absent("case")
		}
		out, err = r.Cases().Messages().List(id)
		return err
	})
	return out, err
}

// Message opens a message of a case by its label, or, if that is "", by its
// UUID. OwnInput, OwnOutput and OwnException are the case's own contents.
// Errors: errs.NotFound if by may not see the case or it has no such message.
func (e *Cases) Message(ctx context.Context, by identity.Principal, id int64, uuid store.UUID, name string) (*Content, error) {
	return e.contents.OpenMessage(func() (*store.Message, error) { return e.message(ctx, by, id, uuid, name) })
}

// message finds the message that Message opens.
func (e *Cases) message(ctx context.Context, by identity.Principal, id int64, uuid store.UUID, name string) (*store.Message, error) {
	var m *store.Message
	err := e.Store.View(ctx, func(r store.Reader) error {
		h, err := e.decider.loadCase(r, by, Ref{CaseID: id})
		if err != nil {
			return err
		}
		switch name {
		case "":
			m, err = store.OrNil(r.Cases().Messages().Get(id, uuid))
		case OwnInput:
			m, err = store.OrNil(r.Cases().Messages().GetByLabel(id, store.LabelInput))
		case OwnOutput, OwnException:
			m, err = result(r, h, name)
		default:
			m, err = store.OrNil(r.Cases().Messages().GetByLabel(id, name))
		}
		if err == nil && m != nil {
			err = looks{e.base}.message(ctx, r, by, h.row, m)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, change.Absent("message")
	}
	return m, nil
}

// result returns the result of an ended case: its output, or the reason if it
// could not start. It returns nil for the other one, and for a case that has
// none.
func result(r store.Reader, h *loadedCase, name string) (*store.Message, error) {
	switch life := h.core.Life; {
	case name == OwnOutput && (life == machine.Completed || life == machine.Closed):
		return output(r, h)
	case name == OwnException && life == machine.Failed:
		return store.OrNil(r.Cases().Messages().GetByLabel(h.row.ID, machine.LabelError))
	default:
		return nil, nil
	}
}

// output returns what a case shows as its output: OutputMessage, else what
// its route names, else the input.
func output(r store.Reader, h *loadedCase) (*store.Message, error) {
	for _, name := range []string{LabelOutput, h.route.Compiled.Output, store.LabelInput} {
		if name == "" {
			continue
		}
		if m, err := store.OrNil(r.Cases().Messages().GetByLabel(h.row.ID, name)); err != nil || m != nil {
			return m, err
		}
	}
	return nil, nil
}

// NewMessage is a message to be stored under a label.
type NewMessage struct {
	Label     string
	MediaType string
	Body      io.Reader
	Hook      string // the name of the hook that delivers it; "": a person writes it
}

// PutLabel creates or replaces the message of a label on an open case, and
// wakes the case. Errors: errs.NotFound, errs.NameNotAllowed for an invalid
// label, errs.NotAllowed, errs.CaseNotOpen, errs.TooLarge, errs.Full.
func (e *Cases) PutLabel(ctx context.Context, req Request, id int64, given NewMessage) (*Outcome, error) {
	if name := given.Label; !identity.Legal(name) {
		return nil, errs.New(errs.NameNotAllowed, "%q is not a valid label: use letters, digits, _ and -, at most 63, the first a letter or digit.", name)
	}
	var room int64
	if err := e.Store.View(ctx, func(r store.Reader) error { // before the body is read
		_, old, err := e.labelTarget(r, req, id, &given)
		if err != nil {
			return err
		}
		freed := int64(0)
		if old != nil && old.AuthorID == req.By.ID {
			freed = old.Size
		}
		room, err = e.roomInQuota(r, req.By.ID, freed, -1)
		return err
	}); err != nil {
		return nil, err
	}
	in, done := e.arriving.Reader(e.quota, req.By.ID, given.Body, room)
	defer done()
	content, err := e.contents.Read(given.MediaType, in, req.DryRun)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.contents.StoringContent(ctx, content, func() (err error) {
		out, err = e.putLabel(ctx, req, id, &given, content)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.runDueNow(ctx)
	return out, nil
}

// putLabel stores a message whose content is stored.
func (e *Cases) putLabel(ctx context.Context, req Request, id int64, given *NewMessage, content *contents.Content) (*Outcome, error) {
	name := given.Label
	return change.Make(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		h, old, err := e.labelTarget(r, req, id, given)
		if err != nil {
			return nil, err
		}
		m := content.Message(id, mustGUID(h.core.GUID), name)
		m.Created, m.Modified, m.AuthorID = req.Now, req.Now, req.By.ID
		if old != nil {
			m.Version, m.Created = old.Version+1, old.Created
			m.UUID = old.UUID
		}
		stored := h.find
		h.find = func(label string) (*store.Message, error) {
			if label == name {
				return m, nil
			}
			return stored(label)
		}
		c, err := e.decider.decideOn(h, machine.Wake{Actor: e.rights.Actor(req.By, h.admin), Label: name, Wrote: &machine.Writing{Size: m.Size, Over: old != nil, Hook: given.Hook}}, req)
		if err != nil {
			return nil, err
		}
		// Whether this one is the next version is checked below.
		c.read = slices.DeleteFunc(c.read, func(fact readFact) bool { return fact.label == name })
		c.messages = append(c.messages, m)
		return func(tx store.Tx) (*Outcome, error) {
			// Writing a message need not change the case: its revision alone
			// would not tell that the label was written meanwhile.
			now, err := store.OrNil(tx.Cases().Messages().GetByLabel(id, name))
			if err != nil {
				return nil, err
			}
			if (now == nil) != (old == nil) || now != nil && now.Version != old.Version {
				return nil, change.ErrStale
			}
			if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.LabelKey(id, name))); err != nil {
				return nil, err
			}
			if err := e.decider.write(tx, c); err != nil {
				return nil, err
			}
			if old != nil && old.InFile {
				e.contents.RouseAfter(tx)
			}
			out := &Outcome{
				Created: old == nil, Changed: true, Name: m.UUID.String(), Form: c.row.Form, FormETag: caseETag(c.after),
				ETag: MessageETag(m), Modified: req.Now, CaseID: id, Life: c.after.Shown(), Status: c.after.Status, LogSeq: c.after.LogSeq,
			}
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

// labelTarget returns the case and the message that a label has on it, if
// the caller may write it.
func (e *Cases) labelTarget(r store.Reader, req Request, id int64, given *NewMessage) (*loadedCase, *store.Message, error) {
	name := given.Label
	h, err := e.decider.loadCase(r, req.By, Ref{CaseID: id})
	if err != nil {
		return nil, nil, err
	}
	if err := (labelRights{e.base, r}).check(req.By, h, given); err != nil {
		return nil, nil, err
	}
	if err := notArchived(h.row); err != nil {
		return nil, nil, err
	}
	old, err := store.OrNil(r.Cases().Messages().GetByLabel(id, name))
	if err != nil {
		return nil, nil, err
	}
	version := Version{}
	if old != nil {
		version = Version{Exists: true, ETag: MessageETag(old), Modified: old.Modified}
	}
	if err := e.CheckRequest(r.Locks(), req, version, change.ScopeOf(store.LabelKey(id, name))); err != nil {
		return nil, nil, err
	}
	if h.core.Life.Ended() {
		return nil, nil, errs.New(errs.CaseNotOpen, "The case is %s; its messages can no longer be written.", h.core.Life)
	}
	return h, old, nil
}

// MessageETag is the ETag of a message's content.
func MessageETag(m *store.Message) string { return fmt.Sprintf("\"%x\"", m.SHA256[:16]) }

// mustGUID reads a case's guid, which is ours.
func mustGUID(text string) store.UUID {
	u, ok := store.ParseUUID(text)
	if !ok {
		panic("engine: a case's guid is " + text)
	}
	return u
}
