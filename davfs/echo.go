package davfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// How long overlays last, and how many there are at most
// (docs/contract/drive.md#4-desktop-clients).
const (
	echoLifetime   = time.Minute
	maxEchoes      = 10_000
	echoBytes      = 16 << 20
	hiddenLifetime = time.Minute
	maxHidden      = 10_000
)

// overlays is what clients have just done, as far as it changes what they are
// shown and what their next requests do.
type overlays struct {
	started time.Time
	refused *recentActions[struct{}] // PUTs that were refused
	pending *recentActions[struct{}] // PUTs that were refused, and are sent again
	echoes  *recentActions[*echo]    // PUTs of mounting clients that were accepted
	hidden  *recentActions[struct{}] // names whose resource was moved out of the way, and stays

	recentlyDeleted *recentActions[[]byte] // sources that were deleted a moment ago
	deletions       *brake                 // of open cases

	secrets *newSecrets // that were made a moment ago

	emptied *recentActions[struct{}] // documents over which an empty file was saved

	braked *recentActions[brakeNote] // what users have been told that the brake holds
}

func newOverlays(now func() time.Time) *overlays {
	return &overlays{
		started: now(),
		refused: newRecentActions[struct{}](now, refusalLifetime, maxRefusals, 1),
		pending: newRecentActions[struct{}](now, pendingLifetime, maxRefusals, 1),
		echoes:  newRecentActions[*echo](now, echoLifetime, maxEchoes, echoBytes),
		hidden:  newRecentActions[struct{}](now, hiddenLifetime, maxHidden, 1),

		recentlyDeleted: newRecentActions[[]byte](now, refusalLifetime, maxRefusals, echoBytes),
		deletions:       newBrake(now),

		secrets: startNewSecrets(now),

		emptied: newRecentActions[struct{}](now, emptiedLifetime, maxRefusals, 1),

		braked: newRecentActions[brakeNote](now, brakeWindow, maxBraked, brakedBytes),
	}
}

// echo is an accepted PUT of a mounting client. For a minute its author finds the
// bytes of that PUT under its URL, whatever has become of them. Such clients
// compare what they find with what they sent, delete what differs, and repeat what
// they do not find.
type echo struct {
	sum         [sha256.Size]byte
	about       info       // of the bytes
	kept        bool       // a GET of the URL gives the bytes without the echo
	storedETag  string     // of the version that was stored then under the URL
	content     []byte     // of a document
	contentOnly bool       // only the stored version has the bytes
	caseID      int64      // whose input the bytes are, if they are not a document
	attachment  store.UUID // that the bytes are, if the URL does not name it
	performed   bool       // the bytes said what to do with a task
	answer      *answer
}

// describe describes the echo in the place of what is there, if anything is.
func (e *echo) describe(name string, there *info) *info {
	about := e.about
	about.name, about.created = name, about.modified
	if there != nil {
		about.name, about.created, about.ofCase = there.name, there.created, there.ofCase
	}
	return &about
}

// open opens the bytes.
func (e *echo) open(ctx context.Context, x *request) (io.ReadSeekCloser, error) {
	if e.attachment != (store.UUID{}) {
		a, err := x.engine.Attachments.OpenAttachment(ctx, x.by, e.attachment)
		if err != nil {
			return nil, err
		}
		return a.Body, nil
	}
	if e.caseID == 0 {
		return contentOf(e.content), nil
	}
	input, err := x.engine.Cases.Message(ctx, x.by, e.caseID, store.UUID{}, engine.OwnInput)
	if err != nil {
		return nil, err
	}
	return input.Body, nil
}

// mounted reports whether the request is a mounting client's, in a folder of
// Workflow/.
func (x *request) mounted() bool { return !x.script && x.at.inWorkflow() }

// overlaid reports whether the request is a mounting client's, where such are shown
// drafts and echoes.
func (x *request) overlaid() bool { return !x.script && x.at.overlaid() }

// findEcho returns the echo at an address, nil if there is none.
func (x *request) findEcho(a address) *echo {
	if x.script || !a.overlaid() {
		return nil
	}
	e, _ := x.overlays.echoes.find(userPathOf(x.by.ID, a))
	return e
}

// repeats returns the echo of a PUT that this one may repeat, nil if there is none.
// A resource that stores the bytes must still have them.
func (p *putRequest) repeats(ctx context.Context) (*echo, error) {
	if p.dryRun || p.key != nil {
		return nil, nil
	}
	e := p.findEcho(p.at)
	if e == nil {
		return p.storedEcho(ctx)
	}
	if !e.kept || e.caseID != 0 {
		return e, nil
	}
	about, err := p.target.stat(ctx)
	if err == nil && about.etag != e.about.etag || errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	return e, err
}

// replayEcho answers a PUT of a document that repeats one that was accepted a
// moment ago as that was answered, and does nothing.
func (p *putRequest) replayEcho(ctx context.Context) (*answer, error) {
	e, err := p.repeats(ctx)
	if err != nil || e == nil || e.sum != sha256.Sum256(p.in.data) {
		return nil, err
	}
	if p.condition != nil && p.rules.action {
		if err := p.condition(e.about.version()); err != nil {
			return nil, err
		}
	}
	return e.answer, nil
}

// expectEcho looks for a PUT that a content may repeat. That is known once its last
// byte was read, before anything is done with it.
func (p *putRequest) expectEcho(ctx context.Context) (err error) {
	p.echo, err = p.repeats(ctx)
	p.in.checkSum = func(sum [sha256.Size]byte) error {
		if p.echo != nil && p.echo.sum == sum {
			return errRepeated
		}
		return p.checkRefused(sum)
	}
	return err
}

// errRepeated ends the reading of a content that was sent a moment ago.
var errRepeated = errs.New(errs.Internal, "A content that was repeated was taken for a failure.")

// keepEcho records the echo of an accepted PUT, and adds the ETag of what a GET of
// the URL now gives to its answer.
func (p *putRequest) keepEcho(ctx context.Context, o *engine.Outcome, a *answer) {
	at := p.userPath()
	p.request.overlays.echoes.forget(at)
	if p.script {
		return
	}
	if p.rules.secret && !p.withoutPassword() {
		p.differs = true
		return
	}
	e := &echo{content: p.in.data, answer: a, kept: p.givesBack(o), performed: p.rules.action}
	e.about = info{name: p.at.Name(), mediaType: p.in.mediaType, modified: p.wall}
	if p.rules.content {
		e.sum, e.about.size = p.in.sum, p.in.size
		if _, dropped := p.target.(dropFile); dropped {
			e.caseID = o.CaseID
		}
		if _, attached := p.target.(newAttachment); attached {
			e.attachment, e.kept = uuidOf(o.Name), false
		}
		e.contentOnly = e.caseID == 0 && e.attachment == store.UUID{}
	} else {
		e.sum, e.about.size = sha256.Sum256(p.in.data), int64(len(p.in.data))
	}
	e.about.etag = fmt.Sprintf(`"%x"`, e.sum[:16])
	switch {
	case e.kept, e.attachment != store.UUID{}:
		e.about.etag = o.ETag
	case e.contentOnly:
		return // something else has replaced it already
	default:
		if there, err := p.target.stat(ctx); err == nil {
			e.storedETag = there.etag
		}
		if !p.whole {
			a.add("ETag", e.about.etag)
		}
	}
	p.request.overlays.echoes.add(at, e, int64(len(e.content)))
	p.storeEcho(ctx, e)
}

// withoutPassword reports whether what is secret about such a PUT is a password, and the
// body has none: then the body may be kept for a minute.
func (p *putRequest) withoutPassword() bool {
	return p.rules.password && !bytes.ContainsRune(p.in.data, '\\') && !bytes.Contains(bytes.ToLower(p.in.data), []byte("password"))
}

// uuidOf returns the UUID that an outcome names.
func uuidOf(name string) store.UUID {
	uuid, _ := store.ParseUUID(name) // which the engine has written
	return uuid
}

// givesBack reports whether a GET of the request's URL gives the bytes that were
// sent.
func (p *putRequest) givesBack(o *engine.Outcome) bool {
	return o.ETag != "" && (!p.rules.existing || o.ETag == o.FormETag)
}
