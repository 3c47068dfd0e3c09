package notice

import (
	"fmt"
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
	t, title := n.Trouble, ""
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
	t := n.Trouble
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", machine.OneLine(n.troubleSentence()))
	switch {
	case n.Kind == KindMended && t.Canceled:
		fmt.Fprintf(&b, "The case was canceled. Since %s this had been wrong:\n\n", p.When(t.Since))
	case n.Kind == KindMended:
		fmt.Fprintf(&b, "This is mended. It had been wrong since %s:\n\n", p.When(t.Since))
	case t.Again:
		fmt.Fprintf(&b, "This has been wrong since %s:\n\n", p.When(t.Since))
	}
	fmt.Fprintf(&b, "  %s\n\n", machine.OneLine(t.Text))
	if t.Output != "" && n.Kind != KindMended {
		b.WriteString("What it wrote in the end:\n\n")
		for line := range strings.SplitSeq(strings.TrimRight(t.Output, "\n"), "\n") {
			b.WriteString("  > " + machine.OneLine(line) + "\n")
		}
		b.WriteByte('\n')
	}
	folder := fmt.Sprintf("/dav/Workflow/Cases/%d", n.Case.ID)
	fmt.Fprintf(&b, "The case:  %s.json\nIts log:   %s/log.txt\n", folder, folder)
	if t.Task != "" && n.Kind != KindMended {
		fmt.Fprintf(&b, "The task:  %s/Actions/%s.json\n", folder, t.Task)
	}
	b.WriteByte('\n')
	if n.Kind != KindMended {
		b.WriteString("You are told of it once a day until it is mended, and once when it is.\n")
	}
	fmt.Fprintf(&b, "You get this because %s.\n", p.because())
	return &machine.Mail{To: []string{p.Email}, Subject: subjectLine(n.Sentence(p)), Text: b.String(), Thread: n.Case.GUID}
}
