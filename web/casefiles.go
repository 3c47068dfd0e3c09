package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
)

// caseFile is a file that is attached to a case.
type caseFile struct {
	attachmentForm
	Href  string
	Bytes string
}

// caseFiles is how many files of a case its page lists; the folder has all.
const caseFiles = 20

// attachPath returns the path of a file that is attached to a case.
func attachPath(id, name string) string {
	return "/attachfs/" + url.PathEscape(id) + "/" + url.PathEscape(name)
}

// casePage is the page of a case. A file that is sent with its form is attached to it.
func casePage() page {
	g := page{pattern: "/cases/{id}", query: []string{"log", "after", "open", "do", "timer"}, draw: drawCase, forms: caseForms(), fields: commandFields()}
	g.post = func(x *visit) error {
		return takeFile(x, g, fileTaker{
			request: func(name string) driveRequest {
				return driveRequest{Method: http.MethodPut, Path: attachPath(x.r.PathValue("id"), name), File: name}
			},
			lost: "is not attached.",
		})
	}
	return g
}

// attachFile tells of the file that came with the form and has been attached.
func attachFile(_ *visit, v url.Values) (*act, error) {
	if v.Get(inputField) == "" {
		return nil, fieldMissing(inputField, "Choose a file.")
	}
	return &act{done: said(v.Get(inputNameField) + " is attached.")}, nil
}

// filesOf adds the files that are attached to the case, and what is asked before another is.
func (x caseDrawing) filesOf(v *caseView, d *engine.CaseDetail) error {
	id := strconv.FormatInt(v.ID, 10)
	var files []attachmentForm
	if err := x.readJSON("/attachfs/"+id+"/.contents?limit="+strconv.Itoa(caseFiles), &files); err != nil {
		return err
	}
	for _, f := range files {
		v.Files = append(v.Files, caseFile{f, "/attachfs/view/" + f.UUID, sizeOf(f.Size)})
	}
	if d.Archived != 0 {
		return nil
	}
	v.AttachAt = x.with("do", "attach", "open", "", "timer", "") + "#ask"
	if x.asked() != "attach" {
		return nil
	}
	v.Attach = x.asks(asking{
		Do: "attach", Title: "Attach a file", Text: "All who see the case see the file.", Submit: "Attach", Cancel: v.Post, Post: v.Post,
		File: &fileField{Name: inputField, ID: "attach-" + inputField, Label: "File", Hint: "Drop it here, or choose it."},
	}, attachFile)
	if x.sentTo("attach") {
		v.Attach.File.Fault = x.refused.Of(inputField)
	}
	v.Attach.Curl = x.curlLines([]driveRequest{{Method: http.MethodPut, Path: attachPath(id, "FILE"), File: "FILE"}})
	return nil
}

// watchOf adds whether the reader watches the route of the case, if the reader sees it.
func (x caseDrawing) watchOf(v *caseView, c *machine.Case) error {
	if !slices.Contains(x.Queries.RouteNames(x.by), c.RouteName) {
		return nil
	}
	v.Watch = "watch"
	if watches(x.Queries.Watched(x.by), c.RouteName) {
		v.Watch = "unwatch"
	}
	a, err := watchRoute(x.visit, c.RouteName, v.Watch == "watch")
	if err != nil {
		return err
	}
	v.WatchCurl = x.curlLines(a.requests)
	return nil
}

func watches(watched []string, route string) bool {
	return slices.ContainsFunc(watched, func(name string) bool { return strings.EqualFold(name, route) })
}

// watchCase makes the form that has the reader watch the route of the case, or no longer.
func watchCase(on bool) form {
	return func(x *visit, _ url.Values) (*act, error) {
		view, err := caseOfPage(x)
		if err != nil {
			return nil, err
		}
		return watchRoute(x, view.Case.RouteName, on)
	}
}

// watchRoute is the request that has the reader watch a route, or no longer.
func watchRoute(x *visit, route string, on bool) (*act, error) {
	watched := slices.DeleteFunc(slices.Clone(x.Queries.Watched(x.by)), func(name string) bool { return strings.EqualFold(name, route) })
	text := fmt.Sprintf("You are not told of the cases of %s any more.", route)
	if on {
		watched = append(watched, route)
		text = fmt.Sprintf("You are told of all cases of %s that you may see.", route)
	}
	return &act{requests: []driveRequest{put("/dav/Account/me.json", []member{{"watch", list(watched)}})}, done: said(text)}, nil
}
