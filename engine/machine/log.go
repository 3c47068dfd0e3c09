package machine

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Bounds of the log of a case (docs/contract/drive.md#log).
const (
	// MaxLogText is how many bytes of the text of an entry are kept, and shortLogText of
	// those after the first longLogTexts entries: a case that looks for something every
	// quarter of an hour goes on for months, and its log can still be read.
	MaxLogText   = 2 << 10
	longLogTexts = 5000
	shortLogText = 200
	// MaxLog is how many entries the log has before the case goes on only by what people
	// do, and the step log writes nothing any more.
	MaxLog = 50_000
)

// textLogFull is what the last entry says before the log is full.
var textLogFull = fmt.Sprintf("The log has %d entries: what the step log writes is left out from now on, and nothing happens by itself any more", MaxLog)

// add appends an entry to the event's log, with the next number.
func (d *caseDecision) add(entry LogEntry) {
	d.c.LogSeq++
	entry.Seq, entry.Time = d.c.LogSeq, d.now
	most := MaxLogText
	if entry.Seq > longLogTexts {
		most = shortLogText
	}
	entry.Text = errs.ClipBytes(entry.Text, most)
	d.log = append(d.log, entry)
	if d.c.LogSeq == MaxLog {
		d.add(LogEntry{Kind: LogWarning, Text: textLogFull})
	}
}

// logFull reports whether the log is so long that nothing more happens in the case by
// itself. What people do is logged all the same, so that they can end the case.
func (d *caseDecision) logFull() bool { return d.sweeps && d.c.LogSeq > MaxLog }

// errLogFull is the fault of what would have happened by itself.
func errLogFull() error {
	return routeFault("the log of the case has more than %d entries, so nothing happens in it by itself any more; end the case, and start another one", MaxLog)
}

// past returns what the log says of a performance, such as "Resolved".
func past(a *route.Action) string {
	switch {
	case a.Past != "":
		return a.Past
	case a.Title != "":
		return a.Title
	}
	return a.Name
}

// comment returns the comment of a performer, nil if it is blank.
func comment(text string) *string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &text
}

// AppendLog appends the entries as a JSON array, as log.json shows them and as they
// are stored (docs/contract/drive.md#log).
func AppendLog(dst []byte, entries []LogEntry) []byte {
	dst = append(dst, '[')
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendEntry(dst, &entries[i])
	}
	return append(dst, ']')
}

func appendEntry(dst []byte, e *LogEntry) []byte {
	dst = appendInt(dst, `{"seq":`, e.Seq)
	dst = appendSeconds(dst, `,"time":`, e.Time)
	dst = appendString(dst, `,"kind":`, string(e.Kind))
	dst = appendOptional(dst, `,"action":`, e.Action)
	dst = appendOptional(dst, `,"actor":`, e.Actor)
	dst = appendOptional(dst, `,"onBehalfOf":`, e.OnBehalfOf)
	dst = appendOptional(dst, `,"from":`, e.From)
	dst = appendOptional(dst, `,"to":`, e.To)
	dst = appendOptional(dst, `,"comment":`, e.Comment)
	dst = appendOptional(dst, `,"resolution":`, e.Resolution)
	dst = appendOptional(dst, `,"trigger":`, (*string)(e.Trigger))
	return append(appendString(dst, `,"text":`, e.Text), '}')
}

// LogText returns the entries as log.txt shows them, a line each:
//
//	2012-11-09T12:34:56Z sam Resolved (open → resolved) [fixed]: by hand
//
// "fixed" is the resolution. If there is no actor, "-" stands for it. Line breaks in what
// people wrote become blanks.
func LogText(entries []LogEntry) []byte {
	var b []byte
	for i := range entries {
		e := &entries[i]
		b = e.Time.UTC().AppendFormat(b, time.RFC3339)
		b = append(b, ' ')
		if e.Actor == nil {
			b = append(b, '-')
		} else {
			b = appendLine(b, *e.Actor)
		}
		if e.OnBehalfOf != nil {
			b = appendLine(append(b, " for "...), *e.OnBehalfOf)
		}
		b = appendLine(append(b, ' '), e.Text)
		b = appendMove(b, e.From, e.To)
		if e.Resolution != nil {
			b = append(appendLine(append(b, " ["...), *e.Resolution), ']')
		}
		if e.Comment != nil {
			b = appendLine(append(b, ": "...), *e.Comment)
		}
		b = append(b, '\n')
	}
	return b
}

func appendMove(b []byte, from, to *string) []byte {
	if from == nil && to == nil {
		return b
	}
	b = append(b, " ("...)
	if from != nil {
		b = append(appendLine(b, *from), ' ')
	}
	b = append(b, "→"...)
	if to != nil {
		b = appendLine(append(b, ' '), *to)
	}
	return append(b, ')')
}

// appendLine appends text with each control character as a blank, so that no text
// can pass for a line of the log.
func appendLine(b []byte, text string) []byte {
	return append(b, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)...)
}
