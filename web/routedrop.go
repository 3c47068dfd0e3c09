package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"flowdrive/internal/errs"
)

// routePage is the page of a route. A file that is sent with its form goes into the drop folder
// of the route, and so starts a case.
func routePage() page {
	g := page{
		pattern: "/routes/{name}", query: []string{"do"}, draw: drawRoute,
		forms:  map[string]form{"delete": deleteRoute, "scenario": storeScenario, "drop": dropOnRoute},
		fields: map[string]string{"delete": "force? sure", "scenario": "text file", "drop": inputField + " " + inputNameField},
	}
	g.post = func(x *visit) error {
		return takeFile(x, g, fileTaker{
			request: func(name string) driveRequest { return dropRequest(x.r.PathValue("name"), name) },
			lost:    "is not taken, and no case is started.",
			made:    caseOfDrop,
		})
	}
	return g
}

// dropRequest is the request that drops a file into the folder of a route.
func dropRequest(route, file string) driveRequest {
	return driveRequest{Method: http.MethodPut, Path: routeFolder + "/" + url.PathEscape(route) + "/" + url.PathEscape(file), File: file}
}

// caseOfDrop returns the number of the case that a drop has started. The drive spells the header
// in a way of its own.
func caseOfDrop(a *driveAnswer) string {
	for name, values := range a.header {
		if strings.EqualFold(name, "X-COILS-WORKFLOW-PROCESS-ID") {
			return strings.Join(values, "")
		}
	}
	return ""
}

// dropForm is the form that starts a case of a route with a file.
func dropForm(x *visit, route string) *asking {
	a := &asking{
		Do: "drop", Title: "Start with a file", Submit: "Start", Post: pageOfRoute(route), Key: x.Key(),
		File: &fileField{Name: inputField, ID: "drop-" + inputField, Label: "File", Hint: "Drop a file here, or choose it. It becomes the input of a new case."},
	}
	if x.sentTo(a.Do) {
		a.Refused, a.File.Fault = x.refused, x.refused.Of(inputField)
	}
	a.Curl = x.curlLines([]driveRequest{dropRequest(route, "FILE")})
	return a
}

// dropOnRoute leads to the case that the file has started that came with the form.
func dropOnRoute(_ *visit, v url.Values) (*act, error) {
	id, err := strconv.ParseInt(v.Get(inputField), 10, 64)
	if err != nil {
		return nil, fieldMissing(inputField, "Choose a file.")
	}
	if id <= 0 {
		return nil, errs.New(errs.BadParameter, "%s is not the number of a case.", v.Get(inputField))
	}
	return &act{to: "/cases/" + strconv.FormatInt(id, 10), done: said("A case was made with " + v.Get(inputNameField) + ".")}, nil
}
