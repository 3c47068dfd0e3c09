package davfs

import (
	"context"
	"fmt"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// A name that is not a document's is a temporary file in a folder of the workflow: it is
// kept for its user, and nothing is done with it. Programs mean that so. A person who has
// chosen the name does not, and is told in Rejected/ at once
// (docs/contract/drive.md#side-files).

// noteIdle leaves a note about a PUT that has stored a side file under a name that a
// person may have chosen.
func (p *putRequest) noteIdle(ctx context.Context) {
	target, ok := p.target.(scratchPlaced)
	if !ok || !p.mounted() || p.dryRun || p.in.size == 0 {
		return
	}
	at := target.scratchAt()
	moved := p.transferBy == "MOVE"
	if _, inside := at.parent.(sideFileNode); inside || !at.chosen() || moved && sideFile(at.name) {
		return
	}
	err := p.engine.Scratch.NoteIdle(ctx, engine.Request{By: p.by, Now: p.wall}, at.place(), idleText(at, moved))
	if err != nil && !errs.Is(err, errs.Full) {
		p.Log.Warn().Err(err).Msg("drive: could not leave a note about a file that does nothing")
	}
}

// scratchPlaced is a writer of side files.
type scratchPlaced interface{ scratchAt() scratchPlace }

func (n scratchTarget) scratchAt() scratchPlace { return n.at }

// chosenName reports whether a person may have given a side file its name: it has no
// form of a temporary file, or is a document's name that a program or a person has
// changed a little (nightly.json.bak, .nightly.json).
func chosenName(name string) bool {
	if !sideFile(name) {
		return true
	}
	folded := strings.ToLower(name)
	if _, ext := splitName(folded); ext != "" && strings.HasPrefix(folded, ".") && !strings.HasPrefix(folded, "._") {
		return true
	}
	return strings.HasSuffix(folded, ".bak") && !strings.HasPrefix(folded, ".")
}

// chosen reports whether a person may have given the file its name, or may wait for what
// it does. In a drop folder that is each file but those that desktops and editors keep for
// themselves: a download that is not finished, or a hidden file, starts no case there.
func (n scratchPlace) chosen() bool {
	if _, isDrop := n.parent.(dropFolder); !isDrop {
		return chosenName(n.name)
	}
	folded := strings.ToLower(n.name)
	for _, begin := range [...]string{"._", "~$", ".~", ".goutputstream-", ".fuse_hidden", ".nfs", "#"} {
		if strings.HasPrefix(folded, begin) {
			return false
		}
	}
	for _, end := range [...]string{"~", ".swp", ".swx", ".swo", "___jb_tmp___", "___jb_old___"} {
		if strings.HasSuffix(folded, end) {
			return false
		}
	}
	switch folded {
	case "4913", "thumbs.db", "desktop.ini", "autorun.inf", ".ds_store", ".directory":
		return false
	}
	return !strings.Contains(folded, ".sb-")
}

// documentName returns the name under which a person would have stored a document.
func documentName(at scratchPlace) string {
	stem := strings.TrimPrefix(at.name, ".")
	for _, end := range [...]string{".bak", ".txt"} {
		if n := len(stem) - len(end); n > 0 && strings.EqualFold(stem[n:], end) {
			stem = stem[:n]
		}
	}
	if _, ext := splitName(stem); ext != "" {
		return stem
	}
	if _, isRoutes := at.parent.(routesFolder); isRoutes {
		return stem + ".yaml"
	}
	return stem + ".json"
}

// backupOf returns the document that a file is a copy of by its name, as leave.yaml.bak2 is:
// to store it under the name that it had would put an old version over the new one. It is
// "" for any other name, and for one that Windows has given another extension.
func backupOf(name string) string {
	folded := strings.ToLower(name)
	if strings.HasSuffix(folded, ".txt") {
		return ""
	}
	for _, ext := range [...]string{".json.", ".yaml.", ".yml."} {
		if i := strings.Index(folded, ext); i > 0 {
			return strings.TrimPrefix(name[:i+len(ext)-1], ".")
		}
	}
	return ""
}

// documentExample shows what a document of the folder is like: a plain text under the
// right name would be refused.
func documentExample(folder node) string {
	switch folder.(type) {
	case casesFolder:
		return "It must be a document such as {\"route\": \"bug\", \"title\": \"The printer is on fire\"}; Workflow/README.txt has more.\n"
	case scheduleFolder:
		return "It must be a document such as {\"type\": \"crontab\", \"route\": \"bug\", \"spec\": \"0 23 * * mon-fri\"}; Workflow/README.txt has more.\n"
	}
	return ""
}

// idleText says what became of a side file, and what to do to have more done.
func idleText(at scratchPlace, moved bool) string {
	path := addressOf(append(at.path[:len(at.path):len(at.path)], at.name)).String()
	var b strings.Builder
	fmt.Fprintf(&b, "%s is kept as a temporary file of yours, which nobody else sees. Nothing else was done with it.\n\n", path)
	if moved {
		b.WriteString("The document that you gave this name is still in force, and is shown again within a minute. To end it, delete it.\n\n")
	}
	switch at.parent.(type) {
	case dropFolder:
		b.WriteString("To start a case with it, save it under a name that is not that of a temporary file.\n")
	case accountFolder:
		b.WriteString("Here only me.json is read. Keep other files in Documents/.\n")
	default:
		if of := backupOf(at.name); of != "" {
			fmt.Fprintf(&b, "It seems to be a backup of %s. Keep backups in Documents/%s/. The folder .history here has the versions of %s that were overwritten.\n", of, at.by.Name, of)
			break
		}
		name := documentName(at)
		fmt.Fprintf(&b, "Here only names that end with .json, .yaml or .yml are read. Save it as %s instead.\n", name)
		b.WriteString(documentExample(at.parent))
	}
	if addressOf(at.path).holdsSecrets() {
		b.WriteString("\nThe temporary file is deleted ten minutes after its last change, because it may hold a password. This note is deleted after a day.\n")
	} else {
		b.WriteString("\nThe temporary file is deleted a day after its last change, and this note with it.\n")
	}
	return b.String()
}

// ownFolder answers errs.NotAllowed if a folder cannot be made or moved to the place:
// one that a person has named would look like a place to file documents in, which do
// nothing there. Programs make temporary ones.
func (n scratchPlace) ownFolder() error {
	if _, inside := n.parent.(sideFileNode); inside || sideFile(n.name) {
		return nil
	}
	return errs.New(errs.NotAllowed, "Folders of your own cannot be made in %s: what is filed in one would do nothing. Keep documents here, and other files in Documents/.", addressOf(n.path).String())
}
