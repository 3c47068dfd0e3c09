package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// reloadOn reads the certificate again whenever a signal comes, until ctx ends.
// If its files cannot be used, it says so in the log and goes on with the one that
// it has. Without a certificate the signal does nothing.
func (a *app) reloadOn(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		if a.certificate == nil {
			a.log.Info().Msg("server: told to read the certificate again, but there is none")
			continue
		}
		if err := a.certificate.Reload(); err != nil {
			a.log.Error().Err(err).Msg("server: could not read the certificate again; it goes on with the one that it has")
			continue
		}
		a.log.Info().Msg("server: read the certificate again")
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
