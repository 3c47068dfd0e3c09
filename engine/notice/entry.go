package notice

import (
	"fmt"

	"flowdrive/engine/machine"
)

// entryMail says what a schedule entry failed to do, and whether it goes on.
func (n *Notice) entryMail(p *Person) *machine.Mail {
	e := n.Entry
	l := &letter{Subject: n.Sentence(p), Opening: n.firing(p), Detail: p.text(n.Trouble.Text)}
	l.link("The entry", n.Links.Entry(e.UUID))
	l.link("Its history", n.Links.History(e.UUID))
	switch {
	case (n.Trouble.Ended || n.Trouble.Over == EndDeleted) && !p.owns():
		// the history of an entry that is gone is for those who had it
	case n.Trouble.Ended || n.Trouble.Over == EndDeleted:
		l.link("On the drive", n.Links.HistoryFile(e.UUID))
	default:
		l.link("On the drive", n.Links.EntryFile(e.UUID))
	}
	if together := n.Trouble.Entries; together != nil && together.Count > 1 {
		l.Links = nil
		together.list(l, func(e *HeldEntry) string {
			if e.Next.IsZero() {
				return n.Links.Entry(e.UUID)
			}
			return "would have fired next at " + p.When(e.Next) + ", " + n.Links.Entry(e.UUID)
		})
	}
	if n.Kind != KindMended {
		l.Closing = append(l.Closing, n.prospect(p))
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, e.UUID)
}

// firing says what the entry did, and failed to do.
func (n *Notice) firing(p *Person) string {
	t, title := n.Trouble, machine.OneLine(n.Entry.Title)
	switch {
	case n.Kind == KindMended && t.What == WhatPaused && t.Over == EndDeleted:
		return fmt.Sprintf("The schedule entry %q was deleted%s. It had been paused since %s:", title, byWhom(t.By), p.When(t.Since))
	case n.Kind == KindMended && t.What == WhatPaused:
		return fmt.Sprintf("The schedule entry %q was resumed%s. It had been paused since %s:", title, byWhom(t.By), p.When(t.Since))
	case t.What == WhatPaused && t.Again:
		return fmt.Sprintf("The schedule entry %q has been paused since %s, and starts no cases:", title, p.When(t.Since))
	case t.What == WhatPaused && t.Entries != nil && t.Entries.Count > 1:
		return fmt.Sprintf("These schedule entries were paused%s at %s, and start no cases:", byWhom(t.By), p.When(t.Since))
	case n.Kind == KindMended && t.Over == EndDeleted && t.What == WhatUnfilled:
		return fmt.Sprintf("The schedule entry %q was deleted%s. Its cases had labels as they are written since %s:", title, byWhom(t.By), p.When(t.Since))
	case n.Kind == KindMended && t.What == WhatUnfilled:
		return fmt.Sprintf("The last case of the schedule entry %q has all its labels filled. Its cases had labels as they are written since %s:", title, p.When(t.Since))
	case t.What == WhatUnfilled && t.Again:
		return fmt.Sprintf("Cases of the schedule entry %q have labels as they are written since %s:", title, p.When(t.Since))
	case t.What == WhatUnfilled:
		return fmt.Sprintf("The schedule entry %q has created its case of %s with labels as they are written:", title, p.When(t.Instant))
	case t.What == WhatDaysOff:
		return n.daysOff(title, p)
	case n.Kind == KindMended && t.Over == EndDeleted:
		return fmt.Sprintf("The schedule entry %q was deleted%s. It had not started a case since %s:", title, byWhom(t.By), p.When(t.Since))
	case n.Kind == KindMended:
		return fmt.Sprintf("The schedule entry %q has started a case again. It had failed since %s:", title, p.When(t.Since))
	case t.What == WhatPaused:
		return fmt.Sprintf("The schedule entry %q was paused%s at %s, and starts no cases:", title, byWhom(t.By), p.When(t.Since))
	case t.What == WhatSkipped:
		return fmt.Sprintf("The schedule entry %q has started no case for its instant %s:", title, p.When(t.Instant))
	case t.Again:
		return fmt.Sprintf("The schedule entry %q has not started a case since %s:", title, p.When(t.Since))
	}
	return fmt.Sprintf("The schedule entry %q should have started a case at %s, and could not:", title, p.When(t.Instant))
}

// daysOff says what is or was wrong with the calendar of the entry.
func (n *Notice) daysOff(title string, p *Person) string {
	t := n.Trouble
	switch {
	case n.Kind == KindMended && t.Over == EndDeleted:
		return fmt.Sprintf("The schedule entry %q was deleted%s. The calendar with its days off could not be used since %s:", title, byWhom(t.By), p.When(t.Since))
	case n.Kind == KindMended:
		return fmt.Sprintf("The days off of the schedule entry %q are known again. They had not been since %s:", title, p.When(t.Since))
	case t.Again:
		return fmt.Sprintf("The days off of the schedule entry %q have not been known since %s:", title, p.When(t.Since))
	}
	return fmt.Sprintf("The days off of the schedule entry %q are not known any more:", title)
}

// owns reports whether a person is told of a schedule entry because it is theirs.
func (p *Person) owns() bool { return p.Why == machine.ReasonOwner || p.Why == machine.ReasonTeam }

// prospect says what comes next.
func (n *Notice) prospect(p *Person) string {
	if n.Trouble.What == WhatPaused {
		return "It goes on when what it needs is there again and somebody resumes it, on its page or by saving {\"do\": \"resume\"} to it on the drive. Delete it if it is not needed any more. You are told once a day until it goes on or is deleted, and once when it is."
	}
	if n.Trouble.What == WhatSkipped && !n.Trouble.Ended {
		return "That is what the entry asks for by its misfire and overlap, and it goes on with its next instant. Its history has all that were skipped. For a case in place of those, save {\"do\": \"backfill\"} with from and to, or {\"do\": \"trigger\"}, to the entry on the drive. You are told of the first of a day."
	}
	if n.Trouble.What == WhatDaysOff {
		return "As long as that is so it starts no case: at its next instant that fails. Put the calendar back, or save the entry with another excludeCalendar, or with null for none. You are told once a day until its days off are known, and once when they are."
	}
	if n.Trouble.What == WhatUnfilled && n.Trouble.Ended {
		return "The case has such a label as a text, and its route may decide by it: look what the case has done. That was the last instant of the entry, and it has ended. You are told nothing more of it."
	}
	if n.Trouble.What == WhatUnfilled {
		return "The case has such a label as a text, and its route may decide by it. Correct the title or the XATTRs of the entry, and look what the case has done. You are told once a day until a case has all its labels filled, and once when one has. If the entry ends before, you are told nothing more of it."
	}
	if n.Trouble.Ended && !p.owns() {
		return "That was its last instant, and it has ended. Its author has its document in .history/ beside their entries, and can save it again with another time to have it done."
	}
	if n.Trouble.Ended {
		return "That was its last instant, and it has ended. Its document lies in .history/ beside the entries of its author; save it again with another time to have it done."
	}
	if !n.Trouble.Next.IsZero() {
		return "Its next instant is " + p.When(n.Trouble.Next) + ". Who may change the entry can have it start a case before, on its page or by saving {\"do\": \"trigger\"} to it on the drive. You are told once when it has started a case."
	}
	return "It tries again at its next instant, which fails, too, unless the cause is mended. Who may change the entry can also have it try at once or pause it, on its page or by saving {\"do\": \"trigger\"} or {\"do\": \"pause\"} to it on the drive. You are told once a day until it has started a case, and once when it has."
}
