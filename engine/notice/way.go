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

// Is reports whether the way is the destination, whose own failure it is not told.
func (w *Way) Is(d *Destination) bool { return w != nil && w.ID == d.ID }

// IsMailTo reports whether a mail to that address goes the way.
func (w *Way) IsMailTo(address string) bool {
	return w != nil && (w.ID == MailServer || w.ID == Mailbox(address))
}

// waySentence says that a way of telling people fails, or works again.
func (n *Notice) waySentence() string {
	if n.Kind == KindMended {
		return "Notices arrive again: " + n.Way.Name
	}
	return "Notices do not arrive: " + n.Way.Name
}

// wayMail tells an administrator that people and services are not told any more, or
// are told again.
func (n *Notice) wayMail(p *Person) *machine.Mail {
	var b strings.Builder
	since := p.When(n.Trouble.Since)
	if n.Kind == KindMended {
		fmt.Fprintf(&b, "%s takes notices again. It did not since %s.\n\n", upperFirst(n.Way.Name), since)
	} else {
		fmt.Fprintf(&b, "%s has not taken notices since %s:\n\n  %s\n\n", upperFirst(n.Way.Name), since, machine.OneLine(n.Trouble.Text))
	}
	if n.Way.Lost > 0 {
		fmt.Fprintf(&b, "Notices that were given up meanwhile: %d. They are not sent again.\n\n", n.Way.Lost)
	}
	if n.Kind != KindMended {
		b.WriteString("What has not been given up is tried again for a day. There is no further mail\nabout it until it works again.\n\n")
	}
	b.WriteString("You get this because you are an administrator.\n")
	return &machine.Mail{To: []string{p.Email}, Subject: subjectLine(n.Sentence(p)), Text: b.String(), Thread: "way " + n.Way.ID}
}
