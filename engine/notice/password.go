package notice

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
)

// Password is an app password that ends soon.
type Password struct {
	ID    int64
	Label string
	Ends  time.Time
	Used  time.Time // the last time, zero for never
}

// passwordMail tells the owner of an app password that it ends soon.
func (n *Notice) passwordMail(p *Person) *machine.Mail {
	s := n.Password
	l := &letter{
		Subject: fmt.Sprintf("Ends %s: the app password %s", p.When(s.Ends), s.Label),
		Opening: fmt.Sprintf("Your app password %q ends %s. What uses it is refused from then on.", s.Label, p.When(s.Ends)),
	}
	used := "It was never used."
	if !s.Used.IsZero() {
		used = "It was used last " + p.When(s.Used) + ", give or take an hour."
	}
	l.Closing = append(l.Closing, used+" If it is still needed, make another one and put that into the device or program. If not, nothing needs to be done.")
	l.link("Your app passwords", n.Links.To("/mount"))
	l.Closing = append(l.Closing, "You are told a week and a day before. "+n.choose())
	return l.mail(p, fmt.Sprintf("app password %d", s.ID))
}
