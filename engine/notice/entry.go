package notice

import (
	"fmt"

	"flowdrive/engine/machine"
)

// entryMail says what a schedule entry failed to do, and whether it goes on.
func (n *Notice) entryMail(p *Person) *machine.Mail {
	e := n.Entry
	l := &letter{Subject: n.Sentence(p), Opening: n.firing(p), Detail: n.Trouble.Text}
	if !n.Trouble.Ended {
		l.link("The entry", n.Links.Entry(e.UUID))
	}
	l.link("Its history", n.Links.InEntry(e.UUID, "occurrences.json"))
	if n.Kind != KindMended {
		l.Closing = append(l.Closing, n.prospect())
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, e.UUID)
}

// firing says what the entry did, and failed to do.
func (n *Notice) firing(p *Person) string {
	t, title := n.Trouble, machine.OneLine(n.Entry.Title)
	switch {
	case n.Kind == KindMended:
		return fmt.Sprintf("The schedule entry %q has started a case again. It had failed since %s:", title, p.When(t.Since))
	case t.Again:
		return fmt.Sprintf("The schedule entry %q has not started a case since %s:", title, p.When(t.Since))
	}
	return fmt.Sprintf("The schedule entry %q should have started a case at %s, and could not:", title, p.When(t.Instant))
}

// prospect says what comes next.
func (n *Notice) prospect() string {
	if n.Trouble.Ended {
		return "That was its last instant, and it has ended. Its document lies in .history/ beside the entries of its author; save it again with another time to have it done."
	}
	return "It goes on with its next instant. You are told once a day until it has started a case, and once when it has."
}
