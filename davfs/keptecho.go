package davfs

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
)

// An echo keeps a client that repeats its PUT from starting a second case, or from
// performing an action twice. What it needs for that outlives a restart of the server,
// which is just when clients repeat what they are not sure of. What an echo shows does
// not: clients send again what they do not find.

// acceptedPut is what is stored of an echo.
type acceptedPut struct {
	Sum    [sha256.Size]byte `json:"sum"`
	ETag   string            `json:"etag"`
	CaseID int64             `json:"case,omitempty"`
	Answer json.RawMessage   `json:"answer"`
}

// storeEcho stores the echo, unless a repetition would find the same bytes stored.
func (p *putRequest) storeEcho(ctx context.Context, e *echo) {
	if e.kept && e.caseID == 0 {
		return
	}
	stored, err := json.Marshal(acceptedPut{e.sum, e.about.etag, e.caseID, e.answer.encode()})
	if err == nil {
		err = p.engine.Scratch.KeepAnswer(ctx, engine.Request{By: p.by, Now: p.wall}, scratch.KeptAnswer{
			Kind: scratch.KeptEcho, At: p.at.scratch(), Answer: stored, Until: p.wall.Add(echoLifetime),
		})
	}
	if err != nil && !errs.Is(err, errs.Full) {
		p.Log.Warn().Err(err).Msg("drive: could not store what was just accepted; a repetition after a restart is done again")
	}
}

// storedEcho returns the echo that was stored before a restart, nil if there is none.
func (p *putRequest) storedEcho(ctx context.Context) (*echo, error) {
	if !p.overlaid() || !p.justStarted() {
		return nil, nil
	}
	stored, err := p.engine.Scratch.FindAnswer(ctx, p.by, p.wall, scratch.KeptEcho, p.at.scratch())
	if err != nil || stored == nil {
		return nil, err
	}
	var put acceptedPut
	if err := json.Unmarshal(stored, &put); err != nil {
		return nil, errs.Wrap("read what was just accepted", err)
	}
	a, err := decodeAnswer(put.Answer)
	if err != nil {
		return nil, err
	}
	return &echo{sum: put.Sum, about: info{name: p.at.Name(), etag: put.ETag}, caseID: put.CaseID, answer: a}, nil
}

// justStarted reports whether echoes of before the start of the server may still count.
// Those of after it are in memory.
func (x *request) justStarted() bool { return x.wall.Sub(x.overlays.started) <= echoLifetime }

// forgetEcho forgets the echo at the request's address: something else was done there.
func (x *request) forgetEcho(ctx context.Context) error {
	x.overlays.echoes.forget(x.userPath())
	if !x.overlaid() || !x.justStarted() {
		return nil
	}
	return x.engine.Scratch.DropAnswer(ctx, x.by, scratch.KeptEcho, x.at.scratch())
}
