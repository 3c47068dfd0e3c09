package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/hook"
	"flowdrive/internal/errs"
)

// Hooks takes requests to hooks, which need no log-in.
type Hooks interface {
	Receive(ctx context.Context, r hook.Request) (*hook.Answer, error)
}

// serveHook answers /hook/<token> (docs/contract/drive.md#hooks). An unknown token
// counts as a failed log-in, so that tokens cannot be searched for.
func (s *Server) serveHook(x *exchange, r *http.Request) error {
	token := strings.TrimPrefix(r.URL.Path, "/hook/")
	if s.config.Hooks == nil || token == "" || strings.Contains(token, "/") {
		return errs.New(errs.NotFound, "There is nothing at this address.")
	}
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		return &errs.Error{
			Kind: errs.Method, Detail: "This address takes POST and PUT.",
			Extra: map[string]any{ExtraAllow: []string{http.MethodPost, http.MethodPut}},
		}
	}
	if r.ContentLength > hook.MaxBody {
		return errs.New(errs.TooLarge, "The body is larger than %s, the most that a hook takes.", bytesInWords(hook.MaxBody))
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return errs.New(errs.MediaType, "The body is encoded as %q; send it as it is (RFC 9110, section 8.4).", clip(coding, 40))
	}
	x.room = s.roomOf(0)
	answer, err := s.config.Hooks.Receive(r.Context(), hook.Request{
		Token: token, Header: r.Header, Query: r.URL.Query(), Body: r.Body, Length: r.ContentLength, Wall: s.config.Now(),
		Hold: func(bytes int64) error { return Weigh(r.Context(), 2*bytes) },
	})
	if errors.Is(err, engine.ErrNoHook) {
		if s.config.Audit != nil {
			s.config.Audit.LogInRefused(0, x.client.String(), "no such hook")
		}
		return s.config.Auth.unknownAddress(x.client)
	}
	if err != nil {
		return err
	}
	h := x.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if answer.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	status := http.StatusOK
	if answer.Label == "" {
		status = http.StatusCreated
	}
	x.WriteHeader(status)
	_, _ = x.Write(append(plainJSON(answer), '\n'))
	return nil
}
