package main

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/davfs"
	"flowdrive/internal/clock"
	"flowdrive/server"
)

// serveInProcess starts a server on the data folder, wired as the program
// wires it, with no limit on how much a user may have. stop ends it and waits
// for it.
func serveInProcess(data string) (addr string, stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		cancel()
		return "", nil, err
	}
	s, err := server.New(server.Config{
		Log: zerolog.New(io.Discard).Level(zerolog.InfoLevel), Metrics: prometheus.NewRegistry(), Auth: server.NewAuthenticator(h.engine.Accounts, time.Now, server.RecommendedCosts()), Now: time.Now,
		Drive: davfs.New(davfs.Config{
			Engine: davfs.EngineOf(h.engine), Clock: clock.Real{}, Log: zerolog.Nop(), Principal: server.PrincipalOf, WriteError: server.WriteError,
			Status: server.Status,
		}),
	})
	var l net.Listener
	if err == nil {
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		cancel()
		return "", nil, errors.Join(err, h.close())
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	return l.Addr().String(), func() error {
		cancel()
		return errors.Join(<-ended, h.close())
	}, nil
}
