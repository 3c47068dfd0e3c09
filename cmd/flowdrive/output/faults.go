package output

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"flowdrive/internal/errs"
)

// FaultLines returns what is wrong with a file, a line each, as compilers
// write it: file:line:column: what.
func FaultLines(path string, err error) (lines []string) {
	e, ok := errors.AsType[*errs.Error](err)
	if ok {
		if line, ok := e.Extra["line"]; ok {
			return []string{fmt.Sprintf("%s:%v:%v: %s", path, line, e.Extra["column"], e.Detail)}
		}
		for _, f := range e.Faults {
			lines = append(lines, FaultLine(path, "", f))
		}
	}
	if len(lines) > 0 {
		return lines
	}
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, path+": "+strings.TrimRight(line, "\n"))
	}
	return lines
}

// FaultLine returns one fault; note comes before what is wrong.
func FaultLine(path, note string, f errs.Fault) string {
	if f.Line > 0 {
		path = fmt.Sprintf("%s:%d:%d", path, f.Line, f.Column)
	}
	if f.Pointer == "" {
		return fmt.Sprintf("%s: %s%s", path, note, f.Detail)
	}
	return fmt.Sprintf("%s: %s%s: %s", path, note, f.Pointer, f.Detail)
}

// placed is a warning as the drive tells it: its place in the document first.
var placed = regexp.MustCompile(`^(\d+:\d+) (.*)`)

// WarningLine returns a warning that the drive gave for a file, as FaultLine returns a fault.
func WarningLine(path, text string) string {
	if m := placed.FindStringSubmatch(Clean(text)); m != nil {
		return path + ":" + m[1] + ": warning: " + m[2]
	}
	return path + ": warning: " + Clean(text)
}
