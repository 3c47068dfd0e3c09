package web

import (
	"slices"

	"flowdrive/engine"
)

// FirstSteps is how far a server is that is new.
type FirstSteps struct {
	People bool // there is somebody beside by, and somebody who is asked by the examples
	Came   bool // somebody else is logged in to the pages
	Cases  int  // how many there are, as far as they are counted: two are many
	Team   bool // the team of the examples is there
}

// firstView is what administrators are shown instead of an empty list while the server is
// new.
type firstView struct {
	FirstSteps
	Curl   string
	Routes []anchor // of which a case can be started
	All    int
}

// exampleTeam is the team that most of the examples ask.
const exampleTeam = "core"

// firstRun returns what is to be done on a server that is new; nil if it is not, or if it is
// not for by to do.
func (x taskDrawing) firstRun(v *tasksView) (*firstView, error) {
	if !x.by.Admin() || v.List != engine.WorklistOffered || v.Filter {
		return nil, nil
	}
	steps, err := x.Queries.FirstSteps(x.r.Context(), x.by)
	if err != nil || steps.Cases > 1 {
		return nil, err
	}
	f := &firstView{FirstSteps: steps}
	user := put(adminPath+"Users/ann.json", []member{text("fullName", "Ann Lindqvist"), text("password", secretShown)})
	team := put(adminPath+"Teams/"+exampleTeam+".json", []member{{"members", list([]string{"ann"})}})
	f.Curl = x.curlLines([]driveRequest{user, team})
	names := slices.DeleteFunc(x.Queries.RouteNames(x.by), func(name string) bool { return !x.Queries.MayStart(x.by, name) })
	f.All = len(names)
	for _, easy := range []string{"bug", "expense", "tip", "article"} {
		if slices.Contains(names, easy) {
			f.Routes = append(f.Routes, anchor{Label: easy, Href: pageOfRoute(easy) + "/start"})
		}
	}
	return f, nil
}
