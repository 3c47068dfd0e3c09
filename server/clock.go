package server

import (
	"encoding/json"
	"mime"
	"net/http"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// SandboxClock serves /clock: it tells the clock of a sandbox, and moves it
// for administrators (docs/contract/drive.md#8-sandbox-mode).
type SandboxClock struct {
	Clock  *clock.Sandbox
	Engine *engine.Engine
}

// clockForm is what /clock answers. Mode is there on GET, Fired and Complete
// on POST.
type clockForm struct {
	Now      string `json:"now"`
	Mode     string `json:"mode,omitempty"`
	Fired    *int   `json:"fired,omitempty"`
	Complete *bool  `json:"complete,omitempty"`
}

// ServeHTTP implements http.Handler.
func (s *SandboxClock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var form clockForm
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		form = clockForm{Now: s.Clock.Now().Format(time.RFC3339), Mode: engine.ModeSandbox}
	case http.MethodPost:
		done, err := s.move(w, r)
		if err != nil {
			WriteError(w, r, err)
			return
		}
		form = clockForm{Now: done.Now.Format(time.RFC3339), Fired: &done.Fired, Complete: &done.Complete}
	default:
		WriteError(w, r, &errs.Error{
			Kind: errs.Method, Detail: "The clock is read by GET and moved by POST.", Extra: map[string]any{ExtraAllow: []string{"GET", "HEAD", "POST"}},
		})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(form) // the client has gone
}

// move moves the clock as the document of a POST asks for.
func (s *SandboxClock) move(w http.ResponseWriter, r *http.Request) (engine.Advanced, error) {
	if err := mayMove(r); err != nil {
		return engine.Advanced{}, err
	}
	if media := r.Header.Get("Content-Type"); !isJSON(media) {
		return engine.Advanced{}, errs.New(errs.MediaType, "Send the document with Content-Type: application/json.")
	}
	body, err := ReadBody(w, r, 64<<10)
	if err != nil {
		return engine.Advanced{}, err
	}
	node, err := document.ParseJSON(body)
	if err != nil {
		return engine.Advanced{}, err
	}
	target := func(now time.Time) (time.Time, error) {
		if err := mayMove(r); err != nil {
			return now, err // while the body came, or others moved the clock, this may have ended
		}
		var faults document.Faults
		to := readMove(document.Root(node, &faults), now)
		return to, faults.Err()
	}
	// What is wrong is told at once, though other moves may come first; the
	// clock may stand further on when this one's turn comes.
	if _, err := target(s.Clock.Now()); err != nil {
		return engine.Advanced{}, err
	}
	done, err := s.Engine.Advance(r.Context(), target, s.Clock.Set)
	if err == nil {
		s.Engine.NoteClock(r.Context(), PrincipalOf(r.Context()), done.Now)
	}
	return done, err
}

// mayMove answers why the caller may not move the clock, nil if it may.
func mayMove(r *http.Request) error {
	if !PrincipalOf(r.Context()).Admin() {
		return errs.New(errs.NotAllowed, "Only administrators may move the clock.")
	}
	return nil
}

// readMove reads {"advance": duration} or {"set": instant}.
func readMove(root document.Value, now time.Time) (to time.Time) {
	if !root.Is(document.Object) {
		return now
	}
	root.Only("advance", "set")
	advance, set := root.Get("advance"), root.Get("set")
	switch {
	case advance.Given() && set.Given():
		set.Fail(errs.CodeConflict, "cannot be given together with advance")
	case advance.Given():
		return readAdvance(advance, now)
	case set.Given():
		text, ok := set.Str()
		if !ok {
			return now
		}
		t, err := time.Parse(time.RFC3339, text)
		if err != nil || t.Year() > 9999 {
			set.Fail(errs.CodeFormat, "must be an instant like 2012-11-11T23:00:00Z")
			return now
		}
		if t = clock.Trim(t); t.Before(now) {
			set.Fail(errs.CodeRange, "is before the time of the clock, %s, which moves forward only", now.Format(time.RFC3339))
			return now
		}
		return t
	default:
		root.Fail(errs.CodeRequired, "must have advance with a duration, or set with an instant")
	}
	return now
}

func readAdvance(v document.Value, now time.Time) time.Time {
	var d clock.Duration
	if v.Node.Kind == document.Number {
		seconds, ok := v.Int(0, 1<<40)
		if !ok {
			return now
		}
		if d, ok = clock.Seconds(seconds); !ok {
			v.Fail(errs.CodeRange, "is too long")
			return now
		}
	} else {
		text, ok := v.Str()
		if !ok {
			return now
		}
		var err error
		if d, err = clock.ParseDuration(text); err != nil {
			v.Fail(errs.CodeFormat, "%v", err)
			return now
		}
	}
	to := d.After(now)
	if to.Year() > 9999 || to.Before(now) {
		v.Fail(errs.CodeRange, "leads beyond the year 9999")
		return now
	}
	return clock.Trim(to)
}

// isJSON reports whether a Content-Type is JSON's.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}
