package account

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Known is what the document of me.json may name.
type Known struct {
	// Route returns the name, as it is spelled, of a route that the user sees.
	Route func(route string) (name string, ok bool)
	Zone  func(name string) bool // whether there is a time zone of that name
	Kinds []string               // of notices
	Dates *time.Location         // of dates that are written without a zone; nil: UTC

	Password JudgePassword // which passwords the user may have; nil: any
	Address  OwnAddress    // which addresses the user may have; nil: any, at once
}

// mailForm is how a user wants to be told by mail (docs/contract/drive.md#mejson).
type mailForm struct {
	Kinds  []string          `json:"kinds"`
	Digest *string           `json:"digest"`
	Quiet  *store.QuietHours `json:"quiet"`
}

func formOfWishes(w *store.MailWishes) mailForm {
	form := mailForm{Kinds: w.Kinds, Quiet: w.Quiet}
	if w.Digest != "" {
		form.Digest = &w.Digest
	}
	return form
}

// readZone reads the user's time zone: null is that of the server.
func readZone(v document.Value, zone *string, known func(name string) bool) {
	switch {
	case v.Node == nil:
	case v.Node.Kind == document.Null:
		*zone = ""
	default:
		name, ok := v.Str()
		if ok && (name == "" || !known(name)) {
			v.Fail(errs.CodeFormat, "%q is not a time zone of the IANA database, such as Europe/Berlin or UTC", name)
		} else if ok {
			*zone = name
		}
	}
}

// readMail reads how the user wants to be told by mail: what is absent stays, null
// resets.
func readMail(v document.Value, wishes *store.MailWishes, kinds []string) {
	switch {
	case v.Node == nil:
		return
	case v.Node.Kind == document.Null:
		*wishes = store.MailWishes{}
		return
	case !v.Is(document.Object):
		return
	}
	v.Only("kinds", "digest", "quiet")
	out := *wishes
	readKinds(v.Get("kinds"), &out.Kinds, kinds)
	if digest := v.Get("digest"); digest.Node != nil {
		if out.Digest = ""; digest.Node.Kind != document.Null {
			readClock(digest, &out.Digest)
		}
	}
	readQuiet(v.Get("quiet"), &out)
	*wishes = out
}

func readKinds(v document.Value, to *[]string, known []string) {
	switch {
	case v.Node == nil:
		return
	case v.Node.Kind == document.Null:
		*to = nil
		return
	case !v.Is(document.List):
		return
	}
	list := []string{}
	for i := range v.Node.Items {
		item := v.Item(i)
		kind, ok := item.Str()
		switch {
		case !ok:
		case !slices.Contains(known, kind):
			item.Fail(errs.CodeFormat, "must be one of %s, not %q%s", strings.Join(known, ", "), kind, document.Hint(kind, known))
		case !slices.Contains(list, kind):
			list = append(list, kind)
		}
	}
	*to = list
}

func readQuiet(v document.Value, wishes *store.MailWishes) {
	switch {
	case v.Node == nil:
		return
	case v.Node.Kind == document.Null:
		wishes.Quiet = nil
		return
	case !v.Is(document.Object):
		return
	}
	v.Only("from", "to")
	var quiet store.QuietHours
	readClock(v.Get("from"), &quiet.From)
	readClock(v.Get("to"), &quiet.To)
	if quiet.From == quiet.To && quiet.From != "" {
		v.Fail(errs.CodeFormat, "from and to must be different times; for no mails at all set notify to false")
	}
	wishes.Quiet = &quiet
}

// readClock reads a time of day: "07:30".
func readClock(v document.Value, to *string) {
	if v.Node == nil {
		v.Fail(errs.CodeRequired, "is required: a time of day such as 07:30")
		return
	}
	text, ok := v.Str()
	if !ok {
		return
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		v.Fail(errs.CodeFormat, "must be a time of day such as 07:30, not %q", text)
		return
	}
	*to = at.Format("15:04")
}
