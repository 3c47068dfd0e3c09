package label

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
)

// Reference is a label that a text has.
type Reference struct {
	Written string // as in the text
	Key     string // of the XATTR that it stands for, "" for any other label
	Known   bool   // there is a label of that name; of XATTRs always true
}

// References returns the labels of a text, in its order. It returns those without
// an end, too, which are not replaced: they are not known.
func References(text string) (all []Reference) {
	for {
		start, end := scan(text)
		if start < 0 {
			return append(all, unended(text)...)
		}
		all = append(all, unended(text[:start])...)
		written := text[start:end]
		name := written[len(opening) : len(written)-len(closing)]
		if key, ok := strings.CutPrefix(name, "XATTR_"); ok {
			all = append(all, Reference{Written: written, Key: strings.ToLower(key), Known: true})
		} else {
			all = append(all, Reference{Written: written, Known: isKnown(name)})
		}
		text = text[end:]
	}
}

// unended returns what begins as a label and has its name, but not its end.
func unended(text string) (all []Reference) {
	for {
		_, rest, found := strings.Cut(text, opening)
		if !found {
			return all
		}
		n := 0
		for n < len(rest) && inName(rest[n]) {
			n++
		}
		name := strings.TrimRight(rest[:n], "_")
		if isKnown(name) || strings.HasPrefix(name, "XATTR_") {
			all = append(all, Reference{Written: opening + rest[:n]})
		}
		text = rest[n:]
	}
}

// isKnown reports whether a label of that name stands for something.
func isKnown(name string) bool {
	v := Values{Now: time.Unix(0, 0), Created: time.Unix(0, 0)}
	_, known := v.lookUp(name)
	return known
}

// Names returns the names of all labels but those of XATTRs, without date
// arithmetic.
func Names() []string {
	return []string{
		"DATE", "TODAY", "OMPHALOSDATE", "YESTERDAY", "TOMORROW", "WEEKAGO", "FORTNIGHTAGO", "MONTHAGO", "USCIVILIANDATE", "DATETIME", "OMPHALOSDATETIME",
		"NOW_Y2", "NOW_Y4", "NOW_M2", "WEEKOFMONTH", "MONTHSTART", "MONTHEND", "LASTMONTHSTART", "LASTMONTHEND", "YEARSTART", "QUARTERSTART", "WEEKSTART",
		"INITDATE", "PID", "PARENTPID", "UUID", "GUID", "ROUTE", "TITLE", "LOGIN", "EMAIL", "SCHEDULEDFOR", "ITERATION", "TASK",
		"ERROR_STEP", "ERROR_KIND", "ERROR_STATUS", "ERROR_TEXT", "ERROR_OUTPUT",
	}
}

// ScanMessage returns where the first $Label; of the text begins and ends: what the
// text of a message stands for in the steps of a route. If there is none, both are
// the length of the text.
func ScanMessage(text string) (start, end int) {
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		n := i + 1
		for n < len(text) && inMessage(text[n], n == i+1) {
			n++
		}
		if n > i+1 && n < len(text) && text[n] == ';' {
			return i, n + 1
		}
	}
	return len(text), len(text)
}

func inMessage(c byte, first bool) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return !first && (c == '_' || c == '-')
}

// Mistake says what is wrong with a label that is not known: that there is none of that
// name, or that it has no end.
func Mistake(written string) string {
	if !strings.HasSuffix(written, closing) {
		return fmt.Sprintf("%s is not replaced: a label ends with two underscores and a semicolon", clip(written))
	}
	name := strings.TrimSuffix(strings.TrimPrefix(written, opening), closing)
	plain := name
	if i := strings.IndexAny(name, "+-"); i >= 0 {
		plain = name[:i]
	}
	if plain != name && slices.Contains(Names(), plain) {
		return fmt.Sprintf("there is no label %s: a sign, up to seven digits and D, W, M or Y may follow a date, as in $__TODAY+3D__;", clip(written))
	}
	hint := document.Hint(plain, Names())
	if hint == "" {
		hint = "; an XATTR is $__XATTR_<name>__;, a message is $<Label>;"
	}
	return fmt.Sprintf("there is no label %s%s", clip(written), hint)
}
