package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/engine"
	"flowdrive/internal/document"
)

// logLevel is the level from which on lines are logged. It can change while the server
// runs.
type logLevel struct{ least atomic.Int32 }

var _ zerolog.Sampler = (*logLevel)(nil)

func newLogLevel(least zerolog.Level) *logLevel {
	l := &logLevel{}
	l.set(least)
	return l
}

func (l *logLevel) set(least zerolog.Level) { l.least.Store(int32(least)) }

// Sample implements zerolog.Sampler.
func (l *logLevel) Sample(level zerolog.Level) bool { return level >= zerolog.Level(l.least.Load()) }

// reread reads the settings again: what the command line says as it was given, the
// rest as it is now. changed names those that are not what they were, in their order.
// An error says everything that is wrong with them.
func reread(cmd *cobra.Command) (s *settings, changed []string, err error) {
	was, flags := cmd.Flags(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s = &settings{}
	s.register(flags)
	flags.String("config", "", "")
	was.VisitAll(func(f *pflag.Flag) {
		again := flags.Lookup(f.Name)
		if again == nil || f.Name != "config" && originOf(f) != fromCommandLine || !f.Changed {
			return
		}
		given, isList := f.Value.(pflag.SliceValue)
		if list, ok := again.Value.(pflag.SliceValue); ok && isList {
			err = errors.Join(err, list.Replace(given.GetSlice()))
		} else {
			err = errors.Join(err, again.Value.Set(f.Value.String()))
		}
		again.Changed = true
	})
	if err == nil {
		err = errors.Join(configureFlags(flags, flagNames(cmd.Root())), placed(flags, s.validate()))
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if old := was.Lookup(f.Name); f.Name != "config" && !sameValue(old.Value, f.Value) {
			changed = append(changed, f.Name)
		}
	})
	return s, changed, err
}

// sameValue reports whether two values of one flag are the same.
func sameValue(a, b pflag.Value) bool {
	switch a := a.(type) {
	case *mapFlag:
		b, ok := b.(*mapFlag)
		return ok && (a.node == nil) == (b.node == nil) && (a.node == nil || document.Equal(a.node, b.node))
	case *secretFlag:
		b, ok := b.(*secretFlag)
		return ok && a.text == b.text
	}
	return a.String() == b.String()
}

// countsAtOnce reports whether a setting counts when the settings are read again; the
// others count after a restart.
func countsAtOnce(name string) bool {
	switch name {
	case "log-level", "rate-per-user", "rate-per-address", "max-connections", "connections-per-address", "allow-host", "mail-domain":
		return true
	}
	return false
}

// apply puts those settings in force that count at once.
func (a *app) apply(s *settings) error {
	level, levelErr := s.level()
	outside, outsideErr := s.outside.gateway()
	if err := errors.Join(levelErr, outsideErr); err != nil {
		return err
	}
	a.level.set(level)
	if a.server != nil {
		a.server.SetLimits(s.limits())
	}
	if a.gateway != nil {
		a.gateway.Allow(outside.Hosts, outside.Domains)
	}
	return nil
}

// reload reads the settings and the certificate again. If anything is wrong with them,
// it says so in the log and to administrators, and all stays as it is. Of the settings the level of the log,
// the limits of requests and connections and the lists of what routes may reach change;
// the log names the others, which count after a restart. It returns what came of it, in
// one line for systemd.
func (a *app) reload() (status string) {
	var s *settings
	var changed []string
	if a.reread != nil {
		var err error
		s, changed, err = a.reread()
		if err == nil && (slices.Contains(changed, "tls-cert") || slices.Contains(changed, "tls-key")) {
			err = s.certificateErr() // it counts after a restart, which it must not prevent
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				a.log.Error().Msg("settings: " + strings.TrimRight(line, "\n"))
			}
			return a.refuseSettings(err)
		}
	}
	if a.certificate != nil {
		if err := a.certificate.Reload(); err != nil {
			a.log.Error().Err(err).Msg("server: could not read the certificate again; all stays as it was")
			return notReloaded(err)
		}
	}
	if s != nil {
		if err := a.apply(s); err != nil {
			a.log.Error().Msg("settings: " + err.Error())
			return a.refuseSettings(err)
		}
		a.told.note(engine.ServerSettings, "")
		changed = slices.DeleteFunc(changed, countsAtOnce)
	}
	if len(changed) == 0 {
		a.log.Info().Bool("certificate", a.certificate != nil).Msg("server: read its settings and certificate again")
		return ""
	}
	names := strings.Join(changed, ", ")
	a.log.Warn().Strs("after_a_restart", changed).Msg("server: read its settings and certificate again; what has changed of these counts after a restart only: " + names)
	return "Restart for: " + names
}

// refuseSettings leaves all as it is, as settings that were read again are wrong, and has
// administrators told. It returns what notReloaded says.
func (a *app) refuseSettings(err error) string {
	a.log.Error().Msg("settings: what was read again is wrong; all stays as it was")
	a.told.note(engine.ServerSettings, "they were read again, and cannot be used: "+firstLine(err))
	return notReloaded(err)
}

// notReloaded says in one line that the settings from before go on to count, and why.
func notReloaded(err error) string { return "Reload failed, all stays as it was: " + firstLine(err) }

func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// reloadOn reloads whenever a signal comes, until ctx ends.
func (a *app) reloadOn(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		if err := a.supervisor.reloading(); err != nil {
			a.log.Warn().Err(err).Msg("server: could not tell systemd that it reads its settings again")
		}
		if err := a.supervisor.reloaded(a.reload()); err != nil {
			a.log.Warn().Err(err).Msg("server: could not tell systemd that it is ready again")
		}
	}
}

// catchReloads lets SIGHUP do what reloadOn does. stop ends it.
func (a *app) catchReloads(ctx context.Context) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.reloadOn(ctx, signals)
	}()
	return func() {
		signal.Stop(signals)
		cancel()
		<-ended
	}
}

var errNoAnswer = errors.New("the database does not answer")

// watch tells systemd twice in each interval of its watchdog that the server works, until
// ctx ends. It does not if the database does not answer: systemd then restarts it.
func (a *app) watch(ctx context.Context) error {
	every, err := a.supervisor.watchdog()
	if err != nil {
		return fmt.Errorf("read for how long systemd waits: %w", err)
	}
	if every == 0 {
		return nil
	}
	return regularly(ctx, every/2, func(ctx context.Context) {
		within, cancel := context.WithTimeout(ctx, every/2)
		err := a.engine.Ready(within)
		cancel()
		if err == nil {
			err = a.supervisor.alive()
		} else {
			err = fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error().Err(err).Msg("server: systemd was not told that it works")
		}
	})
}
