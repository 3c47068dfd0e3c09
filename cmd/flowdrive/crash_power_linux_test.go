package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPowerLost lets the power fail while entries and documents are written and deleted:
// the server is killed, and of what it did not sync some is lost, some torn. What is left
// is sound, everything that was acknowledged is there, and what was not can be done
// again.
func TestPowerLost(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	rounds(4, 5*time.Second, func(round int) {
		disk, data := mountForgetful(t)
		p := startProgram(t, data)
		ctx, cancel := context.WithCancel(t.Context())
		var kept sync.Map
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() { p.writeAndDelete(ctx, worker, &kept) })
		}
		requests := putEntries(400, round)
		n := p.performUntil(t, os.Kill, random, requests)
		cancel()
		group.Wait()
		disk.unmount(t)
		chance := []float64{0, 0.5, 0.9, 1}[round%4]
		left := filepath.Join(t.TempDir(), "left")
		if err := disk.leave(left, random, chance); err != nil {
			t.Fatal(err)
		}
		p = startProgram(t, left)
		mustBeSound(t, left)
		p.checkEntries(t, requests, false)
		documents := 0
		kept.Range(func(path, _ any) bool {
			documents++
			at, _ := path.(string)
			if got := p.must(t, http.StatusOK, http.MethodGet, at, ""); string(got.body) != strings.Repeat(at, 300) {
				t.Errorf("%s: it has %d bytes, which are others", at, len(got.body))
			}
			return true
		})
		p.repeat(t, requests, "Location", "X-OpenGroupware-ScheduleEntryUUID")
		p.checkEntries(t, requests, true)
		t.Logf("round %d: of what was not synced %.0f %% is left; %d entries and %d documents were acknowledged", round, 100*chance, n, documents)
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestForgetful: what was synced is left, and nothing else: the content of a file by its
// own fsync, its name by that of its folder.
func TestForgetful(t *testing.T) {
	t.Parallel()
	disk, folder := mountForgetful(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	sync := func(name string) {
		t.Helper()
		f, err := os.Open(at(name))
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		f, err := os.OpenFile(at(name), os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("kept", "synced")
	sync("kept")
	write("empty", "not synced")
	write("renamed", "synced")
	sync("renamed")
	sync(".")
	write("kept", "SYN")
	write("nameless", "synced")
	sync("nameless")
	if err := errors.Join(os.Rename(at("renamed"), at("new")), os.Truncate(at("kept"), 1)); err != nil {
		t.Fatal(err)
	}
	disk.unmount(t)
	for chance, want := range []map[string]string{{"kept": "synced", "empty": "", "renamed": "synced"}, {"kept": "S", "empty": "not synced", "renamed": "synced"}} {
		left := t.TempDir()
		if err := disk.leave(left, rand.New(rand.NewPCG(2, 0)), float64(chance)); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		names, err := os.ReadDir(left)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(left, name.Name()))
			if err != nil {
				t.Fatal(err)
			}
			got[name.Name()] = string(text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("chance %d: (-want +got)\n%s", chance, diff)
		}
	}
}
