package notice

import (
	"fmt"
	"net/url"

	"flowdrive/engine/machine"
)

// RouteChange is that a user has stored a route over the version of another.
type RouteChange struct {
	Route    string
	Version  int64 // that is stored now
	Replaced int64 // that the recipient had stored
	By       string
}

// routeChangeMail tells the last author of a route that somebody else has changed it.
func (n *Notice) routeChangeMail(p *Person) *machine.Mail {
	c := n.RouteChange
	l := &letter{
		Subject: fmt.Sprintf("Changed by %s: the route %s", c.By, c.Route),
		Opening: fmt.Sprintf("%s has stored version %d of the route %s. It takes the place of version %d, which you had stored.", c.By, c.Version, c.Route, c.Replaced),
	}
	folder := "/dav/Workflow/Routes/" + url.PathEscape(c.Route)
	l.link("The route", n.Links.Route(c.Route))
	l.link("Your version on the drive", n.Links.To(fmt.Sprintf("%s/Versions/%d.json", folder, c.Replaced)))
	l.Closing = append(l.Closing, "Look whether what you had changed is still in it: the page of the route compares versions, and so does flowdrive route diff. "+n.choose())
	return l.mail(p, "route "+c.Route)
}
