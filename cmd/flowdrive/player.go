package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/internal/confine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/simulate"
)

// What one story may take. Stories are what users write, so only the kernel can bound
// all of them.
const (
	storyProcessor = 10               // seconds
	storyMemory    = 768 << 20        // bytes, of which many are only reserved
	storyFile      = 256 << 20        // bytes of the largest file
	storyPatience  = 30 * time.Second // for a machine that is busy with other things
	storyWait      = 30 * time.Second // for stories before it
	storiesAtATime = 2
	mostStoryText  = 1 << 20 // bytes that a story answers
)

// player plays the scenarios beside routes, each in a process of its own, which is this
// program again, with a data folder that is thrown away. It implements engine.Player.
type player struct {
	log    zerolog.Logger
	folder string // in which each story has a folder of its own while it is played
	slots  chan struct{}

	mu    sync.Mutex
	turns map[identity.Name]*turn // of users for whom a story is played, or waits
}

// turn lets one story of a user be played at a time.
type turn struct {
	slot  chan struct{}
	users int // who hold or wait for it
}

// player returns what plays scenarios, nil if this system cannot bound them.
func (a *app) player() engine.Player {
	if a.settings.rehearsal || confine.Supported() != nil {
		return nil
	}
	return &player{log: a.log, folder: filepath.Join(a.settings.data, storiesName), slots: make(chan struct{}, storiesAtATime), turns: map[identity.Name]*turn{}}
}

// Read implements engine.Player.
func (*player) Read(scenario []byte, yaml bool) (title string, err error) {
	s, err := simulate.ParseIn(scenario, yaml)
	if err != nil {
		return "", err
	}
	return s.Title, nil
}

// Play implements engine.Player.
func (p *player) Play(ctx context.Context, by identity.Name, s *engine.Story) (engine.Played, error) {
	waiting, stop := context.WithTimeout(ctx, storyWait)
	defer stop()
	done, err := p.admit(waiting, by)
	if err != nil {
		return engine.Played{}, errs.New(errs.Unavailable, "Other scenarios are being played at the moment; try again.")
	}
	defer done()
	folder, err := p.newFolder()
	if err != nil {
		return engine.Played{}, p.failed(err)
	}
	defer func() {
		if err := os.RemoveAll(folder); err != nil {
			p.log.Warn().Err(err).Msg("scenarios: could not remove the folder of a story")
		}
	}()
	return p.run(ctx, folder, s)
}

// newFolder makes a folder for a story.
func (p *player) newFolder() (string, error) {
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		return "", err
	}
	path, err := filepath.Abs(p.folder) // the process works elsewhere
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(path, "story-")
}

// removeStories removes the folders of stories that were being played when an earlier
// process ended.
func (a *app) removeStories() error {
	if err := os.RemoveAll(filepath.Join(a.settings.data, storiesName)); err != nil {
		return fmt.Errorf("remove the folders of stories: %w", err)
	}
	return nil
}

// admit waits until a story of the user may be played.
func (p *player) admit(ctx context.Context, by identity.Name) (done func(), err error) {
	own := p.enter(by)
	select {
	case own.slot <- struct{}{}:
	case <-ctx.Done():
		p.leave(by)
		return nil, ctx.Err()
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		<-own.slot
		p.leave(by)
		return nil, ctx.Err()
	}
	return func() {
		<-p.slots
		<-own.slot
		p.leave(by)
	}, nil
}

func (p *player) enter(by identity.Name) *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.turns[by]
	if t == nil {
		t = &turn{slot: make(chan struct{}, 1)}
		p.turns[by] = t
	}
	t.users++
	return t
}

func (p *player) leave(by identity.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.turns[by]
	if t.users--; t.users == 0 {
		delete(p.turns, by)
	}
}

// run runs the process that plays the story.
func (p *player) run(ctx context.Context, folder string, s *engine.Story) (engine.Played, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return engine.Played{}, p.failed(err)
	}
	limited, cancel := context.WithTimeout(ctx, storyPatience)
	defer cancel()
	cmd := exec.CommandContext(limited, confine.Program)
	cmd.Args = []string{"flowdrive", storyCommand, folder}
	cmd.Env = []string{"GOMAXPROCS=1", "TZ=UTC"} // no secret of the server's is among them
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(text)
	out := &confine.Output{Most: mostStoryText}
	cmd.Stdout = out
	err = cmd.Run()
	if ctx.Err() != nil {
		return engine.Played{}, p.failed(ctx.Err())
	}
	if err != nil {
		return p.ended(limited, err)
	}
	var played engine.Played
	if err := json.Unmarshal(out.Bytes(), &played); err != nil {
		return engine.Played{}, p.failed(fmt.Errorf("a story was answered by %.100q: %w", out.Bytes(), err))
	}
	return played, nil
}

// ended says why a process ended without an answer.
func (p *player) ended(ctx context.Context, err error) (engine.Played, error) {
	exit, ran := errors.AsType[*exec.ExitError](err)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // it will not be better later
		return engine.Played{Unplayable: "this machine cannot start a process for it. To store the route without it, delete the scenario."}, nil
	}
	if ctx.Err() != nil { // another time it may be faster
		return engine.Played{}, errs.New(errs.ScenarioBroken, "The scenario cannot be played: it takes longer than the %d seconds that it may take, on a machine that may have much to do. Try again, or make it shorter.", storyPatience/time.Second)
	}
	if !ran {
		return engine.Played{}, p.failed(err)
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Exited() && status.ExitStatus() == storyFailed:
		return engine.Played{}, p.failed(err)
	case ok && status.Exited():
		return engine.Played{Unplayable: "it needs more memory than it may use."}, nil
	}
	return engine.Played{Unplayable: fmt.Sprintf("it takes longer than the %d seconds of a processor that it may take.", storyProcessor)}, nil
}

func (p *player) failed(err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: "Scenarios cannot be played at the moment; try again later.", Err: err}
}

var _ engine.Player = (*player)(nil)
