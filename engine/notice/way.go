package notice

import (
	"fmt"
	"strings"

	"flowdrive/engine/machine"
)

// MailServer is the ID of the way that all mails go.
const MailServer = "mail"

// Mailbox returns the ID of the way to the mailbox with that address.
func Mailbox(address string) string { return MailServer + " " + address }

// AddressOf returns the address of the mailbox with that ID.
func AddressOf(id string) string { return strings.TrimPrefix(id, MailServer+" ") }

// Is reports whether the way is the destination, whose own failure it is not told.
func (w *Way) Is(d *Destination) bool { return w != nil && w.ID == d.ID }

// IsMailTo reports whether a mail to that address goes the way.
func (w *Way) IsMailTo(address string) bool {
	return w != nil && (w.ID == MailServer || w.ID == Mailbox(address))
}

// waySentence says that a way of telling people fails, or works again.
func (n *Notice) waySentence() string {
	what := upperFirst(n.Way.what())
	switch {
	case n.Trouble.Over == EndPassed:
		return what + " are not sent any more: " + n.Way.Name
	case n.Kind == KindMended:
		return what + " arrive again: " + n.Way.Name + n.Way.lost()
	case n.Trouble.Again:
		return what + " still do not arrive: " + n.Way.Name
	}
	return what + " do not arrive: " + n.Way.Name
}

// tellsItself reports whether a service is told that it works again: that there were notices
// which it did not get.
func (n *Notice) tellsItself() bool {
	return n.Way != nil && n.Kind == KindMended && n.Trouble.Over == EndMended && n.Way.Lost > 0 && !n.Way.Heartbeat
}

// IsNewsOfItself reports whether the notice is about the destination, and not for it.
func (n *Notice) IsNewsOfItself(d *Destination) bool { return n.Way.Is(d) && !n.tellsItself() }

// lost says how many were given up.
func (w *Way) lost() string {
	switch {
	case w.Lost == 0 || w.Heartbeat:
		return ""
	case w.Lost == 1:
		return " (one was given up)"
	}
	return fmt.Sprintf(" (%d were given up)", w.Lost)
}

// what says what goes the way.
func (w *Way) what() string {
	if w.Heartbeat {
		return "heartbeats"
	}
	return "notices"
}

// wayMail tells an administrator that people and services are not told any more, or
// are told again.
func (n *Notice) wayMail(p *Person) *machine.Mail {
	l := &letter{Subject: n.Sentence(p)}
	since, what := p.When(n.Trouble.Since), n.Way.what()
	switch {
	case n.Trouble.Over == EndPassed:
		l.Opening = fmt.Sprintf("No user gets mails at %s any more, as changed%s. It had refused them since %s:", strings.TrimPrefix(n.Way.Name, "the mailbox "), byWhom(n.Trouble.By), since)
		l.Detail = n.Trouble.Text
	case n.Kind == KindMended:
		l.Opening = upperFirst(n.Way.Name) + " takes " + what + " again. It did not since " + since + "."
	default:
		l.Opening = upperFirst(n.Way.Name) + " has not taken " + what + " since " + since + ":"
		l.Detail = n.Trouble.Text
	}
	if n.Way.Lost > 0 {
		l.Closing = append(l.Closing, fmt.Sprintf("%s that were given up meanwhile: %d. They are not sent again.", upperFirst(what), n.Way.Lost))
	}
	switch {
	case n.Kind == KindMended:
	case n.Way.Heartbeat:
		l.Closing = append(l.Closing, "The next case of the schedule entry calls it again. You are told again once a day as long as it refuses, and once when it works again.")
	default:
		l.Closing = append(l.Closing, "What has not been given up is tried again for a day. You are told again once a day as long as notices are refused, and once when it works again.")
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, "way "+n.Way.ID)
}
