package notice

import (
	"fmt"
	"net/url"

	"flowdrive/engine/machine"
)

func (h *Hook) title() string { return fmt.Sprintf("the hook %s of %s", h.Name, h.Route) }

func (h *Hook) path() string {
	return fmt.Sprintf("/dav/Workflow/Routes/%s/Hooks/%s.json", url.PathEscape(h.Route), url.PathEscape(h.Name))
}

// hookMail says that requests to a hook are refused because of the hook, or work again.
func (n *Notice) hookMail(p *Person) *machine.Mail {
	t := n.Trouble
	l := &letter{Subject: n.Sentence(p), Detail: p.text(t.Text)}
	since := p.When(t.Since)
	switch {
	case n.Kind == KindMended && t.Over == EndDeleted:
		l.Opening = fmt.Sprintf("%s was deleted%s. Since %s requests to it had been refused:", upperFirst(n.Hook.title()), byWhom(t.By), since)
	case n.Kind == KindMended && n.Hook.Sender:
		l.Opening = fmt.Sprintf("Requests to %s are not refused any more as they were since %s:", n.Hook.title(), since)
	case n.Kind == KindMended:
		l.Opening = fmt.Sprintf("%s can take requests again. Since %s it could not:", upperFirst(n.Hook.title()), since)
	case t.Again:
		l.Opening = fmt.Sprintf("Requests to %s have been refused since %s:", n.Hook.title(), since)
	case n.Hook.Sender:
		l.Opening = fmt.Sprintf("A request to %s was refused, and nothing was done with it:", n.Hook.title())
	default:
		l.Opening = fmt.Sprintf("Requests to %s are refused, though those who send them do nothing wrong:", n.Hook.title())
	}
	if t.Over != EndDeleted {
		l.link("The route", n.Links.Route(n.Hook.Route))
		l.link("The hook on the drive", n.Links.To(n.Hook.path()))
	}
	if n.Kind != KindMended && n.Hook.Sender {
		l.Closing = append(l.Closing, "Look at what sends it. Who knows the address of the hook can bring this about; the audit log has from where requests came.")
	}
	if n.Kind != KindMended {
		l.Closing = append(l.Closing, "You are told of it once a day until it is over, and once when it is.")
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, fmt.Sprintf("hook %d", n.Hook.ID))
}

func byWhom(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}
