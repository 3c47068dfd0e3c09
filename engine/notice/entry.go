package notice

import (
	"fmt"

	"flowdrive/engine/machine"
)

// entryMail says what a schedule entry failed to do, and whether it goes on.
func (n *Notice) entryMail(p *Person) *machine.Mail {
	e := n.Entry
	l := &letter{Subject: n.Sentence(p), Opening: n.firing(p), Detail: n.Trouble.Text}
	if !n.Trouble.Ended && n.Trouble.Over != EndDeleted {
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
	case n.Kind == KindMended && t.Over == EndDeleted:
		return fmt.Sprintf("The schedule entry %q was deleted%s. It had not started a case since %s:", title, byWhom(t.By), p.When(t.Since))
	case n.Kind == KindMended:
		return fmt.Sprintf("The schedule entry %q has started a case again. It had failed since %s:", title, p.When(t.Since))
	case t.What == WhatPaused:
		return fmt.Sprintf("The schedule entry %q was paused%s at %s, and starts no cases:", title, byWhom(t.By), p.When(t.Since))
	case t.Again:
		return fmt.Sprintf("The schedule entry %q has not started a case since %s:", title, p.When(t.Since))
	}
	return fmt.Sprintf("The schedule entry %q should have started a case at %s, and could not:", title, p.When(t.Instant))
}

// prospect says what comes next.
func (n *Notice) prospect() string {
	if n.Trouble.What == WhatPaused {
		return "It goes on when what it needs is there again and somebody saves {\"do\": \"resume\"} to it. Delete it if it is not needed any more."
	}
	if n.Trouble.Ended {
		return "That was its last instant, and it has ended. Its document lies in .history/ beside the entries of its author; save it again with another time to have it done."
	}
	return "It tries again at its next instant, which fails, too, unless the cause is mended. Who may change the entry can also save {\"do\": \"trigger\"} to it to try at once, or {\"do\": \"pause\"} to stop it. You are told once a day until it has started a case, and once when it has."
}
