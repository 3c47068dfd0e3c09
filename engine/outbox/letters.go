package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Letters are the mails that a sandbox would have sent, for administrators
// (docs/contract/drive.md#mails-of-a-sandbox).
type Letters struct {
	Store   store.Store
	Write   WriteLetter // nil: none are kept
	Sandbox bool
}

// WriteLetter writes a mail to one of its recipients as an RFC 5322 message. key is
// that of the delivery, at its date.
type WriteLetter func(key string, m *machine.Mail, to string, at time.Time) ([]byte, error)

// mostLetters is how many mails a sandbox keeps; the oldest go first.
const mostLetters = 10_000

// Keep keeps what a mail would have been, for each of its recipients.
func (e *Letters) Keep(tx store.Tx, key string, m *machine.Mail, now time.Time) error {
	if e.Write == nil {
		return nil
	}
	for _, to := range m.To {
		content, err := e.Write(key, m, to, now)
		if err != nil {
			return errs.Wrap("write a mail to be looked at", err)
		}
		l := &store.Letter{Created: now, Size: int64(len(content)), Content: content}
		if l.Name, err = freeLetterName(tx, to, now); err != nil {
			return err
		}
		if err := tx.Write().Outbox().Letters().Insert(l); err != nil {
			return err
		}
	}
	return tx.Write().Outbox().Letters().Keep(mostLetters)
}

// rehearseRow keeps what the mail of a row would have been, if it is one. Secrets
// stay where they are: only their names are shown.
func (e *Dispatcher) rehearseRow(tx store.Tx, row *store.OutboxRow, now time.Time) error {
	var r machine.Request
	if err := json.Unmarshal(row.Request, &r); err != nil || r.Mail == nil {
		return errs.Wrap("read the request "+row.Key, err)
	}
	e.Reach.withoutStrangers(r.Mail)
	if r.Mail.TextSecret != "" {
		r.Mail.Text = "[the secret " + r.Mail.TextSecret + "]\n"
	}
	return e.Letters.Keep(tx, row.Key, r.Mail, now)
}

// freeLetterName returns a name for a mail: "2012-11-09 12.34.56 ann@example.org.eml",
// with a number if there are several in a second.
func freeLetterName(r store.Reader, to string, now time.Time) (string, error) {
	head := now.UTC().Format("2006-01-02 15.04.05")
	local, domain, _ := strings.Cut(to, "@")
	address := filename.Safe(local) + "@" + filename.Safe(domain)
	for n := 1; ; n++ {
		ext := ".eml"
		if n > 1 {
			ext = fmt.Sprintf(" (%d).eml", n)
		}
		name := filename.Cut(head+" "+address, filename.MaxBytes-len(ext)) + ext
		found, err := store.OrNil(r.Outbox().Letters().Get(name))
		if err != nil || found == nil {
			return name, err
		}
	}
}

// letterForm is what .contents says of a mail.
type letterForm struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Created string `json:"created"`
}

func letterResource(l *store.Letter) *change.Resource {
	etag := fmt.Sprintf(`"letter-%d"`, l.ID)
	return &change.Resource{
		Name: l.Name, Seq: l.ID, Created: l.Created, Modified: l.Created, SourceSize: l.Size, SourceETag: etag, FormETag: etag, Definition: etag, Own: true,
		Source: l.Content, Form: document.Form(letterForm{Name: l.Name, Size: l.Size, Created: l.Created.UTC().Format(time.RFC3339)}),
	}
}

// Kept reports whether there are such mails: in a sandbox alone.
func (e *Letters) Kept() bool { return e.Sandbox }

// Letters returns the mails, oldest first, for administrators. Source is left out.
func (e *Letters) Letters(ctx context.Context, by identity.Principal) ([]change.Resource, error) {
	if !by.Admin() || !e.Sandbox {
		return nil, change.Absent("folder")
	}
	var out []change.Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		all, err := r.Outbox().Letters().All()
		for i := range all {
			out = append(out, *letterResource(&all[i]))
		}
		return err
	})
	return out, err
}

// Letter returns a mail, for administrators. Source is the message.
func (e *Letters) Letter(ctx context.Context, by identity.Principal, name string) (res *change.Resource, err error) {
	if !by.Admin() || !e.Sandbox {
		return nil, change.Absent("mail")
	}
	err = e.Store.View(ctx, func(r store.Reader) error {
		l, err := store.OrNil(r.Outbox().Letters().Get(name))
		if err != nil {
			return err
		}
		if l == nil {
			return change.Absent("mail")
		}
		res = letterResource(l)
		return nil
	})
	return res, err
}

// DeleteLetter deletes a mail, for administrators.
func (e *Letters) DeleteLetter(ctx context.Context, req change.Request, name string) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		if !req.By.Admin() || !e.Sandbox {
			return change.Absent("mail")
		}
		l, err := store.OrNil(tx.Outbox().Letters().Get(name))
		if err != nil {
			return err
		}
		if l == nil {
			return change.Absent("mail")
		}
		r := letterResource(l)
		if err := change.CheckVersion(req.If, change.Version{Exists: true, ETag: r.SourceETag, Definition: r.Definition, Modified: r.Modified}); err != nil {
			return err
		}
		return tx.Write().Outbox().Letters().Delete(l.ID)
	})
}
