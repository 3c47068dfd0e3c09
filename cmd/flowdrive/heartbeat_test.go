package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/notify"
)

// TestServerHeartbeat: a sign of life is sent in each interval while the server is well.
// That it is not, and that one is not taken, is said once each.
func TestServerHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &watched{}
		var mu sync.Mutex // held by the test but while time passes
		mu.Lock()
		var noted []string
		var ill, refused error
		sent := 0
		h := &heartbeat{
			every: time.Minute, log: zerolog.New(log),
			well: func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				return ill
			},
			send: func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				sent++
				return refused
			},
			note: func(part engine.ServerPart, text string) {
				mu.Lock()
				defer mu.Unlock()
				noted = append(noted, string(part)+": "+text)
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.run(ctx) }()
		pass := func(d time.Duration, wantSent int, wantNoted ...string) {
			t.Helper()
			mu.Unlock()
			<-time.After(d)
			synctest.Wait()
			mu.Lock()
			if sent != wantSent {
				t.Errorf("after %v: %d were sent, want %d", d, sent, wantSent)
			}
			if diff := cmp.Diff(wantNoted, noted); diff != "" {
				t.Errorf("after %v (-want +got): %s", d, diff)
			}
			sent, noted = 0, nil
		}
		pass(time.Second, 1, "heartbeat: ")
		pass(3*time.Minute, 3)
		refused = errors.New("POST https://hc.example.org: connection refused")
		pass(3*time.Minute, 3, "heartbeat: the service that waits for signs of life of the server did not take one: POST https://hc.example.org: connection refused")
		refused = nil
		pass(3*time.Minute, 3, "heartbeat: ")
		ill = errors.New("something has been due for 2m0s")
		pass(3*time.Minute, 0)
		ill = nil
		pass(2*time.Minute, 2)
		for _, text := range []string{"no sign of life is sent", "is well again"} {
			if n := strings.Count(log.String(), text); n != 1 {
				t.Errorf("%q is said %d times:\n%s", text, n, log.String())
			}
		}
		mu.Unlock()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestHeartbeatSettings: what is wrong with the settings of the heartbeat is said with
// what to do, and never with the address.
func TestHeartbeatSettings(t *testing.T) {
	t.Parallel()
	hosts, err := notify.ParseHosts([]string{"hc.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := notify.ParseSecrets(map[string]string{"hc": "https://hc.example.org/key"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, every, want string }{
		{"", heartbeatEvery, ""},
		{"https://hc.example.org/key", "PT30S", ""},
		{"secret:hc", heartbeatEvery, ""},
		{"secret:other", heartbeatEvery, "--heartbeat-url: "},
		{"https://other.example.org/key", heartbeatEvery, "--heartbeat-url: "},
		{"", "PT5M", "--heartbeat-every has no effect without --heartbeat-url"},
		{"secret:hc", "PT1S", `--heartbeat-every: "PT1S" is not a length of time from 10s to 1d`},
		{"secret:hc", "often", `--heartbeat-every: "often" is not a length of time from 10s to 1d`},
	} {
		s := heartbeatSettings{url: secretFlag{test.url}, every: test.every}
		got := ""
		if err := s.fault(notify.Config{Hosts: hosts, Secrets: secrets}, doubts{}); err != nil {
			got = err.Error()
		}
		if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) || strings.Contains(got, "key") {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}
