package notify

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"flowdrive/internal/confine"
)

// guardian is a process that ends all that commands have started when this one has ended in
// whatever way, as by a kill: a command is not to run beside its next attempt, which the
// server makes after its next start. It is started with the first command.
type guardian struct {
	clan confine.Clan
	runs atomic.Uint64

	closing atomic.Bool

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// family returns the family of another run of a command.
func (g *guardian) family() confine.Family { return g.clan.Family(g.runs.Add(1)) }

// watch sees to it that the process is there. confined are the arguments with which the
// running program calls confine.Become; lost is told if the process ends by itself.
func (g *guardian) watch(confined []string, lost func(error)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.process != nil {
		select {
		case <-g.ended:
		default:
			return nil
		}
	}
	cmd := exec.Command(confine.Program) //nolint:noctx // it is to outlive everything that this process does
	cmd.Args = append(append([]string{"flowdrive"}, confined...), confine.GuardArguments(g.clan, os.Getpid())...)
	cmd.Env = []string{"GOMAXPROCS=1"} // never nil, which would be the server's, with its secrets
	cmd.Dir = "/"
	cmd.SysProcAttr = apart()
	said := &tail{hidden: &hidden{}}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start what ends the commands of a server that was killed: %w", err)
	}
	ended := make(chan struct{})
	g.process, g.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the state of the process says more
		if !g.closing.Load() {
			lost(fmt.Errorf("what ends them ended itself with %s: %s", cmd.ProcessState, said.end()))
		}
	}()
	return nil
}

// close ends the process.
func (g *guardian) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.process == nil {
		return
	}
	g.closing.Store(true)
	_ = g.process.Process.Kill() // else it has ended
	<-g.ended
	g.process = nil
}
