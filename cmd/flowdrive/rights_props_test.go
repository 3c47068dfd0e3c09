package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// propertyRights says what each actor is told about a property that is set:
// the status of the request, or within its answer.
const propertyRights = `
#                                                   adm own mem pla sta dep str nob
/dav/Documents/owner/plans/hall.txt color         | 403 200 404 404 404 404 404 401
/dav/Documents/owner/plans/ color                 | 403 200 404 404 404 404 404 401
/dav/Documents/ops/rates/day.csv color            | 403 404 200 404 404 404 404 401
/dav/Documents/everyone/ color                    | 200 403 403 403 403 403 403 401
/dav/Documents/ color                             | 403 403 403 403 403 403 403 401
/dav/Workflow/README.txt color                    | 403 403 403 403 403 403 403 401
/dav/Workflow/Routes/desk.yaml color              | 403 403 403 403 404 404 404 401
/dav/Workflow/Cases/{case}.json color             | 403 403 403 403 403 403 404 401
/dav/Workflow/Cases/{case}.json xattr_plain       | 200 200 403 403 403 403 404 401
/dav/Workflow/Cases/{case}/ xattr_plain           | 200 200 403 403 403 403 404 401
/dav/Workflow/Cases/{given}@sam.json xattr_amount | 200 200 403 200 403 403 404 401
/dav/Workflow/Cases/{case}.json xattr_sealed      | 200 200 403 403 403 403 404 401
/dav/Workflow/Cases/{gone}.json xattr_plain       | 403 403 403 403 403 403 404 401
`

// TestRightsToProperties: who may set a property.
func TestRightsToProperties(t *testing.T) {
	t.Parallel()
	f := furnishForAll(t)
	for line := range strings.Lines(propertyRights) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		request, answers, _ := strings.Cut(line, "|")
		words, want := strings.Fields(request), strings.Fields(answers)
		f.open(t, func(s *inProcess) {
			for i, actor := range actors() {
				r := &right{method: "PROPPATCH", path: words[0], body: fmt.Sprintf(
					`<propertyupdate xmlns="DAV:"><set><prop><%s xmlns="http://www.opengroupware.us/oie">%d</%[1]s></prop></set></propertyupdate>`, words[1], 5+i)}
				w := s.ask(actor, r, f.names)
				got := fmt.Sprint(w.Code)
				if w.Code == http.StatusMultiStatus {
					_, after, _ := strings.Cut(w.Body.String(), "<D:status>HTTP/1.1 ")
					got = after[:3]
				}
				if got != want[i] {
					t.Errorf("%s as %s: got %s, want %s: %s", words[0], actor, got, want[i], w.Body)
				}
			}
		})
	}
}
