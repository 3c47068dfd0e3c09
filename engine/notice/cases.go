package notice

import (
	"fmt"
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/internal/link"
)

// mostCasesOfOne is how many of the cases of one event, and of their tasks, a service is told of
// one by one.
const mostCasesOfOne = 100

// lateFile is the path of the file with what is wrong in the cases that its reader sees.
const lateFile = "/dav/Workflow/Status/late.txt"

// offeredFolder is the path of the folder with what its reader can do.
const offeredFolder = "/dav/Workflow/Worklist/Offered/"

// CaseLine is one of several cases that a service is told of at once.
type CaseLine struct {
	ID    int64  `json:"id"`    // its number
	Title string `json:"title"` // of the case
	Route string `json:"route"` // its name
	Text  string `json:"text"`  // the notice of it in a sentence
	Href  string `json:"href"`  // the path of its file
	Page  string `json:"page"`  // the page about it, with the address of the server
}

// line returns the case of a payload.
func (p *Payload) line() CaseLine {
	d := &p.Data
	return CaseLine{ID: d.Case.ID, Title: d.Title, Route: d.Route, Text: d.Text, Href: d.Href, Page: d.Page}
}

// Add makes a payload of one case, or of several, one of several, with the case of another
// notice of the same event. links are those of the server.
func (p *Payload) Add(other *Payload, links link.Base) {
	d := &p.Data
	if d.Count == 0 {
		d.Cases, d.Count = []CaseLine{p.line()}, 1
		p.Type = "cases" + p.Type[len("case"):]
		d.Case, d.XAttrs, d.Trouble, d.Acts, d.Over = nil, nil, nil, []ActData{}, nil
		d.Href, d.URL, d.Page = lateFile, links.To(lateFile), links.To(latePage)
		if d.Kind == KindTask {
			d.Href, d.URL, d.Page = offeredFolder, links.To(offeredFolder), links.To("/tasks")
		}
	}
	d.Count++
	if len(d.Cases) < mostCasesOfOne {
		d.Cases = append(d.Cases, other.line())
	}
	d.Title = fmt.Sprintf("%d cases", d.Count)
	d.Text = machine.OneLine(fmt.Sprintf("%s: %s", crowdCount(d.Kind, d.Count), other.Data.Text))
	if d.Route != other.Data.Route {
		d.Route = ""
	}
	d.Tasks = append(d.Tasks, other.Data.Tasks[:min(len(other.Data.Tasks), mostCasesOfOne-min(mostCasesOfOne, len(d.Tasks)))]...)
	for _, told := range other.Data.People {
		if !slices.ContainsFunc(d.People, func(had PersonData) bool { return had.Name == told.Name }) {
			told.Tasks = []string{}
			d.People = append(d.People, told)
		}
	}
}

// crowdCount says what one event has done to the tasks of that many cases.
func crowdCount(kind Kind, count int) string {
	switch kind {
	case KindTask:
		return fmt.Sprintf("%d tasks wait", count)
	case KindMended:
		return fmt.Sprintf("%d tasks are no longer without those who can do them", count)
	case KindReminder, KindAct, KindOutcome, KindOverdue, KindFailure:
	}
	return fmt.Sprintf("%d tasks cannot be done", count)
}
