package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"flowdrive/attach"
	"flowdrive/internal/pgtest"
	"flowdrive/store/postgres"
	"flowdrive/store/transfer"
)

const noPostgreSQL = "PostgreSQL is not installed"

// postgres starts a server that waits for the disk, in the system's folder for temporary
// files.
func (r *run) postgres(ctx context.Context, undo *cleanup) (*pgtest.Server, error) {
	server, err := pgtest.Launch(context.WithoutCancel(ctx), "synchronous_commit=on", "shared_buffers=256MB", "max_wal_size=4GB", "track_commit_timestamp=on")
	if err == nil {
		undo.add(server.Close)
	}
	return server, err
}

// databases makes empty databases.
func databases(ctx context.Context, s *pgtest.Server, names ...string) error {
	for _, name := range names {
		if _, err := s.Query(ctx, "postgres", "CREATE DATABASE "+name); err != nil {
			return err
		}
	}
	return nil
}

// copyTables copies the tables of a data folder into an empty database.
func copyTables(ctx context.Context, data, address string) (err error) {
	var undo cleanup
	defer undo.run(&err)
	contents, err := attach.Open(filepath.Join(data, contentsFolder))
	if err != nil {
		return err
	}
	from, err := transfer.OpenSource(ctx, transfer.Where{Path: filepath.Join(data, databaseFile)})
	if err != nil {
		return err
	}
	undo.add(from.Close)
	to, err := transfer.OpenTarget(ctx, transfer.Where{Postgres: postgres.Options{Address: address, Node: "bench", Now: time.Now}})
	if err != nil {
		return err
	}
	undo.add(to.Close)
	_, err = transfer.Copy(ctx, transfer.Config{From: from, To: to, Source: contents, Target: contents, Progress: func(transfer.What, int64, int64) {}})
	return err
}

// founded makes a database with the caller and the routes.
func (r *run) founded(ctx context.Context, s *pgtest.Server, name string) error {
	data, err := r.folder(name)
	if err != nil {
		return err
	}
	if err := databases(ctx, s, name); err != nil {
		return err
	}
	h, err := openHouse(ctx, data, houseOptions{postgres: s.Address(name)})
	if err != nil {
		return err
	}
	return h.close()
}

// startNodes starts nodes of a database, the first of which becomes the active one.
func (r *run) startNodes(ctx context.Context, address string, n int, undo *cleanup) (nodes []*process, err error) {
	for i := range n {
		p := &process{}
		if p.addr, err = freeAddress(ctx); err != nil {
			return nil, err
		}
		most := strconv.Itoa(unlimited)
		p.cmd = exec.CommandContext(context.WithoutCancel(ctx), r.Program, "serve", "--db", address, "--node", "node"+strconv.Itoa(i+1), "--addr", p.addr,
			"--max-entries", most, "--max-started-cases", most, "--log-level", "error")
		p.cmd.Env = []string{"FLOWDRIVE_ADMIN_PASSWORD=" + password}
		p.cmd.Stderr = &p.words
		if err := p.cmd.Start(); err != nil {
			return nil, err
		}
		undo.add(func() error {
			if p.cmd.ProcessState != nil { // it was killed
				return nil
			}
			return p.stop()
		})
		if err := p.await(ctx, time.Now()); err != nil {
			return nil, errors.Join(err, fmt.Errorf("%s", p.words.String()))
		}
		nodes = append(nodes, p)
	}
	return nodes, nil
}

// kill kills the process and waits for its end.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	if waitErr := p.cmd.Wait(); p.cmd.ProcessState == nil {
		err = errors.Join(err, waitErr)
	}
	return err
}

// cpuOf is the CPU time that a process has used, and its children that have ended.
func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // what comes before is the name
	fields := strings.Fields(rest)
	const first, last = 11, 15 // utime, stime, cutime, cstime: proc(5)
	if len(fields) < last {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	var ticks int64
	for _, field := range fields[first:last] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil
}

// cpuOfServer is the CPU time that all processes of a server have used.
func cpuOfServer(s *pgtest.Server) (time.Duration, error) {
	pid, err := s.Process()
	if err != nil {
		return 0, err
	}
	all, err := cpuOf(pid)
	if err != nil {
		return 0, err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", pid))
	if err != nil {
		return 0, err
	}
	for child := range strings.FieldsSeq(string(children)) {
		id, err := strconv.Atoi(child)
		if err != nil {
			return 0, err
		}
		used, err := cpuOf(id)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // it has ended since, and is in its parent's
			return 0, err
		}
		all += used
	}
	return all, nil
}

// farAway listens on a port of this machine, and passes on what comes to a server that is
// so much further away: a question and its answer take that much longer. It returns host and
// port.
func farAway(ctx context.Context, s *pgtest.Server, further time.Duration, undo *cleanup) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	undo.add(l.Close)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			far, err := s.Dial(ctx)
			if err != nil {
				_ = near.Close() // who called is told by that
				continue
			}
			var both sync.WaitGroup
			both.Go(func() { carry(ctx, far, near, further/2) })
			both.Go(func() { carry(ctx, near, far, further/2) })
		}
	}()
	return l.Addr().String(), nil
}

// carry passes on what comes, each piece as much later, until either side ends.
func carry(ctx context.Context, to io.WriteCloser, from io.Reader, later time.Duration) {
	type piece struct {
		data []byte
		due  time.Time
	}
	way := make(chan piece, 1024)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				way <- piece{data[:n], time.Now().Add(later)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		pause(ctx, time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	_ = to.Close()  // the other side sees it
	for range way { // what nobody wants any more
	}
}
