package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// askScenario returns the form that stores the scenario beside a route, nil if nobody asks
// for it. The drive plays it before it is stored.
func (x editorDrawing) askScenario(name string, r *route.Route, stored *routeScenario) (*asking, error) {
	if x.asked() != "scenario" {
		return nil, nil
	}
	text, file := firstScenario(r), scenarioFile(name, stored)
	if stored != nil {
		body, err := x.read(file)
		if err != nil {
			return nil, err
		}
		text = string(body)
	}
	a := asking{
		Do: "scenario", Title: "Scenario", Submit: "Play and store", Cancel: pageOfRoute(name), Post: pageOfRoute(name),
		Text:   "It says how a case goes. It is played in a sandbox of its own, and stored if it holds. From then on no version of the route is stored with which it breaks.",
		Hidden: []hidden{{"file", file}},
		Fields: []*field{{Name: "text", Label: "Text of the scenario", Kind: "source", Value: text}},
	}
	out := x.asks(a, storeScenario)
	if out.Curl != "" {
		out.Curl = x.curlLines([]driveRequest{{Method: http.MethodPut, Path: file, File: file[strings.LastIndexByte(file, '/')+1:]}})
	}
	return out, nil
}

// scenarioFile returns the path of the scenario beside a route.
func scenarioFile(name string, stored *routeScenario) string {
	if stored != nil {
		return stored.Href
	}
	return routeFolder + "/" + url.PathEscape(name) + ".scenario.yaml"
}

// storeScenario stores the scenario beside a route.
func storeScenario(x *visit, v url.Values) (*act, error) {
	name := x.r.PathValue("name")
	file := routeFolder + "/" + url.PathEscape(name) + ".scenario.yaml"
	if strings.HasSuffix(v.Get("file"), ".json") {
		file = strings.TrimSuffix(file, ".yaml") + ".json"
	}
	return &act{
		requests: []driveRequest{{Method: http.MethodPut, Path: file, Body: []byte(v.Get("text"))}},
		to:       pageOfRoute(name), done: said("The scenario holds, and is stored."),
	}, nil
}

// firstScenario returns a scenario with which one can begin: a case that is started with
// what the route needs.
func firstScenario(r *route.Route) string {
	var needs []string
	for i := range r.Xattrs {
		x := &r.Xattrs[i]
		if x.Required && x.Default == nil {
			needs = append(needs, strconv.Quote(x.Key)+": "+sampleOf(x))
		}
	}
	start := "{title: An example}"
	if len(needs) > 0 {
		start = "{title: An example, xattrDict: {" + strings.Join(needs, ", ") + "}}"
	}
	text := "title: How a case begins\nas: admin\nsteps:\n  - start: " + start + "\n"
	if r.Init >= 0 && r.Init < len(r.Actions) && r.Actions[r.Init].Past != "" {
		text += "    expect: {log: [" + strconv.Quote(r.Actions[r.Init].Past) + "]}\n"
	}
	return text
}

// sampleOf returns a value that an XATTR takes.
func sampleOf(x *route.Xattr) string {
	switch {
	case x.Date:
		return `"2030-01-31"`
	case x.Type == document.Bool:
		return "true"
	case x.Type == document.Number && x.Minimum != nil:
		return strconv.FormatFloat(*x.Minimum, 'f', -1, 64)
	case x.Type == document.Number && x.Maximum != nil:
		return strconv.FormatFloat(*x.Maximum, 'f', -1, 64)
	case x.Type == document.Number:
		return "1"
	}
	return `"text"`
}
