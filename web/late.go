package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/engine/status"
)

// latePages is the page of what is late.
func latePages() []page { return []page{{pattern: "/late", draw: drawLate}} }

// lateView is what late.html shows.
type lateView struct {
	Lede   string
	Groups []lateGroup
	More   bool
	Others []otherRow
	Untold string
}

// otherRow is something that is wrong outside of the cases.
type otherRow struct {
	About, Path, Text string
	Since             template.HTML
}

// lateGroup is what is late in the same way.
type lateGroup struct {
	ID, Title, Do string
	Count         string
	States        bool // the rows say more of their state than the title does
	Rows          []lateRow
}

// lateRow is something that is late, or has failed.
type lateRow struct {
	Case  int64
	Title string
	What  string
	Who   string
	Since template.HTML
	State mark
	Text  string
	Mend  anchor // what the reader can do about it; Href "": nothing
}

// drawLate shows what Status/late.txt says.
func drawLate(x *visit) error {
	late, err := x.Queries.Late(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	late.Zone = status.Zone{Location: x.Words.zone}
	v := &lateView{More: late.More, Untold: late.Untold, Lede: "Nothing is late, and nothing has failed."}
	if len(late.Items)+len(late.Others) > 0 {
		v.Lede = ledeOfLate(late)
	}
	for _, kind := range []struct {
		kind      status.LateKind
		title, do string
		state     mark
	}{
		{status.LateEscalated, "Could not be done by the server", "Open the case: mend the cause and try again, or skip it.", mark{"bad", "escalated", "Escalated"}},
		{status.LateFailed, "Failed cases", "Open the case to see why. The route's administrators can start it again or cancel it.", mark{"bad", "failed", "Failed"}},
		{status.LateOverdue, "Overdue", "Those who have the task can do it or hand it on. The route's administrators can set another date.", mark{"bad", "late", "Overdue"}},
		{status.LateWarning, "Warnings", "The case says what is warned of.", mark{"warn", "warn", "Warning"}},
	} {
		g := lateGroup{ID: string(kind.kind), Title: kind.title, Do: kind.do, States: kind.kind == status.LateOverdue}
		for i := range late.Items {
			item := &late.Items[i]
			if item.Kind != kind.kind {
				continue
			}
			row := lateRow{Case: item.Case, Title: item.Title, What: item.What, State: kind.state, Text: x.Words.Instants(machine.OneLine(item.Text)), Mend: mendOf(item)}
			row.Since = x.Words.Time(item.Since, x.Words.Moment(item.Since))
			if item.Kind == status.LateOverdue {
				row.State.Text = x.Words.Over(item.Since)
			}
			var who []string
			for _, party := range item.Who {
				who = append(who, x.caseDrawing().partyText(party))
			}
			row.Who = joined(who)
			g.Rows = append(g.Rows, row)
		}
		if g.Count = many(len(g.Rows)); len(g.Rows) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	for i := range late.Others {
		o := &late.Others[i]
		v.Others = append(v.Others, otherRow{o.About(), o.Path, late.Says(o), x.Words.Time(o.Since, x.Words.Moment(o.Since))})
	}
	const path = "/dav/Workflow/Status/late"
	return x.draw("late.html", head{Title: "Late", Nav: "late", Path: path + ".txt", JSON: path + ".json"}, v)
}

// mendOf returns where the reader can do something about what is late: the form on the page
// of its case.
func mendOf(item *status.LateItem) anchor {
	at := fmt.Sprintf("/cases/%d?", item.Case)
	switch item.May {
	case status.LateMayPerform:
		return anchor{Label: item.What, Href: at + url.Values{"open": {item.Action}}.Encode() + "#todo"}
	case status.LateMayRetry:
		return anchor{Label: "Try again…", Href: at + url.Values{"do": {"retry"}, "open": {item.Action}}.Encode() + "#todo"}
	case status.LateMayDate:
		return anchor{Label: "Another date…", Href: at + url.Values{"do": {"timer"}, "timer": {item.Action + ".due"}}.Encode() + "#ask"}
	case status.LateMayStart:
		return anchor{Label: "Try again…", Href: at + "do=restart#ask"}
	case status.LateMayResume:
		return anchor{Label: "Resume…", Href: at + "do=resume#ask"}
	case status.LateMayNothing:
	}
	return anchor{}
}

// ledeOfLate says how much is late.
func ledeOfLate(late *status.Late) string {
	var parts []string
	for _, one := range []struct {
		kind status.LateKind
		text string
	}{
		{status.LateEscalated, "that the server could not do"},
		{status.LateFailed, "failed"},
		{status.LateOverdue, "overdue"},
		{status.LateWarning, "with a warning"},
	} {
		if n := late.Count(one.kind); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.text))
		}
	}
	if n := len(late.Others); n > 0 {
		parts = append(parts, fmt.Sprintf("%d outside of cases", n))
	}
	return strings.Join(parts, ", ") + "."
}
