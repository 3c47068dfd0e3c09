package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/notify"
	"flowdrive/route"
	"flowdrive/store"
)

// heartbeatSettings are the flags of serve that say who waits for signs of life of the
// server.
type heartbeatSettings struct {
	url   secretFlag // such addresses are secret: who knows one can call it, too
	every string
}

const (
	heartbeatEvery = "PT1M" // the default
	leastHeartbeat = 10 * time.Second
	mostHeartbeat  = 24 * time.Hour
)

// secretPrefix begins an address that is the name of a secret.
const secretPrefix = "secret:"

func (s *heartbeatSettings) register(flags *pflag.FlagSet) {
	flags.Var(&s.url, "heartbeat-url", "URL, at a host of --allow-host, or secret:NAME, that is called as long as the server is well\n(configuration file or environment)")
	flags.StringVar(&s.every, "heartbeat-every", heartbeatEvery, "how often it is called, 10s to 1d")
}

// call returns the request that is a sign of life; nil for none.
func (s *heartbeatSettings) call() *outbox.HTTPCall {
	if s.url.text == "" {
		return nil
	}
	if name, is := strings.CutPrefix(s.url.text, secretPrefix); is {
		return &outbox.HTTPCall{Method: "POST", URLSecret: name}
	}
	return &outbox.HTTPCall{Method: "POST", URL: s.url.text}
}

// interval returns how often it is sent.
func (s *heartbeatSettings) interval() (time.Duration, error) {
	d, err := clock.ParseLength(cmp.Or(s.every, heartbeatEvery))
	if err != nil || d < leastHeartbeat || d > mostHeartbeat {
		return 0, configError{fmt.Errorf("--heartbeat-every: %q is not a length of time from 10s to 1d", s.every)}
	}
	return d, nil
}

// fault says what is wrong with the settings. c has what the address is judged by.
func (s *heartbeatSettings) fault(c notify.Config, unsure doubts) error {
	_, err := s.interval()
	call := s.call()
	if call == nil {
		if s.every != "" && s.every != heartbeatEvery {
			return errors.Join(err, configError{errors.New("--heartbeat-every has no effect without --heartbeat-url")})
		}
		return err
	}
	g := notify.New(c)
	defer g.Close()
	var detail string
	doubted := unsure.hosts
	if call.URLSecret != "" {
		detail = g.RefusesSecret(nil, route.ReachSecretURL, call.URLSecret)
		doubted = doubted || unsure.secret(call.URLSecret)
	} else {
		detail = g.RefusesURL(call.URL)
	}
	if detail != "" && !doubted {
		err = errors.Join(err, configError{fmt.Errorf("--heartbeat-url: %s", detail)})
	}
	return err
}

// heartbeat tells a service that the server is well, for as long as it is.
type heartbeat struct {
	every time.Duration
	well  func(context.Context) error     // nil while the server is well
	send  func(context.Context) error     // one sign of life
	note  func(engine.ServerPart, string) // tells administrators
	log   zerolog.Logger
	said  string // why no sign of life is sent, as the log has it
	fails bool   // the last one was not taken
	taken bool   // the last one was taken
}

// newHeartbeat returns nil if the settings ask for none, or if nothing leaves the server.
func (a *app) newHeartbeat() (*heartbeat, error) {
	s := &a.settings.outside.heartbeat
	call := s.call()
	if call == nil || a.sandbox != nil || a.settings.offline {
		return nil, nil
	}
	every, err := s.interval()
	if err != nil {
		return nil, err
	}
	return &heartbeat{
		every: every, note: a.told.note, log: a.log, well: a.isWell,
		send: func(ctx context.Context) error {
			_, err := a.gateway.Deliver(ctx, &outbox.Delivery{Key: store.NewUUID().String(), Attempt: 1, HTTP: call})
			return err
		},
	}, nil
}

// isWell returns why the server does not do what it is there for: the database does not
// answer, the disk is full, or what is due is not done.
func (a *app) isWell(ctx context.Context) error {
	if err := a.disk.ready(a.engine.Ready)(ctx); err != nil {
		return err
	}
	for _, part := range a.parts(ctx) {
		if (part.Name == "sweeper" || part.Name == "disk") && part.Says != "" {
			return errors.New(part.Says)
		}
	}
	return nil
}

// run sends signs of life until ctx ends.
func (h *heartbeat) run(ctx context.Context) error {
	if h == nil {
		return nil
	}
	return regularly(ctx, h.every, h.beat)
}

// beat sends one sign of life if the server is well. That one is not sent, or not taken,
// is said once.
func (h *heartbeat) beat(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, h.every)
	defer cancel()
	if err := h.well(within); err != nil {
		if h.said == "" && ctx.Err() == nil {
			h.said = err.Error()
			h.log.Error().Err(err).Msg("heartbeat: the server is not well; no sign of life is sent")
		}
		return
	}
	if h.said != "" {
		h.said = ""
		h.log.Info().Msg("heartbeat: the server is well again")
	}
	err := h.send(within)
	switch {
	case ctx.Err() != nil:
	case err != nil && !h.fails:
		h.fails, h.taken = true, false
		h.note(engine.ServerHeartbeat, "the service that waits for signs of life of the server did not take one: "+err.Error())
	case err == nil && !h.taken:
		h.fails, h.taken = false, true
		h.note(engine.ServerHeartbeat, "") // also what was wrong before a restart
	}
}
