package davfs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// noteWarned leaves a note about a route, a schedule entry or a new case that a mounting
// client has stored with warnings: nobody on a mount sees the answer. The note goes once the
// document is stored without any.
func (p *putRequest) noteWarned(ctx context.Context, o *engine.Outcome) {
	if !p.mounted() || p.dryRun {
		return
	}
	became := "was stored on %s and is in force"
	switch p.target.(type) {
	case routeFile, entryFile:
	case caseFile, dropFile:
		if !o.Created && len(o.Warnings) > 0 {
			return
		}
		became = fmt.Sprintf("has started case %d on %%s", o.CaseID)
	default:
		return
	}
	name := p.at.Name() + " has warnings.txt"
	switch {
	case len(o.Warnings) == 0:
		p.deleteNote(ctx, name)
	case o.Changed:
		text := fmt.Sprintf("%s "+became+", but something in it may not be what you mean.\n\n- %s\n\n",
			p.at.String(), p.when(p.wall), strings.Join(o.Warnings, "\n- "))
		text += "This note is deleted after a day, or once the file is saved without warnings.\n"
		p.keepRefusal(p.request, scratch.Refusal{Name: name, Reasons: text}, p.at)
	}
}

// deleteNote deletes a note of the caller in Rejected/ beside the address, if there is one.
func (p *putRequest) deleteNote(ctx context.Context, name string) {
	at := scratch.RejectedAt(store.ScratchPlace{Folder: folderPath(p.at.parent().Segments), Name: name})
	if _, err := p.engine.Scratch.Get(ctx, p.by, p.wall, at); errs.Is(err, errs.NotFound) {
		return
	}
	err := p.engine.Scratch.Delete(ctx, engine.Request{By: p.by, Now: p.wall}, at)
	if err != nil && !errs.Is(err, errs.NotFound) {
		p.Log.Warn().Err(err).Msg("drive: could not delete a note that is out of date")
	}
}

// noteRestarted leaves a note about a start document that was saved again under the name that
// has started a case, and has changed that case: its author may have meant another one. There
// is one note a day, since many do mean the case.
func (p *putRequest) noteRestarted(ctx context.Context, o *engine.Outcome) {
	if len(o.Restarted) == 0 || !p.mounted() || p.dryRun {
		return
	}
	var about struct{ Created time.Time }
	if err := json.Unmarshal(o.Form, &about); err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not read a case for the note that it was changed")
		return
	}
	name := fmt.Sprintf("Case %d was changed.txt", o.CaseID)
	at := scratch.RejectedAt(store.ScratchPlace{Folder: folderPath(p.at.parent().Segments), Name: name})
	if _, err := p.engine.Scratch.Get(ctx, p.by, p.wall, at); !errs.Is(err, errs.NotFound) {
		if err != nil {
			p.couldNotRead(ctx, err, "drive: could not look for a note")
		}
		return
	}
	text := fmt.Sprintf("%s was saved again on %s. It is the file of case %d, which it has started on %s, so that this case was changed (%s) and no other was started.\n\n",
		p.at.String(), p.when(p.wall), o.CaseID, p.when(about.Created), strings.Join(o.Restarted, ", "))
	text += "- If you meant another case, save that under another name, and put back here what this case had.\n- If you meant this case, all is well.\n\n"
	text += "This note is deleted after a day. As long as it is here, it is not written again.\n"
	p.keepRefusal(p.request, scratch.Refusal{Name: name, Reasons: text}, p.at)
}
