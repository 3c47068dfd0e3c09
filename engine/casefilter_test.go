package engine_test

import (
	"fmt"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// TestCaseFilters: cases are found by warnings, by XATTRs, and by dates; canceled ones
// only if they are asked for.
func TestCaseFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	w.as("admin").mustPutRoute("timed", routeTimers)
	one := sam.startCase(`{"route": "timed", "title": "One", "xattrDict": {"Customer": "Meyer & Co", "amount": 12.5, "paid": true}}`)
	w.advance(60 * time.Hour) // to 2012-11-12, 00:34
	two := sam.startCase(`{"route": "timed", "title": "Two", "xattrDict": {"customer": "Smith"}}`)
	find := func(f engine.Filter) string { return names(w.Cases.Cases(t.Context(), sam.by(), f)) }
	xattr := func(key, value string) engine.Filter {
		return engine.Filter{Xattrs: []engine.XattrFilter{{Key: key, Value: value}}}
	}
	first, second := fmt.Sprint(one), fmt.Sprint(two)
	for what, c := range map[string]struct {
		f    engine.Filter
		want string
	}{
		"all":                 {engine.Filter{}, first + " " + second},
		"a text":              {xattr("customer", "Meyer & Co"), first},
		"a number":            {xattr("amount", "12.5"), first},
		"a boolean":           {xattr("paid", "true"), first},
		"another value":       {xattr("customer", "meyer"), ""},
		"another key":         {xattr("nothing", ""), ""},
		"two of them":         {engine.Filter{Xattrs: []engine.XattrFilter{{Key: "customer", Value: "Meyer & Co"}, {Key: "paid", Value: "false"}}}, ""},
		"warnings":            {engine.Filter{Warnings: true}, first},
		"created on a day":    {engine.Filter{CreatedFrom: "2012-11-09", CreatedTo: "2012-11-09"}, first},
		"created from":        {engine.Filter{CreatedFrom: "2012-11-12"}, second},
		"created to":          {engine.Filter{CreatedTo: "2012-11-12T00:34:55Z"}, first},
		"created to a second": {engine.Filter{CreatedTo: "2012-11-12 00:34:56"}, first + " " + second},
		"modified":            {engine.Filter{ModifiedFrom: "2012-11-11", ModifiedTo: "2012-11-11"}, first},
	} {
		same(t, what, find(c.f), c.want)
	}
	_, err := w.Cases.Cases(t.Context(), sam.by(), engine.Filter{CreatedFrom: "yesterday"})
	w.refused(err, errs.BadParameter)
	if err := sam.deleteCase(first + ".json"); err != nil {
		t.Fatal(err)
	}
	same(t, "without canceled ones", find(engine.Filter{}), second)
	same(t, "canceled ones", find(engine.Filter{State: "canceled"}), first)
}
