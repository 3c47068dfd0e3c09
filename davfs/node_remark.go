package davfs

import (
	"context"
	"io"
	"strconv"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/plaintext"
)

// remarkFile is Cases/<id>/comment.txt: a text that is saved there is a remark on the case
// (docs/contract/drive.md#remarks). It is always empty to read: log.txt beside it has what
// was remarked.
type remarkFile struct {
	*scope
	id int64
}

func (n remarkFile) stat(ctx context.Context) (*info, error) {
	r, err := n.engine.Cases.Case(ctx, n.by, engine.Ref{CaseID: n.id})
	if err != nil {
		return nil, err
	}
	return &info{name: engine.RemarkFile, mediaType: typeText, etag: engine.RemarkETag, created: r.Created, modified: r.Created, lockKey: engine.RemarkKey(n.id, n.by)}, nil
}

func (n remarkFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	about, err := n.stat(ctx)
	if err != nil {
		return nil, nil, err
	}
	return about, contentOf(nil), nil
}

func (n remarkFile) putRules() putRules { return putRules{existing: true} }

func (n remarkFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	text, err := plaintext.Decode(in.data, in.mediaType)
	if err != nil {
		return nil, errs.New(errs.MediaType, "The file is not a text. A remark is plain text; save other files in the folder Files of the case.")
	}
	req.If = nil // which was about this file, and not about the case
	return n.engine.Cases.Remark(ctx, req, n.id, text)
}

func (n remarkFile) describe(a *answer, _ *engine.Outcome) {
	a.locate("dav", "Workflow", "Cases", strconv.FormatInt(n.id, 10)+".json")
}

func (n remarkFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnRemark, Ref: engine.Ref{CaseID: n.id}}
}
