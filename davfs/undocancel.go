package davfs

import (
	"context"
	"fmt"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
)

// To delete the file of a case cancels the case, which a person on a mount may not mean. A
// note says so, and how to reopen it (docs/contract/drive.md#undo-a-cancel).

// canceledNote is the name of the note about a case that was canceled.
func canceledNote(id string) string { return "Case " + id + " is canceled.txt" }

// cancels returns the id of the open case that a DELETE of a mounting client is about to
// cancel, "" for none.
func (d *drive) cancels(x *request, n node) string {
	file, isCase := n.(caseFile)
	if !isCase || x.script {
		return ""
	}
	r, state, err := file.life(x.r.Context())
	if err == nil && !state.Ended() {
		return r.Name
	}
	if err != nil && !errs.Is(err, errs.NotFound) {
		d.couldNotRead(x.r.Context(), err, "drive: could not find which case a file stands for")
	}
	return ""
}

// noteCanceled leaves a note about a case that was canceled because its file was deleted.
func (d *drive) noteCanceled(x *request, id string) {
	if id == "" {
		return
	}
	until := d.Clock.Now().Add(engine.UndoCancel)
	text := fmt.Sprintf("%s was deleted on %s, which canceled the case %s.\n\n", x.at.String(), x.when(x.wall), id)
	text += fmt.Sprintf("If that was not meant, reopen it until %s: save a file with this text as Cases/%s.json.\n\n", x.when(until), id)
	text += "{\"state\": \"active\"}\n\n"
	text += "The case has no name of yours then: its file is Cases/" + id + ".json. After that time administrators of its route can reopen it.\n"
	text += "How it stands is in Status/cases/" + id + ".txt.\n\nThis note is deleted after a day, or once you have reopened the case.\n"
	d.keepRefusal(x, scratch.Refusal{Name: canceledNote(id), Reasons: text}, x.at)
}

// endCanceled deletes the note about a case that is not canceled any more.
func (p *putRequest) endCanceled(ctx context.Context) {
	if file, isCase := p.target.(caseFile); isCase && file.name.identity && p.mounted() && !p.dryRun {
		p.deleteNote(ctx, canceledNote(fmt.Sprint(file.name.ref.CaseID)))
	}
}

// overlookUnlisted drops the condition that nothing is at the address if that is a canceled
// case: no listing of Cases/ shows it, so that davfs2 believes that it makes a new file.
func (p *putRequest) overlookUnlisted() error {
	file, isCase := p.target.(caseFile)
	h := p.r.Header
	if !isCase || !file.name.identity || !p.mounted() || p.transferBy != "" || h.Get("If-None-Match") != "*" || h.Get("If-Match") != "" || h.Get("If") != "" {
		return nil
	}
	_, state, err := file.life(p.r.Context())
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	if err == nil && state == machine.Canceled {
		p.condition = nil
	}
	return err
}
