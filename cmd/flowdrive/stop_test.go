package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	api "flowdrive/client"
	"flowdrive/docs"
	"flowdrive/engine"
	"flowdrive/server"
)

func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	failure := errors.New("a failure")
	for name, test := range map[string]struct {
		signal time.Duration // when the server is told to stop; 0: never
		ending time.Duration // when no more requests are served; 0: never
		ended  time.Duration // when everything has ended
		want   error
		took   time.Duration
	}{
		"by itself":                {ended: time.Hour, want: failure, took: time.Hour},
		"in time":                  {signal: 1, ending: 15 * time.Second, ended: 15*time.Second + endTimeout - 1, want: failure, took: 15*time.Second + endTimeout - 1},
		"deliveries do not end":    {signal: 1, ending: 15 * time.Second, ended: time.Hour, want: errNotEnded, took: 15*time.Second + endTimeout},
		"requests do not end":      {signal: 1, ended: time.Hour, want: errNotEnded, took: 1 + stopTimeout},
		"the listener has failed":  {ending: 1, ended: time.Hour, want: errNotEnded, took: 1 + endTimeout},
		"told to stop when it has": {signal: 2, ending: 1, ended: time.Hour, want: errNotEnded, took: 1 + endTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended, ending := make(chan error, 1), make(chan struct{})
				for _, event := range []struct {
					after time.Duration
					f     func()
				}{{test.signal, cancel}, {test.ending, func() { close(ending) }}, {test.ended, func() { ended <- failure }}} {
					if event.after > 0 {
						defer time.AfterFunc(event.after, event.f).Stop()
					}
				}
				begun := time.Now()
				if err := awaitEnd(ctx, ended, ending); !errors.Is(err, test.want) || time.Since(begun) != test.took {
					t.Errorf("%v after %v; want %v after %v", err, time.Since(begun), test.want, test.took)
				}
			})
		})
	}
}

// TestExitCodes: errors have the exit codes that the manual tells. Those of start --wait are tried
// in client.txtar.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	problem := func(status int, codes ...string) error {
		p := &api.Problem{Status: status}
		for _, code := range codes {
			p.Faults = append(p.Faults, api.Fault{Code: code})
		}
		return fmt.Errorf("start: %w", p)
	}
	returned := map[int]bool{0: true, 3: true, 4: true, 5: true, exitInterrupted: true}
	for _, test := range []struct {
		err  error
		want int
	}{
		{problem(400), 1},
		{problem(400, "not-found"), 7},
		{problem(401), 6},
		{problem(403), 6},
		{problem(404), 7},
		{problem(409), 8},
		{problem(410), 7},
		{problem(412), 8},
		{problem(413), 1},
		{problem(422, "required"), 1},
		{problem(422, "not-found", "required"), 1},
		{problem(422, "not-found"), 7},
		{problem(423), 8},
		{problem(429), 6},
		{problem(500), 1},
		{problem(503), 9},
		{newRefusal(404, "there is no user"), 7},
		{newRefusal(409, "there is one already"), 8},
		{&api.UnreachableError{Err: errors.New("refused")}, 9},
		{configError{errors.New("a setting")}, 78},
		{errors.New("a failure"), 1},
		{usageError{errors.New("a flag")}, 2},
		{usageError{configError{errors.New("the value of a flag")}}, 78},
		{fmt.Errorf("%w: %w", errNotChecked, configError{errors.New("a setting")}), 2},
		{errors.Join(server.ErrRequestsCut, fmt.Errorf("2 %w", server.ErrRequestsLeft)), 75},
		{errors.Join(errors.New("a failure"), errNotEnded), 75},
		{fmt.Errorf("requests %w: 2", server.ErrRequestsCut), 75},
		{errors.Join(fmt.Errorf("deliveries %w: 1", engine.ErrDeliveriesCut)), 75},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%v: %d; want %d", test.err, got, test.want)
		}
		returned[test.want] = true
	}
	manual, err := fs.ReadFile(docs.Files(), "commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, told, _ := strings.Cut(string(manual), "## Exit codes\n")
	told, _, _ = strings.Cut(told, "\n## ")
	said := map[int]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(told, -1) {
		code, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		said[code] = true
	}
	if diff := cmp.Diff(returned, said); diff != "" {
		t.Errorf("exit codes (-returned +in the manual):\n%s", diff)
	}
}
