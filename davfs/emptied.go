package davfs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/scratch"
)

// An empty file that is saved over a document leaves the document in force
// (docs/contract/drive.md#draft-files). A person who has emptied it, or whose editor has
// crashed, sees an empty file on some mounts and may think that the document is gone: a note
// in Rejected/ says what is in force, until the file is saved with a text.

// emptiedLifetime is how long it is remembered that a file has such a note: as long as the
// note lasts.
const emptiedLifetime = 24 * time.Hour

// noteEmptied leaves such a note for the clients that send no empty file before each text.
func (p *putRequest) noteEmptied() {
	agent := p.r.UserAgent()
	if _, remarks := p.target.(remarkFile); remarks {
		return // which is empty
	}
	if !p.mounted() || p.transferBy != "" || !strings.HasPrefix(agent, rclone) && !strings.HasPrefix(agent, "davfs2/") {
		return
	}
	text := fmt.Sprintf("%s was saved without any text on %s. What was stored there before is in force and has not changed.\n", p.at.String(), p.when(p.wall))
	text += "Your mount may go on showing the file as empty, davfs2 for a long time. The server has its text, and shows it on its pages and to other mounts.\n\n"
	text += "To change it, save it with a text. To end what it stands for, delete it.\n"
	text += "\nThis note is deleted after a day, or once the file is saved with a text.\n"
	p.keepRefusal(p.request, scratch.Refusal{Name: emptiedNote(p.at), Reasons: text}, p.at)
	p.request.overlays.emptied.add(p.userPath(), struct{}{}, 0)
}

// emptiedNote is the name of the note about an emptied file.
func emptiedNote(at address) string { return at.Name() + " is empty.txt" }

// endEmptied deletes the note about a file that has a text again.
func (p *putRequest) endEmptied(ctx context.Context) {
	if p.script || !p.request.overlays.emptied.has(p.userPath()) {
		return
	}
	p.request.overlays.emptied.forget(p.userPath())
	p.deleteNote(ctx, emptiedNote(p.at))
}
