package davfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// A mounted drive does not show the text of errors, and some clients lose the
// user's text. So whatever a mounting client is refused in the workflow lies with
// the reasons in the nearest Rejected/ (docs/contract/drive.md#rejected-content).

// rejectPut keeps what was refused to a PUT of a mounting client. p is nil if the
// place takes none.
func (d *drive) rejectPut(x *request, p *putRequest, refusal error) {
	if !x.isTold(x.at, refusal) || p != nil && (p.dryRun || p.ofSideFile()) || x.asksWhetherThere(refusal) {
		return
	}
	if x.sendsSecrets() { // passwords are kept nowhere
		d.keepRefusal(x, scratch.Refusal{Reasons: reasons(x.at, refusal, x.when(x.wall)) + notKept}, x.at)
		return
	}
	in, limit := d.newUpload(x.r, d.MaxDocument), d.MaxDocument
	if p != nil && p.in != nil {
		in, limit = p.in, max(d.MaxDocument, p.in.limit)
	}
	body, whole := in.refused(limit)
	if whole && len(body) == 0 {
		return // clients make a file before they fill it
	}
	text := reasons(x.at, refusal, x.when(x.wall)) + besideRejected
	if conflict := errs.Is(refusal, errs.Precondition) || errs.Is(refusal, errs.Locked); conflict && p != nil && !p.rules.content {
		text += p.storedText(x.r.Context())
	}
	if p != nil && p.stays {
		text += "If your program sends the same text again, it is refused again. To try once more, change the text, if only by a blank at its end. To give it up, delete the file once: as long as your program is sending it, only that save is given up. To delete the file of a case at any other time cancels the case.\n"
	}
	d.keepRefusal(x, scratch.Refusal{MediaType: in.mediaType, Body: body, Reasons: text}, x.at)
}

// storedText quotes the version that is stored instead of what was sent, for who has to
// bring both together.
func (p *putRequest) storedText(ctx context.Context) string {
	stored, ok := p.target.(reader)
	if !ok {
		return ""
	}
	if task, listed := p.target.(worklistFile); listed {
		stored = task.actionFile // which may be on another list by now
	}
	about, content, err := stored.open(ctx)
	if errs.Is(err, errs.NotFound) && aTask(p.target) {
		return "" // the reason says what became of it
	}
	if errs.Is(err, errs.NotFound) {
		return "\nThere is nothing at this address now.\n"
	}
	if err != nil {
		p.couldNotRead(ctx, err, "drive: could not read what is stored instead of refused content")
		return ""
	}
	defer func() { _ = content.Close() }() // what was only read is whole
	text, err := io.ReadAll(io.LimitReader(content, p.limit()))
	if err != nil {
		p.couldNotRead(ctx, err, "drive: could not read what is stored instead of refused content")
		return ""
	}
	return fmt.Sprintf("\nStored there now, since %s:\n\n%s\n", p.when(about.modified), text)
}

// asksWhetherThere reports whether a COPY or MOVE was to overwrite nothing, and something
// is there: what it was to bring is still where it comes from, and clients ask the user.
func (x *request) asksWhetherThere(refusal error) bool {
	h := x.r.Header
	return x.transferBy != "" && errs.Is(refusal, errs.Precondition) && h.Get("If-Match") == "" && h.Get("If") == "" && h.Get("If-Unmodified-Since") == ""
}

// rejectMove keeps why something was not copied or moved: where it was to go, or where it
// is if that cannot have a Rejected/. There is none if it was to overwrite nothing, since
// clients ask their user then, nor of what is not there, nor of what programs do with their
// temporary files. What was sent on as a PUT has one already.
func (t *transfer) rejectMove(refusal error) {
	switch {
	case t.sent, errs.Is(refusal, errs.NotFound), errs.Is(refusal, errs.Precondition) && !t.overwrite:
		return
	case len(t.at.Segments) == 0, len(t.to.Segments) == 0, sideFile(t.at.Name()) && sideFile(t.to.Name()):
		return
	}
	done := "copied"
	if t.move {
		done = "moved"
	}
	r := scratch.Refusal{Reasons: notMoved(t.at, t.to, done, refusal, t.when(t.wall))}
	places := []address{t.to, t.at}
	if t.to.inDocuments() && !t.at.inDocuments() { // where the user is looking
		slices.Reverse(places)
	}
	for _, at := range places {
		if t.isTold(at, refusal) {
			t.keepRefusal(t.request, r, at)
			return
		}
	}
}

// rejectDelete keeps why a mounting client could not delete something of the workflow.
func (d *drive) rejectDelete(x *request, refusal error) {
	d.rejectOther(x, refusal, "deleted")
}

// rejectFolder keeps why a mounting client could not make a folder in the workflow.
func (d *drive) rejectFolder(x *request, refusal error) {
	d.rejectOther(x, refusal, "made")
}

// rejectOther keeps why something was not done that sends no content. What is not there
// was not asked for by a person, and what the brake has kept is told in one note.
func (d *drive) rejectOther(x *request, refusal error, done string) {
	if !x.isTold(x.at, refusal) || sideFile(x.at.Name()) {
		return
	}
	switch errs.KindOf(refusal) {
	case errs.NotFound, errs.BadParameter, errs.Method, errs.Precondition, errs.MediaType:
		return
	default:
	}
	if errors.Is(refusal, errBraked) {
		note := d.nextBraked(x)
		d.keepRefusal(x, scratch.Refusal{Name: note.name, Reasons: note.text(refusal, x.when(x.wall))}, x.at)
		return
	}
	if id, inCase := x.caseAbove(refusal); inCase {
		d.keepRefusal(x, x.caseStays(id), addressOf(casePath(id)))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not %s on %s.\n", x.at.String(), done, x.when(x.wall))
	b.WriteString("Nothing has changed. The reasons:\n\n")
	writeReasons(&b, refusal)
	b.WriteString("\nThis file is deleted after a day.\n")
	d.keepRefusal(x, scratch.Refusal{Reasons: b.String()}, x.at)
}

// caseAbove returns the case in whose folder a place is that cannot be deleted. Who deletes
// such a folder on a mount deletes each of its files, which gets one note. Its files proper
// have their own reasons.
func (x *request) caseAbove(refusal error) (id int64, inCase bool) {
	at := x.at.Segments
	if errs.KindOf(refusal) != errs.NotDeletable || len(at) < 4 || !same(at[2], "Cases") || len(at) > 5 && same(at[4], filesName) {
		return 0, false
	}
	return parseID(at[3])
}

// caseStays is the note that the folder of a case was not deleted.
func (x *request) caseStays(id int64) scratch.Refusal {
	text := fmt.Sprintf("%s was not deleted on %s.\nNor was what shows how the case stands. The reasons:\n\n", addressOf(casePath(id)).String(), x.when(x.wall))
	text += fmt.Sprintf("- The folder of a case stays, and what is in it shows how the case stands. To give the case up, delete its file %s: that cancels an open case.\n", x.fileOfCase(x.r.Context(), id))
	return scratch.Refusal{Name: fmt.Sprintf("The folder of case %d stays.txt", id), Reasons: text + "\nThis file is deleted after a day.\n"}
}

// isTold reports whether somebody is told of a refusal at the address by a file: a client
// that shows no reasons, of what says something about what it sent. In the folders of
// Documents/, which have no Rejected/, those are the refusals of a place or a name; the
// others are in .history/.
func (x *request) isTold(a address, refusal error) bool {
	kind := errs.KindOf(refusal)
	switch kind {
	case errs.Internal, errs.Unavailable, errs.TooMany, errs.LogIn, errs.TooSlow, errs.NotBuilt:
		return false
	default:
	}
	at := a.Segments
	switch {
	case x.script, len(at) < 2, !same(at[0], "dav"):
		return false
	case !same(at[1], documentsRoot):
		return true
	case len(at) < 3 || sideFile(a.Name()):
		return false
	}
	return len(at) == 3 || kind == errs.NotAllowed || kind == errs.NameNotAllowed || kind == errs.NotMovable
}

// keepRefusal stores a refusal in the nearest Rejected/ to the address.
func (d *drive) keepRefusal(x *request, r scratch.Refusal, at address) {
	ctx := context.WithoutCancel(x.r.Context())
	folder, err := x.nearestFolder(ctx, at)
	if err == nil && folder.Segments != nil {
		r.At, r.Path = store.ScratchPlace{Folder: folderPath(folder.Segments), Name: at.Name()}, at.String()
		err = x.engine.Scratch.Reject(ctx, engine.Request{By: x.by, Now: x.wall}, r)
	}
	if err != nil && !errs.Is(err, errs.Full) {
		d.Log.Warn().Err(err).Msg("drive: could not keep what was refused")
	}
}

// nearestFolder returns the nearest folder above the address that exists and can
// have a Rejected/; none if no folder can. What the caller keeps
// beside the documents, and Rejected/ itself, are not places for documents.
func (x *request) nearestFolder(ctx context.Context, at address) (address, error) {
	for len(at.Segments) > 1 {
		at = at.parent()
		if !scratchArea(at.Segments) {
			continue
		}
		n, err := x.walk(ctx, at)
		if _, isSideFile := n.(sideFileNode); isSideFile {
			return address{}, nil
		}
		if err == nil && keepsRejected(n) {
			_, err = n.stat(ctx)
			if err == nil {
				return at, nil
			}
		}
		if err != nil && !errs.Is(err, errs.NotFound) {
			return address{}, err
		}
	}
	return address{}, nil
}

// keepsRejected reports whether a folder can have a Rejected/: in some that name
// may mean something else.
func keepsRejected(n node) bool {
	switch n.(type) {
	case boardFolder, stateFolder, labelsFolder, caseFiles, caseAttachments:
		return false
	}
	_, is := n.(folder)
	return is
}

// reasons says in plain language why a document was refused.
func reasons(at address, refusal error, when string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not saved on %s.\n", at.String(), when)
	b.WriteString("What is stored there has not changed. The reasons:\n\n")
	writeReasons(&b, refusal)
	return b.String()
}

// notKept ends the reasons in Rejected/ if the content is not kept.
const notKept = "\nWhat was sent is not kept here, because it may hold a password.\nThis file is deleted after a day.\n"

// besideRejected ends the reasons in Rejected/ if the content is kept.
const besideRejected = "\nThe file beside this one has what was sent, unless it was too large to be kept.\nBoth are deleted after a day.\n"

// notMoved says in plain language why something was not moved.
func notMoved(from, to address, done string, refusal error, when string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not %s to %s on %s.\n", from.String(), done, to.String(), when)
	b.WriteString("Nothing has changed. The reasons:\n\n")
	writeReasons(&b, refusal)
	b.WriteString("\nThis file is deleted after a day.\n")
	return b.String()
}

// when writes a time in a note: in the zone of who reads it, as the other times in it, with
// the name of the zone.
func (s *scope) when(t time.Time) string {
	zone, _ := s.engine.Cases.ZoneOf(s.by)
	return clock.Minute(t, zone)
}

// forMounts has what a person on a mount can do instead of what a program sends.
var forMounts = strings.NewReplacer(
	"DELETE with ?force cancels its open cases and pauses the schedule entries.",
	"An administrator of the route can delete it on its page or by flowdrive rm --force, which cancels its open cases and pauses the schedule entries.",
	" and Overwrite is F.", " and nothing was to be overwritten.",
	"To store a route, PUT its document to Routes/<name>.yaml; to start a case, POST its document to Cases/.",
	"To store a route, save it as Routes/<name>.yaml; to start a case, save its document in Cases/.",
	"The condition is not met: what is stored at this address is ", "Your program has read another version: what is stored now is ",
	"Fetch it, and decide again.", "Open it again, and decide again.",
)

// notAllowedHere matches the refusal of a method, which people on a mount do not know.
var notAllowedHere = regexp.MustCompile(`^[A-Z]+ is not allowed at this address; it takes [A-Z, ]*\.$`)

// plainly says why something was refused without the words of the protocol.
func plainly(detail string) string {
	if notAllowedHere.MatchString(detail) {
		return "This cannot be done at this place. Workflow/README.txt says what can be."
	}
	return forMounts.Replace(dav.PlainCondition(detail))
}

// writeReasons writes every reason once: the detail of a refused document is its
// first fault.
func writeReasons(b *strings.Builder, refusal error) {
	e, ok := errors.AsType[*errs.Error](refusal)
	if !ok {
		return
	}
	for _, f := range e.Faults {
		b.WriteString("- " + forMounts.Replace(f.String()) + "\n")
	}
	if len(e.Faults) == 0 {
		b.WriteString("- " + plainly(e.Detail) + "\n")
	}
	if e.Kind == errs.ScenarioBroken {
		fmt.Fprintf(b, "\nThese are places in %v, the story by which the route is tried before it is stored.\n"+
			"To change the route and its scenario together, save the scenario and then the route:\nthe scenario is refused, and waits for the route all the same.\n", e.Extra["scenario"])
	}
}

// rejectedFolder is Rejected/ in a folder of the workflow: it exists while it
// holds something.
type rejectedFolder struct {
	*scope
	files []store.Scratch
}

// rejected returns the folder of the caller's refused content in the folder of
// that path; nil if there is none.
func (s *scope) rejected(ctx context.Context, path []string) (node, error) {
	folder := folderPath(append(path[:len(path):len(path)], rejectedName))
	files, err := s.engine.Scratch.In(ctx, s.by, s.wall, folder)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return rejectedFolder{s, files}, nil
}

func (rejectedFolder) isSideFile() {}

func (n rejectedFolder) stat(context.Context) (*info, error) {
	about := folderInfo(rejectedName, n.files[0].Modified)
	for i := range n.files {
		about.modified = later(about.modified, n.files[i].Modified)
	}
	return about, nil
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (n rejectedFolder) child(_ context.Context, name string) (node, error) {
	for i := range n.files {
		if s := &n.files[i]; foldName(s.Place.Name) == foldName(name) {
			return rejectedFile{storedScratch{n.scope, s}}, nil
		}
	}
	return nil, absent()
}

//nolint:unparam // folder's method may fail
func (n rejectedFolder) list(context.Context) ([]*info, error) { return scratchInfos(n.files), nil }

func (n rejectedFolder) options() []string { return nil }

// remove deletes the files of the folder, and so the folder.
func (n rejectedFolder) remove(ctx context.Context, req engine.Request, _ query) error {
	if req.If != nil {
		about, err := n.stat(ctx)
		if err != nil {
			return err
		}
		if err := req.If(about.version()); err != nil {
			return err
		}
		req.If = nil
	}
	for i := range n.files {
		if err := (storedScratch{n.scope, &n.files[i]}).remove(ctx, req, nil); err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// rejectedFile is refused content, or the reasons: to be read, and to be deleted.
type rejectedFile struct{ storedScratch }
