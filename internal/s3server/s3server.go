// Package s3server is a store that speaks S3, for tests: versitygw over a temporary
// folder, built from the module proxy (.ci/s3.mod), with buckets as the sub-folders.
package s3server

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/cable"
)

// What the server accepts.
const (
	Key    = "flowdrive-key"
	Secret = "flowdrive-secret-of-tests" //nolint:gosec // it is for tests alone
	Bucket = "contents"
)

// Server is a running server. Clients reach it through a proxy that can be cut.
type Server struct {
	Endpoint string // http://127.0.0.1:port
	Folder   string // of its buckets

	socket string
	way    *cable.Cable
}

// Start starts a server that ends with the test. It skips tests that are to be short:
// the first run builds the server, which takes minutes.
func Start(t *testing.T) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("an S3 server is built for this test, which takes minutes the first time")
	}
	// Sockets have short names only.
	folder, err := os.MkdirTemp("", "s3") //nolint:usetesting // its name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &Server{Folder: filepath.Join(folder, "buckets"), socket: filepath.Join(folder, "s")}
	for _, path := range []string{filepath.Join(s.Folder, Bucket), filepath.Join(folder, "meta")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.run(t, program(t), filepath.Join(folder, "meta"))
	s.way = cable.New(t, s.dial)
	s.Endpoint = "http://" + s.way.Address
	return s
}

// program builds the server, or finds it in the build cache.
func program(t *testing.T) string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile=.ci/s3.mod", "-n", "versitygw")
	cmd.Dir, cmd.Stderr = strings.TrimSpace(string(root)), os.Stderr
	path, err := cmd.Output()
	if err != nil {
		t.Fatalf("build the S3 server: %v", err)
	}
	return strings.TrimSpace(string(path))
}

func (s *Server) run(t *testing.T, program, meta string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--port", s.socket, "--access", Key, "--secret", Secret, "--quiet", "posix", "--sidecar", meta, s.Folder)
	cmd.Env = []string{"HOME=" + meta}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	wait, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	tick := time.NewTicker(10 * time.Millisecond) //nolint:forbidigo // another process is waited for
	defer tick.Stop()
	for {
		conn, err := s.dial(wait)
		if err == nil {
			_ = conn.Close() // it was only tried
			return
		}
		select {
		case <-tick.C:
		case <-wait.Done():
			t.Fatalf("the S3 server does not answer: %v", err)
		}
	}
}

func (s *Server) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", s.socket)
}

// Cut cuts all connections and lets none through until Mend is called.
func (s *Server) Cut() { s.way.Lead(nil) }

// Mend lets connections through again.
func (s *Server) Mend() { s.way.Lead(s.dial) }

// Address returns the address of contents below the prefix, as --contents has it.
func (s *Server) Address(prefix string) string {
	return "s3://" + Bucket + "/" + prefix + "?endpoint=" + s.Endpoint
}
