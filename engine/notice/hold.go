package notice

import (
	"fmt"
	"net/url"

	"flowdrive/engine/machine"
)

// Hold is a hold that a notice is about: it keeps cases from starting.
type Hold struct {
	Name  string
	About string // in words: "the route nightly"
	Route string // that it is about, "" if it is about something else
	By    string // who made it, as people are called; "" for nobody
	Said  string // the reason that was given, "" for none
	// Entries are the schedule entries of a recipient that start no cases, and Cases is how
	// many cases wait that the recipient has started. Of an administrator of the server, and
	// of a service, Cases counts all.
	Entries *Held
	Cases   int
	More    bool // there are more cases than were counted
}

// holdPath is the path of the file of a hold.
func (h *Hold) path() string { return "/dav/Admin/Holds/" + url.PathEscape(h.Name) + ".json" }

// holdSentence says in a line that cases are held back, or not any more.
func (n *Notice) holdSentence() string {
	switch {
	case n.Kind == KindMended:
		return "No longer held back: " + n.Hold.About
	case n.Trouble != nil && n.Trouble.Again:
		return "Still held back: " + n.Hold.About
	}
	return "Held back: " + n.Hold.About
}

// waiting says how many cases wait.
func (h *Hold) waiting() string {
	switch {
	case h.Cases == 0:
		return "none so far"
	case h.More:
		return fmt.Sprintf("more than %d", h.Cases)
	}
	return fmt.Sprint(h.Cases)
}

// holdMail tells a person again that cases are held back, or that they are not any more.
func (n *Notice) holdMail(p *Person) *machine.Mail {
	h := n.Hold
	l := &letter{Subject: n.Sentence(p), Detail: h.Said}
	if n.Kind == KindMended {
		l.Opening = fmt.Sprintf("%s is no longer held back%s, as it had been since %s. The cases that waited start now.", upperFirst(h.About), byWhom(n.Trouble.By), p.When(n.Trouble.Since))
		l.Closing = append(l.Closing, "You get this because "+p.because()+".")
		return l.mail(p, "hold "+h.Name)
	}
	l.Opening = fmt.Sprintf("%s has been held back%s since %s: its cases are created and do not start.", upperFirst(h.About), byWhom(h.By), p.When(n.Trouble.Since))
	whose := "Cases of yours that wait"
	if p.Why == machine.ReasonServer {
		whose = "Cases that wait"
		l.link("The holds", n.Links.To("/admin/holds"))
		l.link("On the drive", n.Links.To(h.path()))
		l.Closing = append(l.Closing, fmt.Sprintf("It ends on the page of the holds, or when %s is deleted. With the command line: flowdrive rm %s", n.Links.To(h.path()), h.path()))
	} else {
		l.Closing = append(l.Closing, "An administrator of the server can end it.")
	}
	l.Facts = append(l.Facts, machine.Fact{Title: whose, Text: h.waiting()})
	if h.Entries != nil {
		h.Entries.list(l, func(e *HeldEntry) string { return "fires next at " + p.When(e.Next) })
	}
	l.Closing = append(l.Closing, "You are told of it once a day until it is over, and once when it is.", "You get this because "+p.because()+".")
	return l.mail(p, "hold "+h.Name)
}
