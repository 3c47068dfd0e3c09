package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/pgtest"
)

const workCopy = "copy of cases and contents into PostgreSQL"

// measureCopy is P19: "flowdrive copy" of a data folder, over pg_restore of the same rows.
func measureCopy(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	server, missing, err := r.several(ctx, workCopy, &undo)
	if missing != nil || err != nil {
		return missing, err
	}
	data, err := r.folder("source")
	if err != nil {
		return nil, err
	}
	size, err := r.fillBoth(ctx, data)
	if err != nil {
		return nil, err
	}
	if err := databases(ctx, server, "copied", "restored"); err != nil {
		return nil, err
	}
	r.progress("copying")
	took, most, err := watched(exec.CommandContext(ctx, r.Program, "copy", "--from", data, "--to", server.Address("copied")))
	if err != nil {
		return nil, err
	}
	restored, err := r.restored(ctx, server)
	if err != nil {
		return nil, err
	}
	rate := func(d time.Duration) *Value { return measured(PerSecond, float64(r.stock)/d.Seconds()) }
	return []Row{
		atLeast(workCopy, rate(took), rate(restored), 0.5).
			noted("cases a second, with %s of contents for %s cases; %s, with comparing all; pg_restore, which compares nothing: %s",
				quantity(size, Bytes), plain(float64(r.stock)), took.Round(time.Millisecond), restored.Round(time.Millisecond)),
		atMost("… memory of the process", measured(Bytes, most), nil, 200<<20).noted("the most it ever was"),
	}, nil
}

// watched is timed, and returns the most memory that the program held. What the system notes of
// its children has that of this process, too.
func watched(cmd *exec.Cmd) (took time.Duration, most float64, err error) {
	var words bytes.Buffer
	cmd.Stderr = &words
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	p, ticker := &process{cmd: cmd}, time.NewTicker(20*time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, words.String())
			}
			return time.Since(begin), most, err
		case <-ticker.C:
		}
		if _, now, err := p.memory(); err == nil { // it may just have ended
			most = max(most, now)
		}
	}
}

// timed runs a program, and returns how long it took.
func timed(cmd *exec.Cmd) (time.Duration, error) {
	took, _, err := watched(cmd)
	return took, err
}

// restored dumps what was copied, and returns how long it takes to restore that.
func (r *run) restored(ctx context.Context, server *pgtest.Server) (time.Duration, error) {
	at, err := url.Parse(server.Address("copied"))
	if err != nil {
		return 0, err
	}
	connect := []string{"-h", at.Query().Get("host"), "-p", strconv.Itoa(server.Port), "-U", "flowdrive"}
	file := filepath.Join(r.dir, "dump")
	r.progress("pg_dump, pg_restore")
	if _, err := timed(exec.CommandContext(ctx, "pg_dump", append(connect, "-Fc", "-Z0", "-f", file, "copied")...)); err != nil {
		return 0, err
	}
	took, err := timed(exec.CommandContext(ctx, "pg_restore", append(connect, "-d", "restored", file)...))
	return took, errors.Join(err, os.Remove(file))
}

// fillBoth makes a data folder with cases, and with contents of about 10 KB for each. It returns
// the bytes of all contents.
func (r *run) fillBoth(ctx context.Context, data string) (float64, error) {
	if _, _, err := r.fillCases(ctx, data, r.stock, kinds()...); err != nil {
		return 0, err
	}
	// The program takes a folder for one of data if it has its lock.
	if err := os.WriteFile(filepath.Join(data, "lock"), nil, 0o600); err != nil {
		return 0, err
	}
	n := max(r.stock*10_000/r.large, 1)
	r.progress("storing %s contents", thousands(int64(n)))
	err := r.fill(ctx, data, n, houseOptions{}, func(ctx context.Context, h *house, i int) error {
		content := make([]byte, r.large)
		source := rand.New(rand.NewPCG(uint64(i), 19))
		for at := 0; at+8 <= len(content); at += 8 {
			binary.LittleEndian.PutUint64(content[at:], source.Uint64())
		}
		up := contents.Upload{MediaType: "application/octet-stream", Size: int64(len(content)), Body: bytes.NewReader(content)}
		_, err := h.engine.Files.PutDocument(ctx, h.request(), engine.DocumentPath{caller, fileName(i)}, up)
		return err
	})
	return float64(n) * float64(r.large), err
}
