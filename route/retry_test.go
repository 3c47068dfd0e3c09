package route_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// TestRetry: what a step says of trying again, its defaults, and its faults.
func TestRetry(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		verb, text string
		want       *route.Retry
		faults     string
	}{
		{"exec: {command: x", `{times: 3}`, &route.Retry{Times: 3, Every: time.Minute, Backoff: 1}, ""},
		{"exec: {command: x", `{times: 0, every: PT5M, backoff: 1.5, on: [75, timeout, signal]}`, &route.Retry{Every: 5 * time.Minute, Backoff: 1.5, On: []string{"75", "timeout", "signal"}}, ""},
		{"http: {url: 'https://h.example/'", `{times: 1, on: [503, network]}`, &route.Retry{Times: 1, Every: time.Minute, Backoff: 1, On: []string{"503", "network"}}, ""},
		{"mail: {to: [starter]", `null`, nil, ""},
		{"exec: {command: x", `{times: 3.0, on: [75.0]}`, &route.Retry{Times: 3, Every: time.Minute, Backoff: 1, On: []string{"75"}}, ""},
		{"http: {url: 'https://h.example/'", `{times: 1e1, on: [5.03e2]}`, &route.Retry{Times: 10, Every: time.Minute, Backoff: 1, On: []string{"503"}}, ""},
		{"call: {name: x", `{times: 1, on: []}`, &route.Retry{Times: 1, Every: time.Minute, Backoff: 1}, ""},
		{"exec: {command: x", `{}`, nil, "/times required"},
		{"exec: {command: x", `{times: -1, every: PT0S, backoff: 0.5, on: [0, timeuot, 1.5]}`, nil, "/times range, /every range, /backoff range, /on/0 range, /on/1 range, /on/2 range"},
		{"exec: {command: x", `{times: 1, every: P8D, on: [256]}`, nil, "/every range, /on/0 range"},
		{"http: {url: 'https://h.example/'", `{times: 1, on: [75]}`, nil, "/on/0 range"},
		{"exec: {command: x", `{times: 1, on: [exit, network, status, interrupted]}`, nil, "/on/1 range, /on/2 range"},
		{"http: {url: 'https://h.example/'", `{times: 1, on: [status, timeout, network, exit, signal, interrupted]}`, nil, "/on/3 range, /on/4 range, /on/5 range"},
		{"mail: {to: [starter]", `{times: 1, on: [timeout, network, exit, 75, status]}`, nil, "/on/2 range, /on/3 range, /on/4 range"},
		{"call: {name: x", `{times: 1, on: [exit, network, 3]}`, &route.Retry{Times: 1, Every: time.Minute, Backoff: 1, On: []string{"exit", "network", "3"}}, ""},
		{"exec: {command: x", `{times: 1, tries: 2}`, nil, "/tries unknown-field"},
	} {
		r, _, err := route.Parse("test", readYAML(t, "states: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init, to: b, sideEffects: [{"+test.verb+", retry: "+test.text+"}}]}}"))
		var faults []string
		if e, ok := errors.AsType[*errs.Error](err); ok {
			for _, f := range e.Faults {
				_, at, _ := strings.Cut(f.Pointer, "/retry")
				faults = append(faults, at+" "+string(f.Code))
			}
		}
		if got := strings.Join(faults, ", "); got != test.faults {
			t.Errorf("%s: faults %s (%v), want %s", test.text, got, err, test.faults)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(test.want, r.Actions[0].SideEffects[0].Outside.Retry); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}
