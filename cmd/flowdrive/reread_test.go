package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"flowdrive/engine"
)

// TestRereadSettings: what is given on the command line stays, the rest is read anew, and
// what is wrong changes nothing.
func TestRereadSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flowdrive.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log-level: error\ntrusted-proxy: [10.0.0.0/8]\nsecrets: {a: one}\nquota: 1GiB\n")
	root := rootCommand()
	cmd, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags([]string{"--config", file, "--public-name", "a.example,b.example", "--quota", "5GiB"}); err != nil {
		t.Fatal(err)
	}
	if err := configure(cmd); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a := &app{level: newLogLevel(zerolog.ErrorLevel), told: newServerWatch(zerolog.Nop())}
	a.log = newLogger(&log, a.level)
	a.reread = func() (*settings, []string, error) { return reread(cmd) }

	s, changed, err := reread(cmd)
	if err != nil || len(changed) > 0 || s.quota.String() != "5GiB" || len(s.publicNames) != 2 {
		t.Errorf("read again unchanged: %v %v %+v", err, changed, s)
	}
	write("log-level: debug\ntrusted-proxy: [10.0.0.0/8, 192.168.0.0/16]\nsecrets: {a: two}\nquota: 2GiB\n")
	s, changed, err = reread(cmd)
	if err != nil || s.quota.String() != "5GiB" {
		t.Errorf("read again: %v %+v", err, s)
	}
	if diff := cmp.Diff([]string{"log-level", "secrets", "trusted-proxy"}, changed); diff != "" {
		t.Errorf("what has changed (-want +got):\n%s", diff)
	}
	a.log.Debug().Msg("too early")
	a.reload()
	a.log.Debug().Msg("told now")
	if text := log.String(); strings.Contains(text, "too early") || !strings.Contains(text, "told now") || !strings.Contains(text, `"after_a_restart":["secrets","trusted-proxy"]`) {
		t.Errorf("the log: %s", text)
	}
	if got := <-a.told.parts; got != (part{engine.ServerSettings, ""}) {
		t.Errorf("administrators are told %v", got)
	}
	log.Reset()
	write("log-level: loud\ntrusted-proxy: [here]\n")
	a.reload()
	a.log.Debug().Msg("still told")
	if got := <-a.told.parts; got.of != engine.ServerSettings || !strings.Contains(got.text, "flowdrive.yaml:2:16: --trusted-proxy: ") {
		t.Errorf("administrators are told %v", got)
	}
	for _, want := range []string{"flowdrive.yaml:1:12: --log-level: ", "flowdrive.yaml:2:16: --trusted-proxy: ", "all stays as it was", "still told"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not have %q: %s", want, &log)
		}
	}
}
