package notice

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/machine"
)

func (e *Entry) folder() string { return "/dav/Workflow/Schedule/" + e.UUID }

func (t *Trouble) instant() string { return t.Instant.UTC().Format(time.RFC3339) }

// entryMail says what a schedule entry failed to do, and whether it goes on.
func (n *Notice) entryMail(p *Person) *machine.Mail {
	var text strings.Builder
	n.writeFiring(&text, p)
	if !n.Trouble.Ended {
		fmt.Fprintf(&text, "The entry:   %s.json\n", n.Entry.folder())
	}
	fmt.Fprintf(&text, "Its history: %s/occurrences.json\n", n.Entry.folder())
	if n.Kind != KindMended {
		text.WriteString("\n" + n.prospect() + "\n")
	}
	fmt.Fprintf(&text, "\nYou get this because %s.\n", p.because())
	return &machine.Mail{To: []string{p.Email}, Subject: subjectLine(n.Sentence(p)), Text: text.String(), Thread: n.Entry.UUID}
}

// writeFiring says what the entry did, and failed to do.
func (n *Notice) writeFiring(text *strings.Builder, p *Person) {
	t, title := n.Trouble, machine.OneLine(n.Entry.Title)
	switch {
	case n.Kind == KindMended:
		fmt.Fprintf(text, "The schedule entry %q has started a case again. It had failed since %s:\n\n", title, p.When(t.Since))
	case t.Again:
		fmt.Fprintf(text, "The schedule entry %q has not started a case since %s:\n\n", title, p.When(t.Since))
	default:
		fmt.Fprintf(text, "The schedule entry %q should have started a case at %s, and could not:\n\n", title, p.When(t.Instant))
	}
	fmt.Fprintf(text, "  %s\n\n", machine.OneLine(t.Text))
}

// prospect says what comes next.
func (n *Notice) prospect() string {
	if n.Trouble.Ended {
		return "That was its last instant, and it has ended. Its document lies in .history/ beside\nthe entries of its author; save it again with another time to have it done."
	}
	return "It goes on with its next instant. You are told once a day until it has started a\ncase, and once when it has."
}
