package davfs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/store"
)

// A dropped file without the XATTRs that its route requires makes a draft case
// (docs/contract/drive.md#draft-cases). Who has dropped it is told what to do next: a
// script by the answer, a person on a mount by a note in Rejected/.

// ask makes the answer to a script client have the task of the draft: it can be filled in
// and PUT to the address in Content-Location.
func (a *answer) ask(o *engine.Outcome) *answer {
	a.Status = http.StatusAccepted
	a.add("Content-Location", dav.Href(casePath(o.CaseID, "Actions", machine.DraftAction+".json")...))
	a.add("Content-Type", typeJSON)
	a.Body = o.Draft
	return a
}

// droppedBefore returns the open case that the file of this PUT has started before, 0 for
// none.
func (p *putRequest) droppedBefore() int64 {
	if p.dryRun {
		return 0
	}
	if a := p.startedBy(p.request, p.target); a != nil && a.Open {
		return a.CaseID
	}
	return 0
}

// startedBy returns what a mounting client has dropped under the name of a file, nil if its
// case is neither open nor failed.
func (d *drive) startedBy(x *request, n node) *store.Alias {
	file, isDrop := n.(dropFile)
	if !isDrop || !x.mounted() {
		return nil
	}
	a, err := file.load(x.r.Context())
	if err != nil && !errs.Is(err, errs.NotFound) {
		d.couldNotRead(x.r.Context(), err, "drive: could not find which case a file has started before")
	}
	return a
}

// noteGoesOn leaves a note about a dropped file that was deleted: a person who has dropped
// the wrong file believes that its case ends with it.
func (d *drive) noteGoesOn(x *request, started *store.Alias) {
	if started == nil {
		return
	}
	id := started.CaseID
	stays, wrong := "goes on", fmt.Sprintf("delete Cases/%d.json, too: that cancels the case", id)
	if !started.Open {
		stays, wrong = "stays failed", fmt.Sprintf("ask an administrator of the route to cancel case %d", id)
	}
	text := fmt.Sprintf("%s was deleted here on %s, but the case %d, which it has started, %s.\n\n", x.at.String(), x.when(x.wall), id, stays)
	text += fmt.Sprintf("If it was the wrong file, %s.\n\nThis note is deleted after a day.\n", wrong)
	d.keepRefusal(x, scratch.Refusal{Name: fmt.Sprintf("Case %d %s.txt", id, stays), Reasons: text}, x.at)
}

// noteRetried leaves a note about a file that was saved again after its case had failed:
// nobody on a mount sees the answer.
func (p *putRequest) noteRetried(o *engine.Outcome) {
	if !o.Retried || !p.mounted() || p.dryRun {
		return
	}
	text := fmt.Sprintf("%s was saved again on %s.\n\n- %s\n\n", p.at.String(), p.when(p.wall), strings.Join(o.Warnings, "\n- "))
	text += fmt.Sprintf("Status/cases/%d.txt says where it is.\n\nThis note is deleted after a day.\n", o.CaseID)
	p.keepRefusal(p.request, scratch.Refusal{Name: fmt.Sprintf("Case %d is tried again.txt", o.CaseID), Reasons: text}, p.at)
}

// noteAnother leaves a note about a file that was saved again where it was dropped: that has
// started another case, which a person who has only corrected it does not want.
func (p *putRequest) noteAnother(before int64, o *engine.Outcome) {
	if before == 0 || o.CaseID == before {
		return
	}
	text := fmt.Sprintf("%s was saved again on %s. That has started another case, %d, since each file that is saved here starts one. Case %d, which it started before, goes on, too.\n\n",
		p.at.String(), p.when(p.wall), o.CaseID, before)
	text += fmt.Sprintf("If only one of them is meant, delete the other one: Cases/%d.json or Cases/%d.json.\n", before, o.CaseID)
	text += fmt.Sprintf("To add a file to a case, save it in Cases/%d/Files/.\n\nThis note is deleted after a day.\n", before)
	p.keepRefusal(p.request, scratch.Refusal{Name: fmt.Sprintf("Case %d was started, too.txt", o.CaseID), Reasons: text}, p.at)
}

// noteDraft leaves a note about a drop of a mounting client that has made a draft.
func (p *putRequest) noteDraft(o *engine.Outcome) {
	if o.Draft == nil || !p.mounted() || p.dryRun {
		return
	}
	var asked struct{ CaseTitle, Title string }
	if err := json.Unmarshal(o.Draft, &asked); err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not read the task of a draft for its note")
	}
	name := filename.Titled(fmt.Sprintf("%d.%s", o.CaseID, machine.DraftAction), asked.CaseTitle, ".json")
	task := addressOf([]string{"dav", "Workflow", worklistRoot, string(engine.WorklistOffered), name}).String()
	text := fmt.Sprintf("%s was taken, and nothing of it is lost. Its case, %d, is a draft: it does not start yet.\n\n- %s\n\n", p.at.String(), o.CaseID, asked.Title)
	text += fmt.Sprintf("Open %s, fill in what xattrDict asks for, and save it. The case starts then.\n", task)
	text += "To give it up, write \"abort\" into \"do\" there, or delete the case.\n\n"
	text += "Save " + p.at.Name() + " here again to give the draft another content.\n\n"
	text += "This note is deleted after a day, or once the case is not a draft any more. The draft is canceled after 30 days.\n"
	p.keepRefusal(p.request, scratch.Refusal{Name: engine.DraftNote(o.Route, o.CaseID).Name, Reasons: text}, p.at)
}
