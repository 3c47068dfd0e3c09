package notice

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// entryForm is what a webhook is told of a schedule entry.
type entryForm struct {
	Kind    Kind   `json:"kind"`
	UUID    string `json:"uuid"`
	Title   string `json:"title"`
	Href    string `json:"href"`
	Instant string `json:"instant"`
	Reason  string `json:"reason"`
}

func (e *Entry) folder() string { return "/dav/Workflow/Schedule/" + e.UUID }

func (t *Trouble) instant() string { return t.Instant.UTC().Format(time.RFC3339) }

// entryHook returns the document for the webhook of what a schedule entry failed
// to do.
func (n *Notice) entryHook() []byte {
	return document.Line(entryForm{
		Kind: n.Kind, UUID: n.Entry.UUID, Title: n.Entry.Title, Href: n.Entry.folder() + ".json", Instant: n.Trouble.instant(), Reason: n.Trouble.Text,
	})
}

// entryMail says what a schedule entry failed to do, and whether it goes on.
func (n *Notice) entryMail(p *Person) *machine.Mail {
	var text strings.Builder
	fmt.Fprintf(&text, "The schedule entry %q should have started a case at %s, and could not:\n\n  %s\n\n", n.Entry.Title, n.Trouble.instant(), n.Trouble.Text)
	fmt.Fprintf(&text, "The entry:   %s.json\nIts history: %[1]s/occurrences.json\n\n", n.Entry.folder())
	if n.Trouble.Ended {
		text.WriteString("That was its last instant.\n")
	} else {
		text.WriteString("It goes on with its next instant. There is no further mail about it until it has fired again.\n")
	}
	return &machine.Mail{To: []string{p.Email}, Subject: subjectLine(n.Sentence(p)), Text: text.String(), Thread: n.Entry.UUID}
}
