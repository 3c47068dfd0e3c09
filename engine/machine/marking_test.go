package machine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// fullCase has something in every field.
func fullCase() *Case {
	at := startOfTests().Add(123456789 * time.Nanosecond)
	return &Case{
		ID: 1, GUID: "g", RouteID: 2, RouteName: "r", RouteVersion: 3, Title: "T \"ü\" \\ \n \x7f 😀", Life: Active, SuspendedSelf: true, SuspendedUntil: at, StartAt: at, Status: "open",
		ContextID: 4, Context: "c", Starter: "sam", StartedBy: "ann", Priority: -5,
		Roles:        []Players{{Role: "a", Parties: []string{"x", "y"}}, {Role: "b", Parties: []string{"z"}}},
		Stakeholders: []string{"s", "t"},
		Relations:    []Relation{{Name: "follows", Case: 42}, {Name: "partOf", Case: 9}},
		Xattrs:       label.Dict{{Key: "b", Value: label.Value{Kind: document.Bool, Text: "true"}}, {Key: "n", Value: label.Value{Kind: document.Number, Text: "-1.5e3"}}, {Key: "s", Value: label.Text("null")}},
		Enabled: []Enabled{{Number: 6, Action: "a", State: Offered, Since: at, Offer: Offer{By: "x", For: "y", To: "z", Giver: "g", Rejected: []string{"v"}, Withdrew: []string{"w"}}, Votes: []Vote{{By: "x", For: "y", At: at}, {By: "z", At: at}}, Remind: at, Fault: "x", Step: "jq", Unhandled: true}, {Number: 7, Action: "b", State: Running, Since: at, Due: at, AcceptBy: &Timer{Date: at, Expired: true, Fired: at}, DoBy: &Timer{On: true}, FireBy: &Timer{Limit: &route.Limit{Kind: route.RelativeLimit, After: 5}}, Children: &ChildSummary{
			Route: "v", Total: 9, Made: 8, Completed: 3, Canceled: 2, Tally: []Tally{{"yes", 2}, {"no", 1}}, Entered: true, Finished: at,
		}}},
		Timers:     []Timer{{Name: "a", Number: 3, Visit: 2, Limit: &route.Limit{Kind: route.AbsoluteLimit, At: at}}, {Name: "b", Limit: &route.Limit{}}, {}},
		LastNumber: 7, Visit: 8, Done: []string{"d"}, Withdrawn: []string{"w", "x"}, Interrupted: []string{"i"},
		Performed:  []Performed{{Action: "p", Count: 9, By: "sam", For: "bob", At: at, Resolution: "r", Output: "o", Used: 3, Seq: 5, Named: "ann"}, {Action: "q", Count: 1, At: at}},
		Written:    []Written{{Label: "l", Number: 3, By: "sam", At: at}, {Label: "m", At: at}},
		Resolution: "r",
		Warnings:   []Warning{{Timer: "t", Time: at, Text: "w", Enablement: 7}, {Time: at}},
		Outbox:     []Outgoing{{Seq: 1, Step: 2, Verb: "http", Source: "a", Into: "b", At: at, Failed: true, Attempts: 3, Fault: "f", Kind: FailureExit, Code: 4, Unhandled: true, OfError: true, From: "o"}, {At: at}},
		Draft:      &Draft{Ends: at, Remind: at},
		Failing:    true, Remark: &Remark{By: "sam", At: at, Text: "Hello."}, Broken: &Broken{Action: "a", Status: "o"}, Moved: &Moved{Text: "Canceled", By: "sam", At: at},
		Family: Family{
			Parent: 14, ParentEnablement: 15, ParentAction: "p", Depth: 2, Links: 3, Origin: 19, Mapped: []string{"m"},
			Children:      []ChildLine{{ID: 16, Route: "r", Life: Active, Status: "s", Action: "a"}, {}},
			ChildrenCount: 17, AncestorSuspended: true, Work: []Work{{Kind: WorkMake, Enablement: 6, After: 18}, {}},
		},
		LogSeq: 10, Version: 11, Revision: 12, ScheduleUUID: "u", ScheduledFor: at, Iteration: 13, InputName: "i.pdf", LabelZone: "Z", Created: at, Started: at, Modified: at, Completed: at, Ended: at,
	}
}

// TestMarking: it is the JSON of the fields' tags, and comes back exactly.
func TestMarking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*Case{"full": fullCase(), "empty": {}, "seed": seed()} {
		got := c.Marking()
		want, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
		read, err := ReadMarking(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, read); diff != "" {
			t.Errorf("%s (-case +read): %s", name, diff)
		}
	}
}

// TestFullCase has a new field of a case put into fullCase, too.
func TestFullCase(t *testing.T) {
	t.Parallel()
	c := reflect.ValueOf(fullCase()).Elem()
	for _, f := range reflect.VisibleFields(c.Type()) {
		if c.FieldByIndex(f.Index).IsZero() {
			t.Errorf("the case that the codec is tested with has nothing in %s", f.Name)
		}
	}
}

func TestReadMarkingRefuses(t *testing.T) {
	t.Parallel()
	whole := string(fullCase().Marking())
	for _, data := range []string{
		"", "{", "null", "[]", `{"id":1`, `{"id":1}x`, `{"id":1,}`, `{"id"}`, `{"id":}`, `{"id":"1"}`, `{"id":1.5}`, `{"id":01}`, `{"id":+1}`, `{"id":00}`, `{"id":-01}`, `{"id":-}`, `{"id":99999999999999999999}`,
		`{"more":1}`, `{"t":"a`, `{"t":"a\`, "{\"t\":\"\x01\"}", "{\"t\":\"\xff\"}", `{"t":"\q"}`, `{"t":null}`, `{"sh":["a",]}`, `{"sh":["a"`, `{"sh":"a"}`,
		`{"x":{"k":null}}`, `{"x":{"k":[]}}`, `{"x":{"k":1e}}`, `{"x":{"k":tru}}`, `{"cr":"yesterday"}`, `{"cr":"9999-12-31T23:59:59-01:00"}`, `{"e":[{"z":1}]}`,
		`{"r":[{"z":1}]}`, `{"ti":[{"z":1}]}`, `{"ti":[{"on":false}]}`, `{"ti":[{"on":null}]}`, `{"ti":[{"l":{"z":1}}]}`, `{"d":[{"z":1}]}`, `{"w":[{"z":1}]}`, whole[:len(whole)/2], whole + whole,
	} {
		if c, err := ReadMarking([]byte(data)); c != nil || !errs.Is(err, errs.Internal) {
			t.Errorf("%s: read %v, %v", data, c, err)
		}
	}
	indented := strings.NewReplacer(",", " ,\n", ":{", " : {", "[", "[ ", "]", " ]", "{", "{\t", "}", "\r}").Replace(`{"id":1,"sh":[],"x":{},"e":[{"n":1}]}`)
	if c, err := ReadMarking([]byte(" " + indented + "\n")); err != nil || c.ID != 1 || c.Enabled[0].Number != 1 || c.Stakeholders != nil {
		t.Errorf("white space: %v, %v", c, err)
	}
}

func FuzzReadMarking(f *testing.F) {
	f.Add(fullCase().Marking())
	f.Add(seed().Marking())
	f.Add([]byte(`{"t":"\ud800é","x":{"a\n":-0.0E+1},"cr":"2012-11-09T12:34:56.5+01:00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadMarking(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Errorf("no JSON: %s", data)
		}
		again, err := ReadMarking(c.Marking())
		if err != nil {
			t.Fatalf("%v: %s", err, c.Marking())
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("(-first +again): %s", diff)
		}
	})
}
