package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// writeAndDelete writes documents that are files of their own, and deletes most of
// them, until ctx ends. It counts what was acknowledged and stays.
func (p *program) writeAndDelete(ctx context.Context, worker int, kept *sync.Map) {
	for n := 0; ctx.Err() == nil; n++ {
		path := fmt.Sprintf("/dav/Documents/admin/%d-%d.txt", worker, n)
		a, err := p.do(ctx, http.MethodPut, path, strings.Repeat(path, 300))
		if err != nil || a.status != http.StatusCreated {
			continue
		}
		if n%4 == 0 {
			kept.Store(path, time.Now())
			continue
		}
		_, _ = p.do(ctx, http.MethodDelete, path, "") // the server may have been killed
	}
}

// TestBackupsWhileWriting makes backups while documents are written and deleted. Some
// of the backups and at last the server are killed. Everything that has a manifest
// is restored, and has each document that was acknowledged before the backup began.
func TestBackupsWhileWriting(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	folder := t.TempDir()
	data, to := filepath.Join(folder, "data"), filepath.Join(folder, "backups")
	p := startProgram(t, data)
	ctx, cancel := context.WithCancel(t.Context())
	var kept sync.Map
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() { p.writeAndDelete(ctx, worker, &kept) })
	}
	defer group.Wait()
	defer cancel()
	killed := 0
	rounds(12, 15*time.Second, func(round int) {
		cmd := childProcess(t, "flowdrive", "backup", to, "--data", data)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if round%3 == 1 {
			timer := time.AfterFunc(time.Duration(random.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		if round%3 == 0 {
			mustBeSound(t, data)
		}
		if err := cmd.Wait(); err != nil {
			if round%3 != 1 {
				t.Fatalf("%v: %s", err, &out)
			}
			killed++
		}
	})
	p.kill()
	cancel()
	group.Wait()
	backups, err := filepath.Glob(filepath.Join(to, "*", "manifest.json"))
	if err != nil || len(backups) == 0 {
		t.Fatalf("there are %d backups, %v", len(backups), err)
	}
	t.Logf("%d backups, %d killed", len(backups), killed)
	for _, path := range backups[max(0, len(backups)-4):] {
		checkRestored(t, filepath.Dir(path), &kept)
	}
	mustBeSound(t, data)
	// What pins the contents has gone with who was killed: the server collects, also what
	// was kept of deleted documents.
	startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", data, "--log-level", "warn", "--keep-versions", "P0D"))
	eventually(t, func() string {
		if n := countContents(t, data); n > lenOf(&kept)+8 {
			return fmt.Sprintf("there are %d contents for %d documents", n, lenOf(&kept))
		}
		return ""
	})
}

func lenOf(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

func countContents(t *testing.T, data string) int {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(data, "contents", "??", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// mustBeSound checks a data folder, also beside a server.
func mustBeSound(t *testing.T, data string) {
	t.Helper()
	if out, err := childProcess(t, "flowdrive", "check", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("check %s: %v: %s", data, err, out)
	}
}

// checkRestored restores a backup, and looks for what was stored before it began.
func checkRestored(t *testing.T, path string, kept *sync.Map) {
	t.Helper()
	restored := filepath.Join(t.TempDir(), "restored")
	out, err := childProcess(t, "flowdrive", "restore", path, "--data", restored).CombinedOutput()
	if err != nil {
		t.Fatalf("restore %s: %v: %s", path, err, out)
	}
	mustBeSound(t, restored)
	instant, err := time.Parse("20060102T150405Z", strings.Split(filepath.Base(path), "-")[0])
	if err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, restored)
	defer p.kill()
	var amiss faults
	looked := 0
	kept.Range(func(key, stored any) bool {
		name, _ := key.(string)
		when, _ := stored.(time.Time)
		if !when.Before(instant) {
			return true
		}
		looked++
		a, err := p.do(t.Context(), http.MethodGet, name, "")
		if err != nil || a.status != http.StatusOK || string(a.body) != strings.Repeat(name, 300) {
			amiss.add("%s: %v, %v", name, a.status, err)
		}
		return looked < 500
	})
	amiss.report(t)
	t.Logf("%s has %d documents that were looked at", filepath.Base(path), looked)
}
