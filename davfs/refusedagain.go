package davfs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// rclone repeats a PUT that was refused, for as long as its mount lives. What its user
// meant was meant for the moment at which they saved it: a command that another person
// has made possible meanwhile must not be carried out minutes later, and what the holder
// of a lock has saved must not be overwritten when the lock ends. So what was refused
// stays refused (docs/contract/drive.md#a-refusal-never-destroys-anything). A document
// that was refused for its faults is looked at again: it means the same at any time.
// So is what a lock refused in Documents/, if nobody has saved there meanwhile.
const (
	// keptRefusal is how long a refusal is remembered after it was last answered.
	keptRefusal = 24 * time.Hour
	// refreshRefusal is how old a remembered one is when a repetition renews it.
	refreshRefusal = time.Hour
	// mostSummed is how large a content of Documents/ is at most of which a refusal is
	// remembered: all of it has to be read.
	mostSummed = 64 << 20
)

// refusedPut is a PUT that was refused, as it is remembered.
type refusedPut struct {
	Sum    [sha256.Size]byte `json:"sum"` // of its body
	At     time.Time         `json:"at"`
	Kind   errs.Kind         `json:"kind"`
	ETag   string            `json:"etag,omitempty"` // of what was stored in Documents/ then, "" for nothing
	Detail string            `json:"detail"`
	Faults []errs.Fault      `json:"faults,omitempty"`
	Extra  map[string]any    `json:"extra,omitempty"`
}

// problem returns the refusal again.
func (r *refusedPut) problem() error {
	return &errs.Error{Kind: r.Kind, Detail: r.Detail, Faults: r.Faults, Extra: r.Extra}
}

// repeatsRefused reports whether the client repeats by itself what was refused.
func (x *request) repeatsRefused() bool {
	return !x.script && (x.at.inWorkflow() || x.at.inDocuments()) && strings.HasPrefix(x.r.UserAgent(), rclone)
}

// rclone is how the User-Agent of rclone begins.
const rclone = "rclone/"

// remembers reports whether it is remembered that the PUT was refused.
func (p *putRequest) remembers() bool { return p.draftable() && p.mounted() || p.toDocuments() }

// toDocuments reports whether the PUT is of a client in Documents/ that repeats by itself
// what was refused.
func (p *putRequest) toDocuments() bool {
	return p.at.inDocuments() && p.repeatsRefused() && !p.dryRun
}

// findRefused returns the refusal that is remembered of the last PUT at the request's
// address, nil if there is none.
func (x *request) findRefused(ctx context.Context) (*refusedPut, error) {
	stored, err := x.engine.Scratch.FindAnswer(ctx, x.by, x.wall, scratch.KeptRefusal, x.at.scratch())
	if err != nil || stored == nil {
		return nil, err
	}
	var r refusedPut
	if err := json.Unmarshal(stored, &r); err != nil {
		return nil, errs.Wrap("read a remembered refusal", err)
	}
	return &r, nil
}

// checkRefused answers a PUT with the refusal of the one that it repeats.
func (p *putRequest) checkRefused(sum [sha256.Size]byte) error {
	if p.refused == nil || p.refused.Sum != sum || !p.repeatsRefused() || p.key != nil {
		return nil
	}
	if p.toDocuments() {
		etag, err := p.storedTag(p.r.Context())
		if err != nil || etag == p.refused.ETag {
			return err // nobody's text is overwritten
		}
	}
	p.again = true
	return p.refused.problem()
}

// storedTag returns the ETag of what is stored at the address, "" if nothing is.
func (p *putRequest) storedTag(ctx context.Context) (string, error) {
	about, err := p.target.stat(ctx)
	if errs.Is(err, errs.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return about.etag, nil
}

// readRefused looks up what was refused at the address. A PUT of a mounting client ends
// it, unless it is a repetition.
func (p *putRequest) readRefused(ctx context.Context) (err error) {
	if p.remembers() {
		p.refused, err = p.findRefused(ctx)
	}
	return err
}

// rememberRefused remembers that a PUT was refused, and forgets what was refused before
// it at the address. It reports false for a repetition, of which everything has been
// said.
func (p *putRequest) rememberRefused(ctx context.Context, refusal error) (first bool) {
	e, isProblem := errors.AsType[*errs.Error](refusal)
	var err error
	switch {
	case !p.remembers() || p.in == nil:
	case p.again && p.wall.Sub(p.refused.At) < refreshRefusal:
	case p.again:
		p.refused.At = p.wall
		err = p.keepRefused(ctx, p.refused)
	case isProblem && p.repeatsRefused() && p.key == nil && p.staysRefused(ctx, e.Kind) && p.sumBody():
		r := &refusedPut{Sum: p.in.sum, At: p.wall, Kind: e.Kind, Detail: e.Detail, Faults: e.Faults, Extra: e.Extra}
		if p.toDocuments() {
			r.ETag, err = p.storedTag(ctx)
		}
		if err == nil {
			err = p.keepRefused(ctx, r)
		}
		p.stays = err == nil
	case p.refused != nil && p.in.read && p.refused.Sum != sha256.Sum256(p.in.data):
		err = p.forgetRefused(ctx)
	}
	if err != nil && !errs.Is(err, errs.Full) {
		p.Log.Warn().Err(err).Msg("drive: could not remember what was refused")
	}
	return !p.again
}

func (p *putRequest) keepRefused(ctx context.Context, r *refusedPut) error {
	stored, err := json.Marshal(r)
	if err != nil {
		return errs.Wrap("write a refusal", err)
	}
	return p.engine.Scratch.KeepAnswer(ctx, engine.Request{By: p.by, Now: p.wall}, scratch.KeptAnswer{
		Kind: scratch.KeptRefusal, At: p.at.scratch(), Answer: stored, Until: p.wall.Add(keptRefusal),
	})
}

func (x *request) forgetRefused(ctx context.Context) error {
	return x.engine.Scratch.DropAnswer(ctx, x.by, scratch.KeptRefusal, x.at.scratch())
}

// staysRefused reports whether what was sent stays refused: a command, unless it was to
// be sent again, and anything that was kept from overwriting by a lock.
func (p *putRequest) staysRefused(ctx context.Context, kind errs.Kind) bool {
	switch kind {
	case errs.Internal, errs.NotBuilt, errs.Unavailable, errs.Full, errs.LogIn, errs.TooMany, errs.TooSlow, errs.Precondition:
		return false
	case errs.Locked:
		return true
	default:
		return p.isCommand(ctx)
	}
}

// isCommand reports whether the PUT is to change or perform something now, and not to
// store a document.
func (p *putRequest) isCommand(ctx context.Context) bool {
	switch n := p.target.(type) {
	case timerFile, labelFile, remarkFile:
		return true
	case caseFile:
		_, err := n.stat(ctx)
		return err == nil
	case entryFile:
		_, ext := splitName(p.at.Name())
		root, err := document.Parse(p.in.data, ext != ".json")
		return err == nil && root.Kind == document.Object && root.Get("do") != nil
	}
	return p.rules.action
}

// sumBody makes sure that the digest of the body is known, which may have been refused
// before it was read. Of a large one it is not.
func (p *putRequest) sumBody() bool {
	most := p.MaxDocument
	if p.toDocuments() {
		most = mostSummed
	}
	if p.in.fault != nil || p.r.ContentLength < 0 || p.r.ContentLength > most {
		return false
	}
	if p.rules.content {
		return p.in.sumRest() == nil
	}
	if err := p.read(); err != nil {
		return false
	}
	p.in.sum = sha256.Sum256(p.in.data)
	return true
}

// endRefused forgets what was refused at the address of a DELETE, unless the client only
// clears up after it.
func (d *drive) endRefused(x *request) {
	if !x.mounted() && !(x.at.inDocuments() && x.repeatsRefused()) || len(x.at.Segments) == 0 {
		return
	}
	if d.overlays.refused.has(x.userPath()) {
		return
	}
	r, err := x.findRefused(x.r.Context())
	if err == nil && r != nil {
		err = x.forgetRefused(x.r.Context())
	}
	if err != nil {
		d.Log.Warn().Err(err).Msg("drive: could not forget what was refused")
	}
}
