package davfs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
)

// A client that empties a folder on a mounted drive deletes every file in it, and the files
// of Cases/ are cases: "rm -r", a mirror that deletes what is not at home, a folder that
// is dragged into the trash. A person who means to cancel cases does so one by one. So
// a mounting client deletes three open cases within a minute, and no more
// (docs/contract/drive.md#delete).
const (
	brakeWindow  = time.Minute
	maxDeletions = 3      // of open cases within the window
	maxBraked    = 10_000 // users that are remembered
	brakedBytes  = 16 << 20
	maxNamed     = 1000 // cases that a note names
)

// brake remembers when users deleted open cases.
type brake struct {
	mu     sync.Mutex
	latest *recentActions[[maxDeletions]time.Time] // by user
	now    func() time.Time
}

func newBrake(now func() time.Time) *brake {
	return &brake{latest: newRecentActions[[maxDeletions]time.Time](now, brakeWindow, maxBraked, 1), now: now}
}

// admit notes that a user deletes an open case, and reports whether that may be. One
// that is refused counts too: the brake holds until the deleting has stopped for a
// minute.
func (b *brake) admit(by identity.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, now := userPath{by: by}, b.now()
	times, _ := b.latest.find(at)
	oldest := times[0]
	copy(times[:], times[1:])
	times[maxDeletions-1] = now
	b.latest.add(at, times, 0)
	return oldest.IsZero() || now.Sub(oldest) > brakeWindow
}

// checkBrake refuses a mounting client's DELETE of an open case if the same user has
// deleted others just before.
func (d *drive) checkBrake(x *request, n node) error {
	file, isCase := n.(caseFile)
	if !isCase || x.script {
		return nil
	}
	running, err := file.running(x.r.Context())
	if err != nil || !running || d.overlays.deletions.admit(x.by.ID) {
		return err
	}
	refusal := errs.New(errs.NotDeletable, "You have deleted %d open cases within a minute, which canceled them; so that an emptied folder does not cancel them all, this one stays. To cancel it, write \"state\": \"canceled\" into its file and save it, or delete it after a minute in which you delete none.", maxDeletions)
	refusal.Err = errBraked
	return refusal
}

// brakeNote is the note in Rejected/ that names the cases which the brake has kept.
type brakeNote struct {
	name string   // of its file
	kept []string // paths of cases
	more int      // that are not named
}

// nextBraked returns the note about the user's cases that the brake has kept within a
// minute, with one more.
func (d *drive) nextBraked(x *request) brakeNote {
	d.overlays.deletions.mu.Lock() // two DELETEs of one user at the same time
	defer d.overlays.deletions.mu.Unlock()
	at := userPath{by: x.by.ID, folder: foldedFolder(x.at.parent().Segments)}
	note, told := d.overlays.braked.find(at)
	if !told {
		note.name = filename.Stamped(x.wall, x.at.Name()) + ".txt"
	}
	if len(note.kept) < maxNamed {
		note.kept = append(slices.Clip(note.kept), x.at.String())
	} else {
		note.more++
	}
	size := int64(0)
	for _, path := range note.kept {
		size += int64(len(path))
	}
	d.overlays.braked.add(at, note, size)
	return note
}

// text says which cases were not deleted, and why. Like every note it begins with what it is
// about, and has the reasons before all else.
func (n *brakeNote) text(refusal error, when string) string {
	var b strings.Builder
	others := len(n.kept) - 1 + n.more
	if others == 0 {
		fmt.Fprintf(&b, "%s was not deleted on %s.\nNothing has changed. The reasons:\n\n", n.kept[0], when)
	} else {
		fmt.Fprintf(&b, "%s was not deleted, and neither was what is listed below; the last one on %s.\nNothing of it has changed. The reasons:\n\n", n.kept[0], when)
	}
	writeReasons(&b, refusal)
	if others > 0 {
		b.WriteString("\nThese were not deleted either:\n\n")
		for _, path := range n.kept[1:] {
			b.WriteString(path + "\n")
		}
		if n.more > 0 {
			fmt.Fprintf(&b, "and %d more\n", n.more)
		}
	}
	b.WriteString("\nThis file is deleted after a day.\n")
	return b.String()
}

// errBraked is the cause of a refusal by the brake.
var errBraked = errors.New("davfs: too many open cases were deleted within a minute")

// running reports whether the case can still be canceled. What is not there is not.
func (n caseFile) running(ctx context.Context) (bool, error) {
	_, state, err := n.life(ctx)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil && !state.Ended(), err
}
