package web

import (
	"fmt"
	"net/url"

	"flowdrive/engine"
	"flowdrive/route"
	"flowdrive/route/diagram"
)

// tabsOfRoute returns the pages about a route, beside each other. current is the last part
// of the address, "" for the overview. A route without states has no board.
func tabsOfRoute(r *route.Route, current string) []tab {
	page, of := pageOfRoute(r.Name), "?route="+url.QueryEscape(r.Name)
	tabs := []tab{{Label: "Overview", Href: page, Current: current == ""}}
	if r.Model != route.Dependency {
		tabs = append(tabs, tab{Label: "Board", Href: page + "/board", Current: current == "board"})
	}
	tabs = append(tabs, tab{Label: "Cases", Href: "/cases" + of}, tab{Label: "Schedule", Href: "/schedule" + of})
	for _, one := range [][2]string{{"Report", "report"}, {"Versions", "versions"}, {"Access", "access"}} {
		tabs = append(tabs, tab{Label: one[0], Href: page + "/" + one[1], Current: current == one[1]})
	}
	return tabs
}

// casesOfRoute returns the address of the list of cases of a route, of a state if that is
// not "".
func casesOfRoute(r *route.Route, state string) string {
	if state == "" {
		return "/cases?route=" + url.QueryEscape(r.Name)
	}
	life := "active"
	if i := r.State(state); i >= 0 && i < len(r.States) && r.States[i].Complete {
		life = "ended"
	}
	return "/cases?route=" + url.QueryEscape(r.Name) + "&state=" + life + "&status=" + url.QueryEscape(state)
}

// marksOfCounts returns what a picture of a route shows of its cases, with links to lists.
func marksOfCounts(p *diagram.Picture, r *route.Route, counts *engine.StateCounts) *diagram.Marks {
	m := &diagram.Marks{Counts: map[string]diagram.Count{}}
	for name, n := range counts.States {
		m.Counts[name] = diagram.Count{Cases: n.Cases, Late: n.Late, More: !counts.All, Href: casesOfRoute(r, name)}
	}
	m.Text = diagram.Sentences(p.Graph())
	if words := diagram.CountWords(p.Graph(), m.Counts); words != "" {
		m.Text += " " + words
	}
	return m
}

// wordsOfCounts says how many cases of a route its reader sees.
func wordsOfCounts(c *engine.StateCounts) string {
	switch {
	case c.Open+c.Ended == 0:
		return "No case yet"
	case c.All && c.Ended == 0:
		return plural(c.Open, "open case")
	case c.All:
		return fmt.Sprintf("%s, %d ended", plural(c.Open, "open case"), c.Ended)
	}
	return fmt.Sprintf("%s and %d that have ended, among the newest", plural(c.Open, "open case"), c.Ended)
}
