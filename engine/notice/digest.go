package notice

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/machine"
)

// Digested is a mail that goes in a digest.
type Digested struct {
	Time time.Time // when it was written
	Mail *machine.Mail
}

// Digest returns one mail of several, in their order: what was told and when, then
// each of them. It has no addresses.
func Digest(mails []Digested, p *Person) *machine.Mail {
	count := fmt.Sprintf("%d notices", len(mails))
	if len(mails) == 1 {
		count = "1 notice"
	}
	return together(mails, p, count, count+" since your last digest:")
}

// StillWrong returns one mail of several that tell a person what is still wrong. It has
// no addresses.
func StillWrong(mails []Digested, p *Person) *machine.Mail {
	count := fmt.Sprintf("%d things are still wrong", len(mails))
	return together(mails, p, count, count+":")
}

// together returns one mail of several. Its subject begins with what they are, and its
// text with the opening.
func together(mails []Digested, p *Person, what, opening string) *machine.Mail {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", opening)
	for _, d := range mails {
		fmt.Fprintf(&b, "  %s  %s\n", p.When(d.Time), d.Mail.Subject)
	}
	for _, d := range mails {
		fmt.Fprintf(&b, "\n--------------------------------------------------------------------\n%s, %s\n\n%s", d.Mail.Subject, p.When(d.Time), d.Mail.Text)
	}
	return &machine.Mail{Subject: subjectLine(what + ": " + mails[len(mails)-1].Mail.Subject), Text: b.String()}
}
