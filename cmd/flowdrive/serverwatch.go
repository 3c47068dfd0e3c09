package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/internal/clock"
)

// serverWatch has administrators told of what is wrong with the server. What is noted
// while something is read must not wait for the database: it goes through a channel.
type serverWatch struct {
	engine *engine.Engine // set before run
	log    zerolog.Logger
	damage chan damage
	parts  chan part
	unsaid []part // what could not be noted, the latest of each part; of run alone
}

// damage is a content that was read and is not what was stored.
type damage struct {
	sum  [32]byte
	what string
}

// part is what is wrong with a part of the server, with "" nothing any more.
type part struct {
	of   engine.ServerPart
	text string
}

func newServerWatch(log zerolog.Logger) *serverWatch {
	const waiting = 64 // more of the same say the same
	return &serverWatch{log: log, damage: make(chan damage, waiting), parts: make(chan part, waiting)}
}

func (w *serverWatch) damaged(sum [32]byte, what string) {
	select {
	case w.damage <- damage{sum, what}:
	default:
	}
}

func (w *serverWatch) note(of engine.ServerPart, text string) {
	select {
	case w.parts <- part{of, text}:
	default:
	}
}

// run tells people until ctx ends.
func (w *serverWatch) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case d := <-w.damage:
			err = w.engine.Server.NoteDamage(ctx, d.sum, d.what)
		case p := <-w.parts:
			err = w.say(ctx, p)
		case <-timer.C:
			again := w.unsaid
			w.unsaid = nil
			for _, p := range again {
				err = errors.Join(err, w.say(ctx, p))
			}
			err = errors.Join(err, w.engine.Server.Again(ctx))
			timer.Reset(mostWait)
		}
		if err != nil && ctx.Err() == nil {
			w.log.Error().Err(err).Msg("server: could not tell administrators what is wrong with it")
		}
	}
}

// say notes what is wrong with a part. What cannot be noted is kept, and tried again: as
// on a full disk, which keeps backups from being made and this from being stored.
func (w *serverWatch) say(ctx context.Context, p part) error {
	if p == (part{engine.ServerSettings, ""}) {
		w.engine.Server.SettingsRead()
	}
	w.unsaid = slices.DeleteFunc(w.unsaid, func(earlier part) bool { return earlier.of == p.of })
	err := w.engine.Server.Note(ctx, p.of, p.text)
	if err != nil {
		w.unsaid = append(w.unsaid, p)
	}
	return err
}

// forgetUnset notes of what the settings do not ask for that nothing is wrong with it: what was
// wrong before it was taken out of them would be told of each day for ever.
func (a *app) forgetUnset() {
	for _, one := range []struct {
		of    engine.ServerPart
		unset bool
	}{
		{engine.ServerBackup, a.backups == nil},
		{engine.ServerHeartbeat, a.heart == nil},
		{engine.ServerCertificate, a.certificate == nil && a.acme == nil},
		{engine.ServerStore, !a.answers.store.isSet()},
		{engine.ServerSignOn, !a.answers.provider.isSet()},
		{engine.ServerDirectory, !a.answers.directory.isSet()},
	} {
		if one.unset {
			a.told.note(one.of, "")
		}
	}
}

// serverState returns how the server is, for Admin/Status.json.
func (a *app) serverState() func() engine.ServerState {
	instant := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	started := instant(clock.Real{}.Now())
	return func() engine.ServerState {
		s := engine.ServerState{Version: version(), Started: started}
		if b := a.backups; b != nil {
			s.Backup = &engine.BackupStatus{Next: instant(b.at.Next(b.now())), Failed: b.failed.Load()}
			if last := b.last.Load(); last > 0 {
				s.Backup.LastGood = new(instant(time.Unix(last, 0)))
			}
		}
		return s
	}
}
