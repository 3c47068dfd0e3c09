package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/attach/bucket"
	"flowdrive/engine"
)

const (
	storeAsked = time.Minute // so often
	storeTries = 2           // people are not told of what passes by itself
)

// storeWatch has people told if the bucket in which contents lie does not answer: who
// stores nothing meanwhile would not learn of it.
type storeWatch struct {
	ask    func() error
	note   func(engine.ServerPart, string) // tells administrators
	log    zerolog.Logger
	failed int // tries since it has answered
	well   bool
	wrong  atomic.Pointer[string] // why it does not answer, nil if it does
}

// newStoreWatch returns nil if contents lie in no bucket.
func (a *app) newStoreWatch() *storeWatch {
	b, elsewhere := a.contents.(*bucket.Bucket)
	if !elsewhere {
		return nil
	}
	return &storeWatch{ask: b.Look, note: a.told.note, log: a.log}
}

// run asks until ctx ends.
func (w *storeWatch) run(ctx context.Context) error {
	if w == nil {
		return nil
	}
	return regularly(ctx, storeAsked, func(context.Context) { w.look() })
}

// look asks once. What is wrong, and that it is over, is said once.
func (w *storeWatch) look() {
	err := w.ask()
	if err == nil {
		w.wrong.Store(nil)
		if !w.well {
			w.note(engine.ServerStore, "") // also what was wrong before a restart
		}
		w.failed, w.well = 0, true
		return
	}
	w.well = false
	if w.failed++; w.failed != storeTries {
		return
	}
	text := "it does not answer as it should"
	if refused, ok := bucket.AsRefused(err); ok {
		text = refused.Error()
	}
	w.wrong.Store(&text)
	w.log.Error().Err(err).Msg("contents: the store does not answer")
	w.note(engine.ServerStore, text)
}

// says says what is wrong with the store, "" for nothing.
func (w *storeWatch) says() string {
	if w == nil {
		return ""
	}
	if wrong := w.wrong.Load(); wrong != nil {
		return *wrong
	}
	return ""
}
