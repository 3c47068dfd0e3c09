package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/server"
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
}

// TestSettingsTakenAway: nobody is told each day for ever of what is not in the settings any
// more. What is in them is not forgotten.
func TestSettingsTakenAway(t *testing.T) {
	t.Parallel()
	set, unset := &answerWatch{ask: func(context.Context) error { return nil }}, &answerWatch{}
	noted := func(a *app) (parts []engine.ServerPart) {
		a.told = newServerWatch(zerolog.Nop())
		a.forgetUnset()
		for len(a.told.parts) > 0 {
			p := <-a.told.parts
			if p.text != "" {
				t.Errorf("%s: %s", p.of, p.text)
			}
			parts = append(parts, p.of)
		}
		return parts
	}
	none := &app{}
	none.answers.store, none.answers.provider, none.answers.directory = unset, unset, unset
	want := []engine.ServerPart{engine.ServerBackup, engine.ServerHeartbeat, engine.ServerCertificate, engine.ServerStore, engine.ServerSignOn, engine.ServerDirectory}
	if diff := cmp.Diff(want, noted(none)); diff != "" {
		t.Errorf("without settings (-want +got): %s", diff)
	}
	all := &app{backups: &backups{}, heart: &heartbeat{}, certificate: &server.Certificate{}}
	all.answers.store, all.answers.provider, all.answers.directory = set, set, set
	if got := noted(all); len(got) > 0 {
		t.Errorf("with settings: %v", got)
	}
}
