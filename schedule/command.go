package schedule

import (
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// The commands that a document of an entry can be.
const (
	CommandTrigger  = "trigger"
	CommandPause    = "pause"
	CommandResume   = "resume"
	CommandBackfill = "backfill"
)

// Command reports whether the document is a command, an object with the key
// "do", and which. What is wrong with it goes to root.Faults.
func Command(root document.Value) (name string, ok bool) {
	do := root.Get("do")
	if do.Node == nil {
		return "", false
	}
	name, isText := do.Str()
	if !isText {
		return "", true
	}
	switch name {
	case CommandTrigger:
		root.Only("do")
	case CommandResume:
		root.Only("do", "missed")
		if missed := root.Get("missed"); missed.Given() {
			ReadMissed(missed)
		}
	case CommandPause:
		root.Only("do", "note")
		if note := root.Get("note"); note.Given() {
			ReadNote(note)
		}
	case CommandBackfill:
		root.Only("do", "from", "to")
		BackfillRange(root)
	default:
		known := []string{CommandTrigger, CommandPause, CommandResume, CommandBackfill}
		do.Fail(errs.CodeRange, "must be one of %s, not %q%s", strings.Join(known, ", "), name, document.Hint(name, known))
	}
	return name, true
}

// ReadMissed reads what becomes of the instants that an entry has missed while it was paused:
// skip reports that they are skipped, whatever its misfire says.
func ReadMissed(missed document.Value) (skip bool) {
	text, ok := missed.Str()
	if !ok {
		return false
	}
	if text != string(MisfireSkip) {
		missed.Fail(errs.CodeRange, "must be %q, not %q: without it misfire applies", MisfireSkip, text)
		return false
	}
	return true
}

// BackfillRange reads the range of a backfill: [from, to). What is wrong with
// it goes to root.Faults.
func BackfillRange(root document.Value) (from, to time.Time) {
	if first, last := readRange(root); first == "" || last == "" {
		return time.Time{}, time.Time{}
	}
	from, _ = ParseTime(root.Get("from"))
	to, _ = ParseTime(root.Get("to"))
	return from, to
}
