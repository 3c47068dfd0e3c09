package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"flowdrive/engine"
)

// TestStoreOfContentsIsAway: administrators are told once of a store that does not
// answer for longer than a minute, and once when it does again; /readyz has it meanwhile.
func TestStoreOfContentsIsAway(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var away error
	errOther := errors.New("no")
	var noted []string
	w := &answerWatch{
		part: engine.ServerStore, name: "contents: the store",
		ask: func(context.Context) error { return away },
		why: func(err error) string {
			if errors.Is(err, errOther) {
				return "it refuses"
			}
			return "it does not answer as it should"
		},
		log: zerolog.New(&log),
		note: func(part engine.ServerPart, text string) {
			noted = append(noted, string(part)+": "+text)
		},
	}
	for _, step := range []struct {
		name  string
		away  error
		noted []string
		says  string
	}{
		{"at the start it is known to be well", nil, []string{"contents-store: "}, ""},
		{"it is well", nil, nil, ""},
		{"one answer is missing", errors.New("connection refused"), nil, ""},
		{"it is well again", nil, []string{"contents-store: "}, ""},
		{"one answer is missing again", errors.New("connection refused"), nil, ""},
		{"and another one", errors.New("connection refused"), []string{"contents-store: it does not answer as it should"}, "it does not answer as it should"},
		{"it stays away", errors.New("connection refused"), nil, "it does not answer as it should"},
		{"something else is wrong", errOther, []string{"contents-store: it refuses"}, "it refuses"},
		{"it answers", nil, []string{"contents-store: "}, ""},
	} {
		noted, away = nil, step.away
		w.look(t.Context())
		if diff := cmp.Diff(step.noted, noted); diff != "" {
			t.Errorf("%s (-want +got): %s", step.name, diff)
		}
		if got := w.says(); got != step.says {
			t.Errorf("%s: it says %q, want %q", step.name, got, step.says)
		}
	}
	if n := strings.Count(log.String(), "connection refused"); n != 1 {
		t.Errorf("why is said %d times:\n%s", n, log.String())
	}
	noted, w.ask = nil, nil
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"contents-store: "}, noted); diff != "" {
		t.Errorf("if the settings have it no more (-want +got): %s", diff)
	}
}
