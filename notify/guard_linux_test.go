package notify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"flowdrive/engine/outbox"
)

// serveCommand is a server that runs a command until it is killed: a shell, which starts a
// daemon. Both write their numbers to the pipe.
func serveCommand(pipe, scratch string) int {
	commands, err := CheckCommands(map[string]Command{"sh": {Path: "/bin/sh", Args: []string{"-c"}, Memory: 1 << 60, Timeout: mostTimeout}})
	if err != nil {
		return 1
	}
	g := New(Config{Commands: commands, Clock: still{noon()}, Log: zerolog.Nop(), Confined: []string{confinedArgument}, Scratch: scratch})
	const text = `(setsid env -i /bin/sh -c 'echo $$ > pid; exec sleep 86400' >/dev/null 2>&1 &)
while ! [ -s pid ]; do :; done
echo $$ $(cat pid) > "$1"
sleep 86400 & wait`
	_, _ = g.Deliver(context.Background(), &outbox.Delivery{Exec: &outbox.Command{Name: "sh", Args: []string{text, "sh", pipe}}})
	return 0 // never
}

// TestKilledServerLeavesNoProcess: when the server is killed, nothing goes on of what its
// commands have started, also what has left their process group and session.
func TestKilledServerLeavesNoProcess(t *testing.T) {
	t.Parallel()
	shell(t, Command{}) // skips where nothing can be confined
	pipe := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), "/proc/self/exe")
	server.Args = []string{"server", serverArgument, pipe, t.TempDir()}
	server.Env = []string{"PATH=/usr/bin:/bin", "GOCOVERDIR=" + t.TempDir()}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(string(told))
	if len(pids) != 2 {
		t.Fatalf("got %q", told)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // that it was killed is meant
	for _, pid := range pids {
		// The process that takes on orphans may not have looked at it yet: it is a zombie then, whose
		// command line is empty, or gone.
		for {
			if line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err != nil || !strings.Contains(string(line), "86400") {
				break
			}
			runtime.Gosched()
		}
	}
}

// TestGuardianIsThere: one process watches over all commands, another one if that has
// ended, and none when there are no commands any more.
func TestGuardianIsThere(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{})
	deliver(t, g, script(":"))
	first := g.guardian.process
	deliver(t, g, script(":"))
	if g.guardian.process != first {
		t.Error("there is another one for the next command")
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-g.guardian.ended
	deliver(t, g, script(":"))
	if g.guardian.process == first {
		t.Error("there is no other one for the next command")
	}
	second := g.guardian.ended
	g.Close()
	<-second
}
