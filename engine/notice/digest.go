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
	var b strings.Builder
	count := fmt.Sprintf("%d notices", len(mails))
	if len(mails) == 1 {
		count = "1 notice"
	}
	fmt.Fprintf(&b, "%s since your last digest:\n\n", count)
	for _, d := range mails {
		fmt.Fprintf(&b, "  %s  %s\n", p.When(d.Time), d.Mail.Subject)
	}
	for _, d := range mails {
		fmt.Fprintf(&b, "\n--------------------------------------------------------------------\n%s, %s\n\n%s", d.Mail.Subject, p.When(d.Time), d.Mail.Text)
	}
	return &machine.Mail{Subject: subjectLine(count + ": " + mails[len(mails)-1].Mail.Subject), Text: b.String()}
}
