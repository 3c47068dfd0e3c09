package notice

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// Failure is that a schedule entry should have started a case, and could not.
type Failure struct {
	UUID    string // of the entry
	Title   string
	Instant time.Time
	Reason  string
}

// failedHook is what a webhook is told of an entry that fails to fire.
type failedHook struct {
	Kind    string `json:"kind"`
	UUID    string `json:"uuid"`
	Title   string `json:"title"`
	Href    string `json:"href"`
	Instant string `json:"instant"`
	Reason  string `json:"reason"`
}

func (f *Failure) folder() string { return "/dav/Workflow/Schedule/" + f.UUID }

func (f *Failure) instant() string { return f.Instant.UTC().Format(time.RFC3339) }

// Hook returns what the webhook is told.
func (f *Failure) Hook() []byte {
	return document.Line(failedHook{
		Kind: "schedule-failed", UUID: f.UUID, Title: f.Title, Href: f.folder() + ".json", Instant: f.instant(), Reason: f.Reason,
	})
}

// Mail returns what an administrator is told.
func (f *Failure) Mail(to string) *machine.Mail {
	var text strings.Builder
	fmt.Fprintf(&text, "The schedule entry %q should have started a case at %s, and could not:\n\n  %s\n\n", f.Title, f.instant(), f.Reason)
	fmt.Fprintf(&text, "The entry:   %s.json\nIts history: %[1]s/occurrences.json\n\n", f.folder())
	text.WriteString("It goes on with its next instant. There is no further mail about it until it has fired again.\n")
	return &machine.Mail{To: []string{to}, Subject: subjectLine("Not started: " + f.Title), Text: text.String(), Thread: f.UUID}
}
