package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// script is a drive that answers what the test says, by "METHOD path"; what
// it does not say succeeds without a word.
type script map[string]Answer

func (s script) do(_ context.Context, r Request) (*Answer, error) {
	key := r.Method + " " + r.Path
	if a, ok := s[key+" "+string(r.Body)]; ok {
		return &a, nil
	}
	if a, ok := s[key]; ok {
		if a.Status == 0 {
			return nil, errors.New("the drive is gone")
		}
		return &a, nil
	}
	return &Answer{Status: 204}, nil
}

const (
	caseAt   = "/dav/Workflow/Cases/7"
	emptyLog = `{"id":7,"route":"r","title":"T","state":"active","status":"open","children":[{"id":8},{"id":9}],"childrenCount":2,"warnings":[]}`
)

func ok(body string) Answer { return Answer{Status: 200, Body: []byte(body)} }

// listing is a folder of labels.
func listing(labels ...string) Answer {
	b := []byte(`<D:multistatus xmlns:D="DAV:"><D:response><D:href>` + caseAt + `/Labels/</D:href></D:response>`)
	for _, label := range labels {
		b = fmt.Appendf(b, "<D:response><D:href>%s/Labels/%s</D:href></D:response>", caseAt, label)
	}
	return Answer{Status: 207, Body: append(b, "</D:multistatus>"...)}
}

func problem(status int, kind, detail string) Answer {
	return Answer{Status: status, Body: fmt.Appendf(nil, `{"type":"urn:flowdrive:problem:%s","detail":%q}`, kind, detail)}
}

// stage is a drive on which the case 7 can be started, with two children.
func stage(more script) script {
	s := script{
		"PUT /dav/Workflow/Cases/new.json": {Status: 201, Location: caseAt + ".json"},
		"GET " + caseAt + ".json":          ok(emptyLog),
		"GET " + caseAt + "/log.txt":       ok("one\ntwo"),
		"GET /dav/Workflow/Cases/8.json":   ok(`{"id":8,"route":"c","title":"T (ann)","state":"active","status":null,"children":[],"childrenCount":0}`),
		"GET /dav/Workflow/Cases/9.json":   ok(`{"id":9,"route":"c","title":"T (joann)","state":"active","status":null,"children":[],"childrenCount":0}`),
		"GET /clock":                       ok(`{"now":"2026-01-01T00:00:00Z"}`),
	}
	for key, a := range more {
		s[key] = a
	}
	return s
}

func played(t *testing.T, drive script, steps string) (*Report, error) {
	t.Helper()
	s, err := Parse([]byte("users: [sam]\nas: sam\nsteps:\n- start: {}\n" + steps))
	if err != nil {
		t.Fatal(err)
	}
	return Play(t.Context(), drive.do, s, []Route{{File: "r.yaml", Name: "r", Source: []byte("x")}})
}

// TestWrongAnswerIsAFailureWithItsPlace: what a drive answers that is not as told is a failure with its
// place; what is no answer of a drive ends it.
func TestWrongAnswerIsAFailureWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		drive script
		steps string
		want  string // a failure or error, or the end of the log
	}{
		"the log": {nil, "", "  case 9 c \"T (joann)\": active\n"},
		"a child by its number": {
			script{"PUT /dav/Workflow/Cases/9/Actions/x.json": problem(403, "not-allowed", "no")},
			"- {perform: x, child: 2, refused: not-allowed}\n", "joann",
		},
		"a child by its title": {
			script{"PUT /dav/Workflow/Cases/8/Actions/x.json": problem(403, "not-allowed", "no")},
			"- {perform: x, child: T (ann), refused: not-allowed}\n", "joann",
		},
		"a child by what two have": {nil, "- {perform: x, child: ann}\n", `5:23 /steps/1/child: there is not exactly one child "ann"; there are "T (ann)", "T (joann)"`},
		"a child too many":         {nil, "- {perform: x, child: [1, 1]}\n", `there is not exactly one child "1"; there are none`},
		"a card": {
			script{"MOVE /dav/Workflow/Routes/r/Board/open/7.json": {Status: 409, Body: []byte(`<?xml version="1.0"?><D:error xmlns:D="DAV:"><F:ambiguous-move xmlns:F="urn:flowdrive:problem:"/><D:responsedescription>no</D:responsedescription></D:error>`)}},
			"- {move: closed, refused: ambiguous-move}\n- {move: closed}\n", "6:3 /steps/2: is refused (ambiguous-move): no",
		},
		"no card":                {script{"GET " + caseAt + ".json": ok(strings.Replace(emptyLog, `"open"`, "null", 1))}, "- {move: closed}\n", "/steps/1: the case has no status"},
		"what is no problem":     {script{"PUT " + caseAt + "/Actions/x.json": {Status: 502, Body: []byte("<html>")}}, "- {perform: x}\n", "error: step 2: PUT " + caseAt + "/Actions/x.json: 502 <html>"},
		"no drive":               {script{"PUT " + caseAt + "/Actions/x.json": {}}, "- {perform: x}\n", "error: step 2: the drive is gone"},
		"who may not start":      {script{"PUT /dav/Workflow/Cases/new.json": problem(422, "invalid", `1:10 /route: there is no route "r"`)}, "", `/steps/0: is refused (invalid): sam may not start a case of "r": its access.start names neither sam nor a team of sam`},
		"what nobody has stored": {script{`PUT /dav/Workflow/Cases/new.json {"route":"s"}`: problem(422, "invalid", `1:10 /route: there is no route "s"`)}, "- start: {route: s}\n", `there is no route "s"`},
		"no case":                {script{"PUT /dav/Workflow/Cases/new.json": {Status: 201, Location: "/elsewhere"}}, "", `error: step 1: a case was started, but not at "/elsewhere"`},
		"a case that goes":       {script{"GET " + caseAt + ".json": problem(404, "not-found", "no")}, "- {check: true, expect: {state: active}}\n", "/steps/1/expect: the case 7 is gone"},
		"a user that cannot be":  {script{"PUT /dav/Admin/Users/sam.json": problem(422, "invalid", "bad name")}, "", "error: the user sam: bad name"},
		"a route that cannot be": {script{"PUT /dav/Workflow/Routes/r.yaml": problem(422, "invalid", "bad route")}, "", "error: r.yaml: bad route"},
		"a clock that stops on its way": {
			script{`POST /clock {"advance":"P1D"}`: ok(`{"now":"2026-01-01T12:00:00Z","complete":false}`), `POST /clock {"set":"2026-01-02T00:00:00Z"}`: ok(`{"complete":true}`)},
			"- {advance: P1D}\n", "joann",
		},
		"no clock":             {script{"GET /clock": problem(404, "not-found", "no")}, "- {advance: P1D}\n", "error: step 2: the drive has no clock"},
		"a log that differs":   {nil, "- {check: true, expect: {log: [two, one]}}\n", `/steps/1/expect/log/1: the log does not say "one" there; it ends there`},
		"a log that says else": {nil, "- {check: true, expect: {log: [three]}}\n", `there; it says "one", "two"`},
		"an order of names":    {script{"GET " + caseAt + "/Actions/x.json": ok(`{"state":"offered","assignees":["b","a"]}`)}, "- {check: true, expect: {assignees: {x: [a, b]}, tasks: {x: offered}}}\n", "joann"},
		"a worklist": {
			script{"GET /dav/Workflow/Worklist/Offered/.contents": ok(`[{"case":7,"action":"x"},{"case":8,"action":"y"}]`)},
			"- {check: true, expect: {worklist: {sam: []}}}\n", `/steps/1/expect/worklist/sam: want [], but it is ["x"`,
		},
		"a message": {
			script{"GET " + caseAt + "/Labels/a": ok("  text\n"), "GET " + caseAt + "/Labels/b": ok(`{"n":[1,{"x":null}]}`), "GET " + caseAt + "/Labels/c": problem(404, "not-found", "")},
			"- {check: true, expect: {messages: {a: text, b: {n: [1.0, {x: null, y: null}]}, c: null}}}\n", "joann",
		},
		"what was sent": {
			script{
				"PROPFIND " + caseAt + "/Labels/":      listing("a", "Outbox-12-1", "Outbox-9-2", "Outbox-9-1", "Outbox-x"),
				"GET " + caseAt + "/Labels/Outbox-9-1": ok(`{"kind":"mail","to":["a","b"],"text":"x"}`), "GET " + caseAt + "/Labels/Outbox-9-2": ok(`{"kind":"exec"}`), "GET " + caseAt + "/Labels/Outbox-12-1": ok(`{"kind":"call"}`),
			},
			"- {check: true, expect: {sent: [{kind: mail, to: [b, a]}, {kind: exec}, {kind: call, name: x}]}}\n", `/steps/1/expect/sent/2/name: want "x", but there is none`,
		},
		"nothing was sent":  {script{"PROPFIND " + caseAt + "/Labels/": listing("a")}, "- {check: true, expect: {sent: []}}\n", "joann"},
		"too much was sent": {script{"PROPFIND " + caseAt + "/Labels/": listing("Outbox-1-1"), "GET " + caseAt + "/Labels/Outbox-1-1": ok("{}")}, "- {check: true, expect: {sent: []}}\n", `/steps/1/expect/sent: want [], but it is [{}]`},
		"no listing":        {nil, "- {check: true, expect: {sent: []}}\n", "error: step 2: PROPFIND " + caseAt + "/Labels/ answers 204"},
		"an odd listing":    {script{"PROPFIND " + caseAt + "/Labels/": {Status: 207, Body: []byte("<")}}, "- {check: true, expect: {sent: []}}\n", "error: step 2: PROPFIND " + caseAt + "/Labels/: "},
		"a warning": {
			script{"GET " + caseAt + ".json": ok(strings.Replace(emptyLog, `"warnings":[]`, `"warnings":[{"text":"too late"}]`, 1))},
			"- {check: true, expect: {warnings: [early]}}\n", `/steps/1/expect/warnings/0: want "early", but it is {"text":"too late"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drive := script{}
			for _, path := range []string{"Offered", "Accepted"} {
				drive["GET /dav/Workflow/Worklist/"+path+"/.contents"] = ok("[]")
			}
			for key, a := range test.drive {
				drive[key] = a
			}
			report, err := played(t, stage(drive), test.steps)
			got := ""
			switch {
			case err != nil:
				got = "error: " + err.Error()
			case len(report.Failures) > 0:
				for _, f := range report.Failures {
					got += f.String() + "\n"
				}
			default:
				got = report.Log
			}
			if !strings.Contains(got, test.want) || err == nil != !strings.HasPrefix(test.want, "error: ") {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestRoutesAreStoredInTheOrderOfTheirNeeds: routes are stored in whichever order they need each other.
func TestRoutesAreStoredInTheOrderOfTheirNeeds(t *testing.T) {
	t.Parallel()
	var stored []string
	known := map[string]bool{}
	drive := func(_ context.Context, r Request) (*Answer, error) {
		needs, _, _ := strings.Cut(string(r.Body), ";")
		if needs != "" && !known[needs] {
			a := problem(422, string(errs.Invalid), "there is no route "+needs)
			return &a, nil
		}
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(r.Path, "/dav/Workflow/Routes/"), ".yaml"), ".json")
		known[name] = true
		stored = append(stored, name+" "+r.Type+" by "+r.User)
		return &Answer{Status: 201}, nil
	}
	p := &play{drive: drive}
	routes := []Route{{"a.yaml", "a", []byte("b;")}, {"b.json", "b", []byte("c;")}, {"c.yml", "c", []byte(";")}}
	if err := p.store(t.Context(), "sam", routes); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(stored, ", "); got != "c application/yaml by sam, b application/json by sam, a application/yaml by sam" {
		t.Errorf("got %s", got)
	}
	err := p.store(t.Context(), "sam", []Route{{"d.yaml", "d", []byte("e;")}, {"e.yaml", "e", []byte("d;")}})
	if err == nil || !strings.Contains(err.Error(), "d.yaml: there is no route e") || !strings.Contains(err.Error(), "e.yaml: there is no route d") {
		t.Errorf("got %v", err)
	}
}
