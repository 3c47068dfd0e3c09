package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/store/backup"
)

// TestServerBacksItselfUp: at each instant of its crontab line a server makes a backup. That
// one fails, is late by two periods, and is made again is said once each.
func TestServerBacksItselfUp(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := startProgram(t, data)
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Documents/admin/x.txt", "x")
	to := filepath.Join(t.TempDir(), "backups")
	at, err := cron.ParseStandard("0 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		log, seen := &watched{}, 0
		var noted []string
		b := &backups{
			config: backup.Config{Data: data, To: to, Host: "here", Keep: backup.Keep{Days: 1}, Now: time.Now},
			at:     at, log: zerolog.New(log), now: time.Now, since: time.Now(),
			note: func(part engine.ServerPart, text string) {
				what, reason, _ := strings.Cut(text, ":")
				noted = append(noted, string(part)+" "+what)
				if text != "" && !strings.Contains(reason, "not a directory") {
					t.Errorf("administrators are not told why: %s", text)
				}
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.run(ctx) }()
		pass := func(d time.Duration, want ...string) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			said := log.String()[seen:]
			seen += len(said)
			for _, text := range want {
				if n := strings.Count(said, text); n != 1 {
					t.Errorf("after %v %q is said %d times:\n%s", d, text, n, said)
				}
			}
		}
		pass(time.Hour+time.Second, "backup: made")
		if err := os.Rename(to, to+".gone"); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(to, nil, 0o600); err != nil {
			t.Error(err)
		}
		pass(time.Hour, "it was not made")
		if !b.failed.Load() {
			t.Error("the metric does not say that it has failed")
		}
		pass(90*time.Minute, "more than two periods old")
		if err := os.Remove(to); err != nil {
			t.Error(err)
		}
		if err := os.Rename(to+".gone", to); err != nil {
			t.Error(err)
		}
		pass(time.Hour, "they are made again", "backup: made")
		if b.failed.Load() || b.last.Load() != b.since.Unix() {
			t.Error("the metrics do not have the last good one")
		}
		want := []string{"backup ", "backup it was not made, or is not complete", "backup the last good one is more than two periods old", "backup "}
		if got := slices.Compact(noted); !slices.Equal(got, want) {
			t.Errorf("administrators are told %q", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	last, err := backup.Latest(backup.Config{Data: data, To: to, Host: "here"})
	if err != nil || last.IsZero() {
		t.Errorf("the latest one is of %v, %v", last, err)
	}
}

// TestBackupsWhoseDiskIsNotMounted: if a folder has none of the backups that were made
// there, none is made and administrators are told what to do, also after a restart on a
// host of another name, until its disk is mounted or one is made by hand.
func TestBackupsWhoseDiskIsNotMounted(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	startProgram(t, data)
	to := filepath.Join(t.TempDir(), "backups")
	noted := ""
	on := func(host string) *backups {
		return &backups{
			config: backup.Config{Data: data, To: to, Host: host, Now: time.Now},
			log:    zerolog.Nop(), now: time.Now, note: func(_ engine.ServerPart, text string) { noted = text },
		}
	}
	wants := func(what, want string) {
		t.Helper()
		if (noted == "") != (want == "") || !strings.Contains(noted, want) {
			t.Errorf("%s: administrators are told %q", what, noted)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	on("one").make(t.Context())
	wants("the first", "")
	move(to, to+".disk")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	again := on("two")
	again.make(t.Context())
	wants("an empty folder", to+" has none of the backups that were made there, the last one at ")
	wants("what to do", "mount its disk, or make one by hand if they were removed: flowdrive backup "+to+" --data "+data)
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 || !again.failed.Load() {
		t.Errorf("the folder has %v, %v", left, err)
	}
	move(to, to+".empty")
	again.make(t.Context())
	wants("no folder", " has none of the backups ")
	move(to+".disk", to)
	again.make(t.Context())
	wants("it is mounted again", "")

	move(to, to+".lost")
	again.make(t.Context())
	wants("they are lost", " has none of the backups ")
	if _, err := backup.Make(t.Context(), again.config); err != nil {
		t.Fatal(err)
	}
	again.make(t.Context())
	wants("one was made by hand", "")
}

// TestBackupByHand: a backup that somebody made by hand is known when the server is asked, and
// keeps its backups from being too old.
func TestBackupByHand(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	startProgram(t, data)
	at, err := cron.ParseStandard("0 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)
	now := start
	var noted []string
	b := &backups{
		config: backup.Config{Data: data, To: filepath.Join(t.TempDir(), "backups"), Host: "here", Keep: backup.Keep{Days: 1}, Now: func() time.Time { return now }},
		at:     at, log: zerolog.Nop(), now: func() time.Time { return now }, since: start,
		note: func(_ engine.ServerPart, text string) { noted = append(noted, text) },
	}
	if got := b.says(); got != "none yet" {
		t.Errorf("before the first one it says %q", got)
	}
	if _, err := backup.Make(t.Context(), b.config); err != nil {
		t.Fatal(err)
	}
	if got := b.says(); got != "" {
		t.Errorf("after one by hand it says %q", got)
	}
	b.noteLate(start.Add(3 * time.Hour))
	if got := b.says(); got != "the last good one is more than two periods old" || len(noted) != 1 {
		t.Errorf("three hours later it says %q, and notes %q", got, noted)
	}
	now = start.Add(4 * time.Hour)
	if _, err := backup.Make(t.Context(), b.config); err != nil {
		t.Fatal(err)
	}
	b.noteLate(now.Add(time.Minute))
	if got := b.says(); got != "" || len(noted) != 2 || noted[1] != "" {
		t.Errorf("after another one by hand it says %q, and notes %q", got, noted)
	}
}
