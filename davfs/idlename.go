package davfs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/document"
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
	text := idleText(at, p.formOf(ctx, at), moved)
	err := p.engine.Scratch.NoteIdle(ctx, engine.Request{By: p.by, Now: p.wall}, at.place(), text)
	if err != nil && !errs.Is(err, errs.Full) {
		p.Log.Warn().Err(err).Msg("drive: could not leave a note about a file that does nothing")
	}
}

// formOf returns the extension of the document that a side file is by its text, "" if it is
// none, as a picture is.
func (p *putRequest) formOf(ctx context.Context, at scratchPlace) string {
	if p.in.size > p.MaxDocument {
		return ""
	}
	opened, err := p.engine.Scratch.Open(ctx, p.by, p.wall, at.place())
	if errs.Is(err, errs.NotFound) { // deleted meanwhile, and the note with it
		return ""
	}
	if err != nil {
		p.couldNotRead(ctx, err, "drive: could not read a file that does nothing for its note")
		return ""
	}
	defer func() { _ = opened.Body.Close() }() // what was only read is whole
	text, err := io.ReadAll(io.LimitReader(opened.Body, p.MaxDocument))
	if err != nil {
		p.couldNotRead(ctx, err, "drive: could not read a file that does nothing for its note")
		return ""
	}
	if root, err := document.ParseJSON(text); err == nil && root.Kind == document.Object {
		return ".json"
	}
	if root, err := document.ParseYAML(text); err == nil && root.Kind == document.Object {
		return ".yaml"
	}
	return ""
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

// documentName returns the name under which a person would have stored a document of the
// form, an extension.
func documentName(at scratchPlace, form string) string {
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
	if form == "" {
		form = ".json"
	}
	return stem + form
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

// documentExample shows what a document of the folder is like.
func documentExample(folder node) string {
	switch folder.(type) {
	case casesFolder:
		return "A case is started by a document such as {\"route\": \"bug\", \"title\": \"The printer is on fire\"}; Workflow/README.txt has more.\n"
	case scheduleFolder:
		return "A schedule entry is a document such as {\"type\": \"crontab\", \"route\": \"bug\", \"spec\": \"0 23 * * mon-fri\"}; Workflow/README.txt has more.\n"
	}
	return ""
}

// filesElsewhere says where a file belongs that is not a document. caseID is the case in whose
// folder it was saved, "<number>" elsewhere.
func filesElsewhere(caseID, user string) string {
	return fmt.Sprintf("- To start a case with it, save it in Workflow/Routes/<route>/.\n- To attach it to a case, save it in Workflow/Cases/%s/Files/.\n- To keep it, save it in Documents/%s/.\n", caseID, user)
}

// adviceOnName says of a file under a name that is not read what to do with it. form is the
// extension of the document that it is by its text, "" for any other file.
func adviceOnName(at scratchPlace, form string) string {
	if of := backupOf(at.name); of != "" {
		return fmt.Sprintf("- It seems to be a backup of %s. Keep backups in Documents/%s/. The folder .history here has the versions of %s that were overwritten.\n", of, at.by.Name, of)
	}
	const number = "<number>"
	switch parent := at.parent.(type) {
	case worklistFolder:
		return "- A task is done by its own file here: write \"perform\" into its \"do\", and save it.\n" + filesElsewhere(number, string(at.by.Name))
	case actionsFolder:
		return "- An action is performed by its own file here.\n" + filesElsewhere(strconv.FormatInt(parent.id, 10), string(at.by.Name))
	case timersFolder:
		return "- A timer is set by its own file here.\n" + filesElsewhere(strconv.FormatInt(parent.id, 10), string(at.by.Name))
	case casesFolder, routesFolder, scheduleFolder:
		if form == "" {
			return "- Here only names that end with .json, .yaml or .yml are read, and this is not the text of a document.\n" +
				filesElsewhere(number, string(at.by.Name)) + documentExample(at.parent)
		}
	}
	return fmt.Sprintf("- Here only names that end with .json, .yaml or .yml are read. Save it as %s instead.\n", documentName(at, form)) + documentExample(at.parent)
}

// idleText says what became of a side file, and what to do to have more done. form is as
// adviceOnName has it.
func idleText(at scratchPlace, form string, moved bool) string {
	path := addressOf(append(at.path[:len(at.path):len(at.path)], at.name)).String()
	var b strings.Builder
	fmt.Fprintf(&b, "%s is kept as a temporary file of yours, which nobody else sees. Nothing else was done with it.\n\n", path)
	if moved {
		b.WriteString("The document that you gave this name is still in force, and is shown again within a minute. To end it, delete it.\n\n")
	}
	switch at.parent.(type) {
	case dropFolder:
		b.WriteString("- To start a case with it, save it under a name that is not that of a temporary file.\n")
	case accountFolder:
		b.WriteString("- Here only me.json is read. Keep other files in Documents/.\n")
	default:
		b.WriteString(adviceOnName(at, form))
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
