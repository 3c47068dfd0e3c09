package notice

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
)

// Deputy is that a user is to stand in for another, or is not any more.
type Deputy struct {
	For      string // whom, as people are called
	From, To time.Time
	Ended    bool   // before To
	By       string // who did it, if it was not the absent user
}

// deputyMail tells a user from when until when they are a deputy. The end of that time is
// told with its beginning, and not again.
func (n *Notice) deputyMail(p *Person) *machine.Mail {
	d := n.Deputy
	l := &letter{Subject: "You stand in for " + d.For}
	l.Opening = fmt.Sprintf("You are to stand in for %s from %s to %s%s. In that time the tasks of %s are on your worklist, too, and you perform them on their behalf.", d.For, p.When(d.From), p.When(d.To), byWhom(d.By), d.For)
	if d.Ended {
		l.Subject = "You do not stand in for " + d.For + " any more"
		l.Opening = fmt.Sprintf("You do not stand in for %s any more%s. It was to be until %s. The tasks of %s leave your worklist.", d.For, byWhom(d.By), p.When(d.To), d.For)
	} else {
		l.Closing = append(l.Closing, "The log says for whom you acted. You are told if it ends earlier.")
	}
	l.link("Your tasks", n.Links.To("/"))
	l.Closing = append(l.Closing, n.choose())
	return l.mail(p, "deputy for "+d.For)
}
