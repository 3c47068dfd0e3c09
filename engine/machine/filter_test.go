package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

const filterRoute = `
states: {a: {type: start}, b: {type: complete}}
actions:
  begin: {trigger: init}
  go: {in: [a], allowed: everyone, to: b, onFire: [{set: {n: 2}}, {jq: {from: InputMessage, filter: ".x + $xattr.n", to: sum}}, {jq: {from: sum, filter: "[.]", to: OutputMessage}}]}
`

// TestFilter: what a filter yields is a fact; one filter may use what another
// made.
func TestFilter(t *testing.T) {
	t.Parallel()
	r := parsed(t, filterRoute)
	in := Input{Route: r, Now: startOfTests(), Event: Create{}, Case: &Case{ID: 7, GUID: strings.Repeat("0", 32), Title: "T", Context: "sam", Starter: "sam"}}
	for _, event := range []Event{Create{}, Start{}} {
		in.Event = event
		out, needs, err := Decide(in)
		if err != nil || len(needs) > 0 {
			t.Fatal(needs, err)
		}
		in.Case = out.Case
	}
	in.Event = Perform{Action: "go", Actor: Actor{Name: "sam", Contexts: []string{"everyone"}}}
	const about = `{"id":7,"title":"T","status":"a","starter":"sam","created":"2012-11-09T12:34:56Z","version":2}`
	first := Filter{Filter: ".x + $xattr.n", Input: `{"x": 1}`, Xattr: `{"n":2}`, Case: about}
	second := Filter{Filter: "[.]", Input: "3", Xattr: `{"n":2}`, Case: about}
	wants := func(want ...Need) {
		t.Helper()
		out, needs, err := Decide(in)
		if diff := cmp.Diff(want, needs); diff != "" || out != nil || err != nil {
			t.Fatalf("needs (-want +got):\n%s%v", diff, err)
		}
	}
	refused := func(want string) {
		t.Helper()
		if _, needs, err := Decide(in); !errs.Is(err, errs.RouteFault) || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v %v, want %s", needs, err, want)
		}
	}
	wants(Need{Message: "InputMessage"})
	for content, want := range map[string]string{"": "is empty: the case was given no input", "no": "is not JSON"} {
		in.Facts.Messages = map[string][]byte{"InputMessage": []byte(content)}
		refused(want)
	}
	in.Facts.Messages["InputMessage"] = nil
	refused(`there is no message "InputMessage"`)
	in.Facts.Messages["InputMessage"] = []byte(`{"x": 1}`)
	in.Facts.Room = new(int64(1 << 20))
	wants(Need{Filter: first})
	in.Facts.Filtered = map[Filter]Filtered{first: {Fault: "it is wrong"}}
	refused("The route is at fault: jq: it is wrong.")
	in.Facts.Filtered[first] = Filtered{Output: []byte("3")}
	wants(Need{Filter: second})
	in.Facts.Filtered[second] = Filtered{Output: []byte("[3]")}
	out, needs, err := Decide(in)
	if err != nil || len(needs) > 0 {
		t.Fatal(needs, err)
	}
	want := []NewMessage{{"sum", "application/json", []byte("3")}, {"OutputMessage", "application/json", []byte("[3]")}}
	if diff := cmp.Diff(want, out.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// TestFiltersAreBounded: each may cost a second.
func TestFiltersAreBounded(t *testing.T) {
	t.Parallel()
	r := parsed(t, "states: {a: {type: start}, b: {}}\nactions:\n  begin: {trigger: init}\n  go: {in: [a], allowed: everyone, onFire: ["+
		strings.Repeat("{jq: {from: InputMessage, filter: ., to: out}},", maxFilters+1)+"]}\n")
	c := &Case{
		ID: 7, GUID: strings.Repeat("0", 32), Title: "T", Context: "sam", Starter: "sam", Life: Active, Status: "a", LastNumber: 1,
		Enabled: []Enabled{{Number: 1, Action: "go", State: Offered}},
	}
	in := Input{Route: r, Now: startOfTests(), Case: c, Event: Perform{Action: "go", Actor: Actor{Name: "sam", Contexts: []string{"everyone"}}}}
	in.Facts.Messages = map[string][]byte{"InputMessage": []byte("1")}
	in.Facts.Filtered, in.Facts.Room = map[Filter]Filtered{}, new(int64(1<<20))
	for {
		_, needs, err := Decide(in)
		if err != nil {
			if !errs.Is(err, errs.RouteFault) || !strings.Contains(err.Error(), "more than 10 filters") {
				t.Errorf("got %v", err)
			}
			return
		}
		if len(needs) != 1 || len(in.Facts.Filtered) > maxFilters {
			t.Fatalf("needs %v", needs)
		}
		in.Facts.Filtered[needs[0].Filter] = Filtered{Output: []byte("1")}
	}
}
