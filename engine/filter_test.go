package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route/jq"
)

// filters runs filters in this process, and counts.
type filters struct {
	mu  sync.Mutex
	ran []string
	err error
}

func (f *filters) Filter(_ context.Context, _ identity.ID, job machine.Filter) (machine.Filtered, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran = append(f.ran, job.Filter)
	if f.err != nil {
		return machine.Filtered{}, f.err
	}
	output, err := jq.Run(job.Filter, []byte(job.Input), []byte(job.Xattr), []byte(job.Case))
	if err != nil {
		return machine.Filtered{Fault: err.Error()}, nil
	}
	return machine.Filtered{Output: output}, nil
}

func filterWorld(t *testing.T, f engine.Filters) *world {
	t.Helper()
	w := newWorld(t)
	w.stop()
	w.config = func(cfg *engine.Config) { cfg.Filters = f }
	w.open()
	w.load()
	return w
}

const routeFilter = `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, sorted: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  sort: {trigger: time, timeout: PT1H, in: [open], to: sorted, onFire: [{jq: {from: InputMessage, filter: 'sort | {list: ., by: $case.starter}', to: Sorted}}]}
  count: {in: [open, sorted], allowed: [everyone], to: done, onFire: [{jq: {from: InputMessage, filter: length, to: OutputMessage}}]}
`

// TestFilters: a filter runs once for what a person does and for what time
// does, wherever its case is decided on.
func TestFilters(t *testing.T) {
	t.Parallel()
	f := &filters{}
	w := filterWorld(t, f)
	w.as("admin").mustPutRoute("list", routeFilter)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "list", "input": [3, 1]}`)
	w.advance(time.Hour)
	sam.caseForm(id).wants("status", `"sorted"`)
	same(t, "sorted", sam.content(id, "Sorted"), `{"by":"sam","list":[1,3]}`)
	try(sam.perform(id, "count", `{}`)).must(w, "count")
	same(t, "output", sam.content(id, "OutputMessage"), "2")
	same(t, "filters that ran", strings.Join(f.ran, "; "), "sort | {list: ., by: $case.starter}; length")

	f.ran = nil
	many := 20
	ids := make([]int64, many)
	for i := range ids {
		ids[i] = sam.startCase(fmt.Sprintf(`{"route": "list", "input": [%d, 1]}`, i))
	}
	w.advance(time.Hour)
	for i, id := range ids {
		sam.caseForm(id).wants("status", `"sorted"`)
		same(t, "sorted", sam.content(id, "Sorted"), fmt.Sprintf(`{"by":"sam","list":[%d,%d]}`, min(i, 1), max(i, 1)))
	}
	same(t, "filters that ran", len(f.ran), many)
}

// TestFiltersOfNewCases: a case that is to be has the same identity whenever
// it is decided on, so that filters that see it run once.
func TestFiltersOfNewCases(t *testing.T) {
	t.Parallel()
	f := &filters{}
	w := filterWorld(t, f)
	w.as("admin").mustPutRoute("part", `
access: {start: [], read: []}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  name: {trigger: auto, in: [open], to: done, onFire: [{message: {label: In, value: 1}}, {jq: {from: In, filter: '"part \($case.id) \($xattr.guid)"', to: Name}}]}
`)
	w.as("admin").mustPutRoute("whole", `
access: {start: [everyone], read: [everyone]}
roles: {owner: {assign: [starter], pick: [everyone]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{jq: {from: InputMessage, filter: '"whole \($case.id) \($xattr.guid)"', to: Name}}]}
  parts: {in: [open], child: {route: part, inherit: true}, decide: '"done"', outputs: {done: done}}
`)
	sam := w.as("sam")
	for _, document := range []string{
		`{"route": "whole", "input": 1, "xattrDict": {"guid": "$__GUID__;"}}`,
		`{"route": "whole", "input": 1, "xattrDict": {"guid": "$__GUID__;"}, "roles": {"owner": ["sam"]}}`,
		`{"route": "whole", "input": 1, "xattrDict": {"guid": "$__GUID__;"}, "roles": {"owner": ["ann"]}}`,
	} {
		f.ran = nil
		id := sam.startCase(document)
		same(t, "named", sam.content(id, "Name")[:len(fmt.Sprint("x whole ", id))-1], fmt.Sprintf(`"whole %d`, id))
		sam.caseForm(id).wants("state", `"completed"`, "status", `"done"`)
		same(t, "filters that ran", len(f.ran), 2)
	}
}

// TestFilterFaults: a filter that fails is the route's fault; one that cannot
// be run at the moment changes nothing.
func TestFilterFaults(t *testing.T) {
	t.Parallel()
	f := &filters{}
	w := filterWorld(t, f)
	w.as("admin").mustPutRoute("list", routeFilter)
	sam := w.as("sam")
	id := sam.startCase(`{"route": "list", "input": 3}`)
	w.advance(time.Hour)
	sam.caseForm(id).wants("status", `"open"`)
	w.form(try(w.Cases.Task(t.Context(), sam.by(), id, "sort")).must(w, "the task").Form).wants("state", `"escalated"`)
	text := sam.startCase(`{"route": "list", "input": "plain"}`)
	_, err := sam.perform(text, "count", `{}`)
	w.refused(err, errs.RouteFault)
	sam.caseForm(text).wants("status", `"open"`)

	f.err = errs.New(errs.Unavailable, "no processes")
	id = sam.startCase(`{"route": "list", "input": [1]}`)
	_, err = sam.perform(id, "count", `{}`)
	w.refused(err, errs.Unavailable)
	f.err = nil
	try(sam.perform(id, "count", `{}`)).must(w, "count")

	w = filterWorld(t, nil)
	w.as("admin").mustPutRoute("list", routeFilter)
	sam = w.as("sam")
	id = sam.startCase(`{"route": "list", "input": [1]}`)
	_, err = sam.perform(id, "count", `{}`)
	w.refused(err, errs.RouteFault)
}
