package errs

import (
	"fmt"
	"regexp"
	"strconv"
)

// Code classifies a fault (docs/contract/drive.md#errors).
type Code string

// The codes of faults.
const (
	CodeRequired     Code = "required"
	CodeUnknownField Code = "unknown-field"
	CodeType         Code = "type"
	CodeRange        Code = "range"
	CodeFormat       Code = "format"
	CodeNotFound     Code = "not-found"
	CodeConflict     Code = "conflict"
	CodeNeverFires   Code = "never-fires"
	CodeReadOnly     Code = "read-only"
)

// Fault is one thing that is wrong with a document. Pointer is a JSON pointer
// (RFC 6901); for a missing field it is the place of that field. Code is "" if
// the value is valid but needs something that is not built. Line and Column
// count from 1 and are 0 if the place is not known.
type Fault struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
	Code    Code   `json:"code,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// String returns the fault as one line: place, pointer and detail.
func (f Fault) String() string {
	at := f.Pointer
	if at == "" {
		at = "/"
	}
	if f.Line > 0 {
		return fmt.Sprintf("%d:%d %s: %s", f.Line, f.Column, at, f.Detail)
	}
	return at + ": " + f.Detail
}

// faultLine is what String writes of a fault.
var faultLine = regexp.MustCompile(`(?s)^(?:(\d{1,9}):(\d{1,9}) )?(/.*?): (.*)$`)

// ReadFault reads what String has written. A sentence without a pointer, which is about
// the whole document, becomes the detail.
func ReadFault(line string) Fault {
	parts := faultLine.FindStringSubmatch(line)
	if parts == nil {
		return Fault{Detail: line}
	}
	number := func(digits string) int {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return 0 // it has no place
		}
		return n
	}
	return Fault{Pointer: parts[3], Detail: parts[4], Line: number(parts[1]), Column: number(parts[2])}
}

// InvalidDocument returns the error of a document with faults: kind Invalid,
// and a detail that names the first fault and counts the others. It returns nil
// if there are no faults.
func InvalidDocument(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	detail := faults[0].String()
	if more := len(faults) - 1; more == 1 {
		detail += " (and one more fault, see errors)"
	} else if more > 1 {
		detail += fmt.Sprintf(" (and %d more faults, see errors)", more)
	}
	return &Error{Kind: Invalid, Detail: detail, Faults: faults}
}
