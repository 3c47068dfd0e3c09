package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestKilledWhileFounding kills the first start of a data folder. The second
// one finishes what the first began: whichever of the two passwords counts,
// the administrator finds everything that belongs to a new folder.
func TestKilledWhileFounding(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	rounds(20, 10*time.Second, func(int) {
		data := filepath.Join(t.TempDir(), "data")
		first := childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", data)
		first.Env = environment("FLOWDRIVE_ADMIN_PASSWORD=the-password-of-the-first-start")
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() string {
			if _, err := os.Stat(filepath.Join(data, databaseName)); err != nil {
				return err.Error()
			}
			return ""
		})
		<-time.After(time.Duration(random.IntN(80)) * time.Millisecond)
		if err := first.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = first.Wait() // it was killed
		p := startProgram(t, data)
		a, err := p.do(t.Context(), http.MethodGet, "/dav/Workflow/", "")
		if err != nil {
			t.Fatal(err)
		}
		if a.status == http.StatusUnauthorized {
			// The first start had come so far that its password counts.
			p.password = "the-password-of-the-first-start"
		}
		for _, path := range []string{"/dav/Workflow/Routes/bug.yaml", "/dav/Workflow/Routes/collector.yaml", "/dav/Admin/Teams/core.json"} {
			p.must(t, http.StatusOK, http.MethodGet, path, "")
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
}
