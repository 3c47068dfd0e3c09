package notice

import "flowdrive/engine/machine"

// Server is a part of the server that a notice is about.
type Server struct {
	Name  string // for programs: "backup"
	Title string // for people: "the automatic backup"
	Hint  string // what mends it, in sentences
	Over  string // what is the case when it is over, in a sentence without its end
}

// StatusPath is the path of the file that says how the server is.
const StatusPath = "/dav/Admin/Status.json"

// latePage is the page that shows what is wrong, to administrators also with the server.
const latePage = "/late"

// serverMail tells an administrator that something is wrong with the server, or that it
// is over.
func (n *Notice) serverMail(p *Person) *machine.Mail {
	t := n.Trouble
	l := &letter{Subject: n.Sentence(p), Detail: p.text(t.Text)}
	since := p.When(t.Since)
	switch {
	case n.Kind == KindMended:
		l.Opening = n.Server.Over + ". What had been wrong with " + n.Server.Title + " since " + since + ":"
	case t.Again:
		l.Opening = "This has been wrong with " + n.Server.Title + " since " + since + ":"
	default:
		l.Opening = "Something is wrong with " + n.Server.Title + ":"
	}
	l.link("What is wrong", n.Links.To(latePage))
	l.link("On the drive", n.Links.To(StatusPath))
	if n.Kind != KindMended {
		l.Closing = append(l.Closing, n.Server.Hint, "You are told of it once a day until it is over, and once when it is.")
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, "server "+n.Server.Name)
}
