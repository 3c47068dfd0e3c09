package notice

import (
	"strings"

	"flowdrive/engine/machine"
)

// What says in what way something is wrong.
type What string

// What can be wrong.
const (
	WhatFailed    What = "failed"       // the engine could not do something in a case
	WhatUnstarted What = "not-started"  // a case could not start, or a schedule entry not make one
	WhatOverdue   What = "overdue"      // a timer is due, and nothing in the route handles it
	WhatUnstaffed What = "nobody-there" // nobody can do a task
)

// Kind returns the kind of notice that tells of it.
func (w What) Kind() Kind {
	if w == WhatOverdue {
		return KindOverdue
	}
	return KindFailure
}

// troubleSentence says in a line what is wrong, still wrong or mended.
func (n *Notice) troubleSentence() string {
	t := n.Trouble
	var title string
	if n.Entry != nil {
		title = n.Entry.Title
	} else {
		title = n.Case.Title
	}
	if n.Kind == KindMended {
		return t.mended(title)
	}
	open := t.open(title)
	if t.Again {
		return "Still " + lowerFirst(open)
	}
	return open
}

func (t *Trouble) open(title string) string {
	switch t.What {
	case WhatUnstarted:
		return "Not started: " + title
	case WhatOverdue, WhatUnstaffed:
		return titled(t.Word, title)
	case WhatFailed:
	}
	return "Failed: " + title + ": " + t.Text
}

func (t *Trouble) mended(title string) string {
	switch {
	case t.Canceled:
		return "Canceled: " + title
	case t.What == WhatUnstarted:
		return "Started: " + title
	case t.What == WhatOverdue:
		return "No longer " + lowerFirst(titled(t.Word, title))
	case t.What == WhatUnstaffed:
		return "No longer without anybody: " + title
	}
	return "Mended: " + title
}

// troubleMail says what is wrong with a case, since when, and where it is mended.
func (n *Notice) troubleMail(p *Person) *machine.Mail {
	t, c := n.Trouble, n.Case
	l := &letter{Subject: n.Sentence(p), Opening: n.troubleSentence(), Detail: t.Text}
	switch {
	case n.Kind == KindMended && t.Canceled:
		l.Opening += ". The case was canceled. Since " + p.When(t.Since) + " this had been wrong:"
	case n.Kind == KindMended:
		l.Opening += ". This is mended. It had been wrong since " + p.When(t.Since) + ":"
	case t.Again:
		l.Opening += ". This has been wrong since " + p.When(t.Since) + ":"
	}
	if t.Output != "" && n.Kind != KindMended {
		l.Output = strings.Split(strings.TrimRight(t.Output, "\n"), "\n")
	}
	l.Facts = n.facts(c)
	l.link("The case", n.Links.Case(c.ID))
	l.link("Its log", n.Links.InCase(c.ID, "log.txt"))
	if t.Task != "" && n.Kind != KindMended {
		l.link("The task", n.Links.Action(c.ID, t.Task))
	}
	if n.Kind != KindMended {
		l.Closing = append(l.Closing, "You are told of it once a day until it is mended, and once when it is.")
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, c.GUID)
}
