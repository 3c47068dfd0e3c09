package davfs

import (
	"context"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
)

// keepUnsaved keeps in .history/ what a condition or a lock refused to a PUT of a
// mounting client in Documents/, where there is no Rejected/
// (docs/contract/labels-attachments.md#history-of-documents). Of what there is no room for
// it keeps the reasons: some mounts tell their user nothing.
func (d *drive) keepUnsaved(x *request, p *putRequest, refusal error) {
	to, is := p.target.(interface{ unsaved() engine.DocumentPath })
	conflict := errs.Is(refusal, errs.Precondition) && !x.asksWhetherThere(refusal) || errs.Is(refusal, errs.Locked)
	noRoom := errs.Is(refusal, errs.Full) || errs.Is(refusal, errs.TooLarge)
	if x.script || !is || !conflict && !noRoom || p.dryRun || p.in == nil {
		return
	}
	if noRoom {
		d.storeUnsaved(x, to.unsaved(), files.Unsaved{Reasons: reasons(x.at, refusal, x.when(x.wall)) + withoutText})
		return
	}
	if err := d.Weigh(x.r.Context(), keptWeight(x.r.ContentLength, d.MaxDocument)); err != nil {
		return // what there is no room for is not kept
	}
	body, whole := p.in.refused(d.MaxDocument)
	if whole && len(body) == 0 {
		return
	}
	d.storeUnsaved(x, to.unsaved(), files.Unsaved{
		MediaType: p.in.content().MediaType, Body: body, Reasons: reasons(x.at, refusal, x.when(x.wall)) + besideUnsaved,
	})
}

// storeUnsaved stores what was refused, unless there is no room for that either.
func (d *drive) storeUnsaved(x *request, at engine.DocumentPath, u files.Unsaved) {
	ctx := context.WithoutCancel(x.r.Context())
	err := x.engine.Documents.KeepUnsaved(ctx, engine.Request{By: x.by, Now: d.Clock.Now()}, at, u)
	if err != nil && !errs.Is(err, errs.Full) {
		d.Log.Warn().Err(err).Msg("drive: could not keep what was refused")
	}
}

// These end the reasons in .history/.
const (
	besideUnsaved = "\nThe file beside this one has what was sent, unless it was too large to be kept.\n"
	withoutText   = "\nWhat was sent is not kept here. Save it somewhere else.\n"
)

func (n documentTarget) unsaved() engine.DocumentPath { return n.path }
