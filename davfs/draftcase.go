package davfs

import (
	"encoding/json"
	"fmt"
	"net/http"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/filename"
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
