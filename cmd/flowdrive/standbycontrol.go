package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/server"
)

// standsBy is what healthcheck says of a node that passes on requests.
const standsBy = "The node stands by; another one is active."

// serveControl serves the control socket while the node stands by, until stop is called: a
// supervisor asks whether it is well, and a command is told where it belongs.
func (n *nodeServer) serveControl(ctx context.Context) (stop func(), err error) {
	unlock, err := lockFolder(n.settings.data) // the socket may be another server's
	if err != nil {
		return nil, err
	}
	listener, done, err := listenControl(ctx, n.settings.data)
	if err := errors.Join(err, unlock()); err != nil {
		if listener != nil {
			err = errors.Join(err, listener.Close(), done())
		}
		return nil, err
	}
	hs := &http.Server{Handler: http.HandlerFunc(n.answerControl), ReadHeaderTimeout: headWithin}
	ended := make(chan error, 1)
	go func() { ended <- hs.Serve(listener) }()
	return func() {
		err := hs.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		if err := errors.Join(err, done()); err != nil {
			n.log.Warn().Err(err).Msg("node: the control socket")
		}
	}, nil
}

// headWithin is within which a client of the control socket must say what it wants.
const headWithin = 10 * time.Second

func (n *nodeServer) answerControl(w http.ResponseWriter, r *http.Request) {
	why := *n.why.Load()
	switch {
	case r.URL.Path != healthPath:
		server.WriteError(w, r, errs.New(errs.Unavailable, "This node stands by. Run the command at the data folder of the active node; the files in Admin/Nodes/ say which one that is."))
	case why != unreached:
		server.WriteError(w, r, errs.New(errs.Unavailable, "The server is not ready: %s", why))
	default:
		_, _ = io.WriteString(w, fmt.Sprintln(standsBy)) // who asked has gone if it fails
	}
}
