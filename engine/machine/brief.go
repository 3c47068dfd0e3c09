package machine

import (
	"cmp"
	"time"

	"flowdrive/route"
)

// Brief is what a mail tells of a task.
type Brief struct {
	Title       string // of the action, else its name
	Description string
	Outlook     string // what performing it leads to, in sentences
	Due         time.Time
	AcceptBy    time.Time   // zero if it is not offered, or is for as long as it is there
	AcceptFirst bool        // it must be accepted before it is performed
	Limits      []TimeLimit // what happens if nobody does anything
}

// BriefOf returns what is told of an enabled action, false if it is not enabled.
func BriefOf(c *Case, r *route.Route, action string) (b Brief, ok bool) {
	if c.IsDraft() {
		return Brief{Title: DraftTitle(c, r), Outlook: "The case starts with the file that was dropped.", Due: c.Draft.Ends}, action == DraftAction
	}
	i := r.Action(action)
	if i == unknown {
		return b, false
	}
	a := &r.Actions[i]
	for place := range c.Enabled {
		e := &c.Enabled[place]
		if e.Action != action {
			continue
		}
		b = Brief{Title: cmp.Or(a.Title, a.Name), Description: a.Description, Outlook: outlook(c, r, a), AcceptFirst: a.MustAccept && e.State == Offered}
		b.Due, b.AcceptBy = e.Dates()
		b.Limits = TimeLimits(c, r, action)
		return b, true
	}
	return b, false
}

// Fact is an XATTR of a case as people know it.
type Fact struct {
	Name  string `json:"name"`  // of the XATTR
	Title string `json:"title"` // its title in the route, else its name
	Text  string `json:"text"`  // its value, for people
}

// FactsOf returns the XATTRs of a case that its route declares and that are set, in
// the order of the declarations.
func FactsOf(c *Case, r *route.Route) (facts []Fact) {
	for i := range r.Xattrs {
		x := &r.Xattrs[i]
		if v, set := c.Xattrs.Get(x.Key); set {
			facts = append(facts, Fact{Name: x.Key, Title: cmp.Or(x.Title, x.Key), Text: v.Text})
		}
	}
	return facts
}
