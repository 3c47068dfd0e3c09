package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	workMemory = "memory of an empty server"
	workReady  = "from exec to /readyz, empty data folder"
	noProgram  = "there is no program to start"
)

// process is the program that serves.
type process struct {
	cmd   *exec.Cmd
	addr  string
	took  time.Duration // until it was ready
	words bytes.Buffer  // its output
}

// patience is how long a program may take to be ready or to end.
const patience = time.Minute

// start starts the program on a data folder, with more flags, and waits until it is ready.
func (r *run) start(ctx context.Context, data string, more ...string) (_ *process, err error) {
	p := &process{}
	if p.addr, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	most := strconv.Itoa(unlimited)
	args := append([]string{"serve", "--data", data, "--addr", p.addr, "--max-entries", most, "--log-level", "warn"}, more...)
	p.cmd = exec.CommandContext(ctx, r.Program, args...)
	p.cmd.Env = []string{"FLOWDRIVE_ADMIN_PASSWORD=" + password}
	p.cmd.Stderr = &p.words
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.await(ctx, begin); err != nil {
		return nil, errors.Join(err, p.stop(), fmt.Errorf("%s", p.words.String()))
	}
	p.took = time.Since(begin)
	return p, nil
}

// freeAddress returns an address that is not in use at the moment.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await asks until the process is ready. It listens before it can answer, so
// that a question that is asked early is answered as early as can be.
func (p *process) await(ctx context.Context, begin time.Time) error {
	const again = 500 * time.Microsecond
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	for ; ctx.Err() == nil && time.Since(begin) < patience; pause(ctx, again) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.Join(ctx.Err(), errors.New("the program does not become ready"))
}

// stop ends the process and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(err, p.cmd.Wait())
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("serve: %w: %s", err, p.words.String())
	}
	return nil
}

// memory is what the process holds in RAM, and the most it ever did.
func (p *process) memory() (now, most float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var to *float64
		switch name {
		case "VmRSS":
			to = &now
		case "VmHWM":
			to = &most
		default:
			continue
		}
		kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			return 0, 0, err
		}
		*to = kib * 1024
	}
	return now, most, nil
}

// measureMemory is P13: the memory of a server that has nothing to do, and of
// one whose files were listed and that was given schedule entries for a minute.
func measureMemory(ctx context.Context, r *run) (_ []Row, err error) {
	if r.Program == "" {
		return skipped(workMemory, noProgram), nil
	}
	empty, err := r.emptyMemory(ctx)
	if err != nil {
		return nil, err
	}
	data, body, err := r.scheduleFolder(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.fillDocuments(ctx, data); err != nil {
		return nil, err
	}
	p, err := r.start(ctx, data)
	if err != nil {
		return nil, err
	}
	var undo cleanup
	defer undo.run(&err)
	undo.add(p.stop)
	conns, err := dialAll(ctx, p.addr, &undo)
	if err != nil {
		return nil, err
	}
	lists := 0
	for _, properties := range []string{namedProps, allProps} {
		s, err := listing("flowdrive", conns[0], properties).round(ctx, r.round)
		if err != nil {
			return nil, err
		}
		lists += s.done
	}
	s, err := puts(conns, body)(ctx, r.steady)
	if err != nil {
		return nil, err
	}
	now, most, err := p.memory()
	if err != nil {
		return nil, err
	}
	return []Row{
		empty,
		atMost(fmt.Sprintf("… after P6 and %s of P4", r.steady), measured(Bytes, now), nil, 80<<20).
			noted("RSS; %s members were listed %d times, %s entries put; the most it ever was: %s",
				plain(float64(r.members)), lists, plain(float64(s.done)), quantity(most, Bytes)),
	}, nil
}

// emptyMemory is the memory of the first start, which hashes a password; that
// of the next is told as well.
func (r *run) emptyMemory(ctx context.Context) (Row, error) {
	data, err := r.folder("empty")
	if err != nil {
		return Row{}, err
	}
	var now [2]float64
	for i := range now {
		if err := dropCached(r.Program); err != nil {
			return Row{}, err
		}
		p, err := r.start(ctx, data)
		if err != nil {
			return Row{}, err
		}
		pause(ctx, time.Second)
		now[i], _, err = p.memory()
		if err = errors.Join(err, p.stop()); err != nil {
			return Row{}, err
		}
	}
	return atMost(workMemory, measured(Bytes, now[0]), nil, 40<<20).
		noted("RSS a second after the first start from the disk, which hashes a password; after the second %s", quantity(now[1], Bytes)), nil
}

// measureReady is P14: how long the program takes until it serves.
func measureReady(ctx context.Context, r *run) ([]Row, error) {
	if r.Program == "" {
		return skipped(workReady, noProgram), nil
	}
	fresh, err := r.starting(ctx, func() (string, error) { return r.folder("fresh") })
	if err != nil {
		return nil, err
	}
	full, err := r.folder("full")
	if err != nil {
		return nil, err
	}
	if _, _, err := r.fillCases(ctx, full, r.stored, kinds()...); err != nil {
		return nil, err
	}
	stored, err := r.starting(ctx, func() (string, error) { return full, nil })
	if err != nil {
		return nil, err
	}
	return []Row{
		atMost(workReady, fresh, nil, 150e-3),
		atMost("… with "+plain(float64(r.stored))+" cases", stored, nil, 2),
	}, nil
}

func (r *run) starting(ctx context.Context, folder func() (string, error)) (*Value, error) {
	var took []float64
	for range r.starts {
		data, err := folder()
		if err != nil {
			return nil, err
		}
		p, err := r.start(ctx, data)
		if err != nil {
			return nil, err
		}
		took = append(took, p.took.Seconds())
		if err := p.stop(); err != nil {
			return nil, err
		}
	}
	return measured(Seconds, took...), nil
}
