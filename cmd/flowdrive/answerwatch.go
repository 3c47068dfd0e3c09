package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/attach/bucket"
	"flowdrive/engine"
	"flowdrive/internal/signon"
)

const (
	answerAsked = time.Minute // so often
	answerTries = 2           // people are not told of what passes by itself
)

// answerWatch has people told if something elsewhere that the server needs does not answer:
// nobody would learn of it before they need it, and then not those who can mend it.
type answerWatch struct {
	part   engine.ServerPart
	name   string                          // for the log
	ask    func(context.Context) error     // nil: the settings have no such part
	why    func(error) string              // what people are told of an error of ask
	note   func(engine.ServerPart, string) // tells administrators
	log    zerolog.Logger
	failed int // tries since it has answered
	well   bool
	wrong  atomic.Pointer[string] // why it does not answer, nil if it does
}

// newAnswerWatch returns a watch of a part that is asked by ask, which is nil if the settings
// have no such part. name is for the log.
func (a *app) newAnswerWatch(part engine.ServerPart, name string, ask func(context.Context) error, why func(error) string) *answerWatch {
	return &answerWatch{part: part, name: name, ask: ask, why: why, note: a.told.note, log: a.log}
}

// watchStore watches the bucket in which contents lie.
func (a *app) watchStore() *answerWatch {
	var ask func(context.Context) error
	if b, elsewhere := a.contents.(*bucket.Bucket); elsewhere {
		ask = func(context.Context) error { return b.Look() }
	}
	return a.newAnswerWatch(engine.ServerStore, "contents: the store", ask, func(err error) string {
		if refused, ok := bucket.AsRefused(err); ok {
			return refused.Error()
		}
		return "it does not answer as it should"
	})
}

// watchProvider watches the provider at which people log in.
func (a *app) watchProvider() *answerWatch {
	var ask func(context.Context) error
	if a.provider != nil {
		ask = func(ctx context.Context) error { return a.provider.Look(ctx) }
	}
	return a.newAnswerWatch(engine.ServerSignOn, "single sign-on: the provider", ask, signon.Why)
}

// watchDirectory watches the directory that checks passwords.
func (a *app) watchDirectory() *answerWatch {
	var ask func(context.Context) error
	if a.ldap != nil {
		ask = a.ldap.Check
	}
	return a.newAnswerWatch(engine.ServerDirectory, "directory: it", ask, signon.Why)
}

// isSet reports whether the settings have the part.
func (w *answerWatch) isSet() bool { return w.ask != nil }

// run asks until ctx ends.
func (w *answerWatch) run(ctx context.Context) error {
	if !w.isSet() {
		return nil
	}
	return regularly(ctx, answerAsked, w.look)
}

// look asks once. What is wrong, and that it is over, is said once.
func (w *answerWatch) look(ctx context.Context) {
	err := w.ask(ctx)
	if ctx.Err() != nil {
		return // the server ends
	}
	if err == nil {
		w.wrong.Store(nil)
		if !w.well {
			if w.failed >= answerTries {
				w.log.Info().Msg(w.name + " answers again")
			}
			w.note(w.part, "") // also what was wrong before a restart
		}
		w.failed, w.well = 0, true
		return
	}
	w.well = false
	if w.failed++; w.failed < answerTries {
		return
	}
	text := w.why(err)
	if wrong := w.wrong.Load(); wrong != nil && *wrong == text {
		return
	}
	w.wrong.Store(&text)
	w.log.Error().Err(err).Msg(w.name + " does not answer as it should")
	w.note(w.part, text)
}

// says says what is wrong, "" for nothing.
func (w *answerWatch) says() string {
	if wrong := w.wrong.Load(); wrong != nil {
		return *wrong
	}
	return ""
}
