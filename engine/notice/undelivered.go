package notice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/link"
)

// Undelivered are notices that a person did not get by mail.
type Undelivered struct {
	Count    int                 `json:"count"`
	Subjects []UndeliveredNotice `json:"subjects"` // the last of them
}

// UndeliveredNotice is one of them.
type UndeliveredNotice struct {
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
}

// mostUndelivered is how many of them are remembered.
const mostUndelivered = 50

// Add adds one.
func (u *Undelivered) Add(subject string, written time.Time) {
	u.Count++
	u.Subjects = append(u.Subjects, UndeliveredNotice{written, subject})
	slices.SortStableFunc(u.Subjects, func(a, b UndeliveredNotice) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Subject, b.Subject))
	})
	u.Subjects = u.Subjects[max(0, len(u.Subjects)-mostUndelivered):]
}

// Letter tells the person, whose mailbox takes mails again, what did not get through.
func (u *Undelivered) Letter(p *Person, links link.Base) *machine.Mail {
	l := &letter{Subject: fmt.Sprintf("%d notices were not delivered to you", u.Count), Opening: "These notices could not be delivered to you for a day, or were refused, and were given up:"}
	if u.Count == 1 {
		l.Subject, l.Opening = "A notice was not delivered to you", "This notice could not be delivered to you for a day, or was refused, and was given up:"
	}
	for i := range u.Subjects {
		l.Facts = append(l.Facts, machine.Fact{Title: p.When(u.Subjects[i].Time), Text: u.Subjects[i].Subject})
	}
	if more := u.Count - len(u.Subjects); more > 0 {
		l.Closing = append(l.Closing, fmt.Sprintf("And %d before these.", more))
	}
	l.link("What you have to do", links.To("/"))
	l.link("What is late", links.To(latePage))
	l.Closing = append(l.Closing, "They are not sent again. What is still wrong is told once a day.")
	return l.mail(p, "undelivered")
}
