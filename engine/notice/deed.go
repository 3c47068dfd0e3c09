package notice

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
)

// Deed is what somebody did by which a schedule entry of other people starts no more
// cases, or starts them again.
type Deed struct {
	What  DeedKind
	Actor string    // who did it, by the name to log in with
	By    string    // the same as people are called
	Said  string    // the reason that was given, "" for none
	Next  time.Time // when the entry fires next, or would have; zero: not known
	Due   bool      // what it has missed fires now
	Held  *Held     // of a hold: what it is about
}

// DeedKind says what was done.
type DeedKind string

// What is done to schedule entries.
const (
	DeedPaused   DeedKind = "Paused"
	DeedResumed  DeedKind = "Resumed"
	DeedDeleted  DeedKind = "Deleted"
	DeedHeld     DeedKind = "Held back"
	DeedReleased DeedKind = "No longer held back"
)

// Held is what an administrator holds back, as far as it is one person's.
type Held struct {
	Hold    string      // its name
	About   string      // in words: "the route nightly"
	Entries []HeldEntry // the first of them
	Count   int         // all of them
}

// title names the entries in a subject.
func (h *Held) title() string {
	title := h.Entries[0].Title
	switch h.Count {
	case 1:
		return title
	case 2:
		return title + " and another schedule entry"
	}
	return fmt.Sprintf("%s and %d other schedule entries", title, h.Count-1)
}

// list adds the entries to a letter, and how many there are beside those that are listed.
func (h *Held) list(l *letter, next func(*HeldEntry) string) {
	for i := range h.Entries {
		l.Facts = append(l.Facts, machine.Fact{Title: h.Entries[i].Title, Text: next(&h.Entries[i])})
	}
	if more := h.Count - len(h.Entries); more > 0 {
		l.Closing = append([]string{fmt.Sprintf("And %d more.", more)}, l.Closing...)
	}
}

// HeldEntry is a schedule entry whose cases are held back.
type HeldEntry struct {
	UUID, Title string
	Next        time.Time
}

// deedSentence says in a line what was done.
func (n *Notice) deedSentence() string {
	if h := n.Deed.Held; h != nil {
		return string(n.Deed.What) + ": " + h.title()
	}
	return string(n.Deed.What) + ": " + n.Entry.Title
}

// deedMail tells a person what somebody else did to a schedule entry of theirs.
func (n *Notice) deedMail(p *Person) *machine.Mail {
	d := n.Deed
	l := &letter{Subject: n.Sentence(p), Detail: d.Said}
	var thread string
	if d.Held != nil {
		thread = "hold " + d.Held.Hold
		n.heldLetter(l, p)
	} else {
		thread = n.Entry.UUID
		n.entryDeedLetter(l, p)
	}
	l.Closing = append(l.Closing, fmt.Sprintf("You get this because %s, and it was not you who did it. %s", p.because(), n.choose()))
	return l.mail(p, thread)
}

func (n *Notice) entryDeedLetter(l *letter, p *Person) {
	d, e := n.Deed, n.Entry
	done := fmt.Sprintf("The schedule entry %q was %s%s", machine.OneLine(e.Title), lowerFirst(string(d.What)), byWhom(d.By))
	would := ""
	if !d.Next.IsZero() {
		would = ", and starts no more cases. It would have fired next at " + p.When(d.Next)
	}
	switch d.What {
	case DeedPaused:
		l.Closing = append(l.Closing, `Save {"do": "resume"} to it to have it go on. What it has missed by then is due, as its "misfire" says.`)
	case DeedDeleted:
		l.Closing = append(l.Closing, "Its document lies in .history/ beside the entries of its author; save it again to have the entry back. Cases that it has started are as they were.")
	case DeedResumed:
		would = ""
		if d.Due {
			would = ". What it has missed is due now"
		} else if !d.Next.IsZero() {
			would = ". It fires next at " + p.When(d.Next)
		}
	case DeedHeld, DeedReleased:
	}
	l.Opening = done + would + "."
	l.link("The entry", n.Links.Entry(e.UUID))
	l.link("Its history", n.Links.History(e.UUID))
	if d.What == DeedDeleted {
		l.link("On the drive", n.Links.HistoryFile(e.UUID))
	} else {
		l.link("On the drive", n.Links.EntryFile(e.UUID))
	}
}

func (n *Notice) heldLetter(l *letter, p *Person) {
	d := n.Deed
	entry := "Your schedule entry"
	if d.Held.Count > 1 {
		entry = "These schedule entries"
	}
	if d.What == DeedReleased {
		l.Opening = fmt.Sprintf("%s is no longer held back%s. The cases that waited start now. %s:", upperFirst(d.Held.About), byWhom(d.By), entry)
	} else {
		l.Opening = fmt.Sprintf("%s is held back%s: its cases are created and do not start. %s:", upperFirst(d.Held.About), byWhom(d.By), entry)
		l.Closing = append(l.Closing, "Its cases are queued at their instants, and start when an administrator of the server ends this. You are told when that is.")
	}
	d.Held.list(l, func(e *HeldEntry) string { return "fires next at " + p.When(e.Next) })
	if d.Held.Count == 1 {
		l.link("The entry", n.Links.Entry(d.Held.Entries[0].UUID))
	}
}
