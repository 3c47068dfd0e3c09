package engine

import (
	"context"
	"path"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine/status"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// What was refused to a user lies in the folders Rejected/ of the places where it was to be.
// Who does not know which folder to look into finds all of it in one file
// (docs/contract/drive.md#rejected-content).

// mostRefused is how many notes the file has.
const mostRefused = 100

// noteFirst matches the first line of a note: what it is about, whether that was refused, and
// where it was to go.
var noteFirst = regexp.MustCompile(`^(/.+?) (?:was|has|is kept as a temporary file of yours,) (not )?(?:copied|moved)?(?: to (/.+) on \d)?`)

// refused returns what was refused to the user in the last day, the newest first.
func (l *statusLook) refused(ctx context.Context) (statusPage, error) {
	out := &status.Refused{Zone: l.zone}
	err := l.Store.View(ctx, func(r store.Reader) error {
		notes, err := r.Scratch().Notes(l.by.ID, mostRefused)
		for i := 0; i < len(notes) && err == nil; i++ {
			if n := &notes[i]; n.Expires.After(l.Wall()) {
				err = addNote(r, out, n)
			}
		}
		return err
	})
	return out, err
}

// addNote adds what a note says.
func addNote(r store.Reader, to *status.Refused, note *store.Scratch) error {
	whole, err := store.OrNil(r.Scratch().Get(note.Author, note.Place))
	if err != nil || whole == nil {
		return err
	}
	first, rest, _ := strings.Cut(string(whole.Content), "\n")
	m := noteFirst.FindStringSubmatch(first)
	at := asWritten(note.Place, m)
	item := status.Refusal{At: note.Modified, Path: path.Dir(at.Folder), Note: at.Path()}
	if m != nil {
		item.Path = m[1]
	}
	if m == nil || m[2] == "" {
		item.Reasons = []string{first}
	}
	listed := false
	for line := range strings.Lines(rest) {
		if reason, is := strings.CutPrefix(strings.TrimSpace(line), "- "); is {
			item.Reasons, listed = append(item.Reasons, reason), true
		} else if listed {
			break
		}
	}
	if len(at.Name) > len(filename.Stamp) { // a note under a name of its own has no text beside it
		at.Name = strings.TrimSuffix(at.Name, ".txt")
		text, err := store.OrNil(r.Scratch().Get(note.Author, at))
		if err != nil {
			return err
		}
		if text != nil {
			item.Text = at.Path()
		}
	}
	to.Items = append(to.Items, item)
	return nil
}

// asWritten returns the place of a note with its folder as its note writes it: of the places
// themselves only the folded form is kept.
func asWritten(at store.ScratchPlace, paths []string) store.ScratchPlace {
	depth := strings.Count(at.Folder, "/")
	for _, written := range paths {
		parts := strings.Split(written, "/")
		if len(parts) <= depth {
			continue
		}
		folder := strings.Join(parts[:depth], "/") + "/Rejected"
		if identity.Fold(norm.NFC.String(folder)) == identity.Fold(at.Folder) {
			at.Folder = folder
			return at
		}
	}
	return at
}
