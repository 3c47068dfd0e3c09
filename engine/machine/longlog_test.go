package machine

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"flowdrive/internal/errs"
)

const cycling = `{"name": "test", "states": {
	"a": {"type": "start", "timeout": "PT1M", "onTimeout": [{"log": "on"}, {"perform": "there"}]},
	"b": {"timeout": "PT1M", "onTimeout": [{"perform": "back"}]}, "done": {"type": "complete"}},
	"roles": {"who": {"assign": ["everyone"]}},
	"actions": {"begin": {"trigger": "init", "to": "a"},
		"there": {"in": ["a"], "role": "who", "to": "b", "max": "unlimited"}, "back": {"in": ["b"], "role": "who", "to": "a", "max": "unlimited"},
		"nag": {"in": ["a"], "trigger": "time", "timeout": "PT3M", "max": "unlimited"},
		"end": {"in": ["a", "b"], "role": "who", "to": "done", "onFire": [{"log": "over"}]}}}`

// TestLogFull: a case that goes on by timers alone ends doing so when its log is full. People
// are told, and can end it.
func TestLogFull(t *testing.T) {
	t.Parallel()
	p := newTimerPlay(t, cycling)
	due := func() *Output {
		t.Helper()
		p.now = p.now.Add(5 * time.Minute)
		before := len(p.log)
		if err := p.event(Due{}); err != nil {
			t.Fatal(err)
		}
		return &Output{Log: p.log[before:]}
	}
	if err := p.do("start"); err != nil {
		t.Fatal(err)
	}
	due()
	if p.c.Status != "b" || len(p.c.Warnings) > 0 {
		t.Fatalf("before the log is full: %s %v", p.c.Status, p.c.Warnings)
	}
	p.c.LogSeq = MaxLog - 2
	due()
	text := string(LogText(p.log))
	if !strings.Contains(text, "The log has 50000 entries") {
		t.Errorf("the log does not say that it is full:\n%s", text)
	}
	status := p.c.Status
	for range 3 {
		due()
	}
	if p.c.Status != status {
		t.Errorf("it has gone on from %s to %s", status, p.c.Status)
	}
	if !p.c.FailedHandler("the timer state") {
		t.Errorf("no warning of the timer: %+v\n%s", p.c.Warnings, LogText(p.log))
	}
	was := p.c.LogSeq
	for range 10 {
		due()
	}
	if p.c.LogSeq != was {
		t.Errorf("the log has grown by %d entries while nobody did anything:\n%s", p.c.LogSeq-was, LogText(p.log))
	}
	if err := p.do("sam end"); err != nil || p.c.Life != Completed {
		t.Errorf("ended by a person: %s, %v", p.c.Life, err)
	}
	if strings.Contains(string(LogText(p.log[len(p.log)-3:])), " over") {
		t.Error("the step log has written into a full log")
	}
}

// TestLogTextClipped: of a long text the log has the beginning.
func TestLogTextClipped(t *testing.T) {
	t.Parallel()
	d := &caseDecision{tree: &tree{}, c: &Case{}}
	d.add(LogEntry{Text: strings.Repeat("ü", 40_000)})
	d.add(LogEntry{Text: strings.Repeat("x", MaxLogText)})
	if got := d.log[0].Text; len(got) > MaxLogText+len("…") || !strings.HasSuffix(got, "ü…") || !utf8.ValidString(got) {
		t.Errorf("%d bytes, %q at the end", len(got), got[len(got)-8:])
	}
	if got := d.log[1].Text; len(got) != MaxLogText {
		t.Errorf("a text of just the length has become %d bytes", len(got))
	}
	d.c.LogSeq = longLogTexts
	d.add(LogEntry{Text: strings.Repeat("x", MaxLogText)})
	if got := d.log[2].Text; len(got) > shortLogText+len("…") {
		t.Errorf("%d bytes after many entries", len(got))
	}
}

// TestXattrsTogether: steps cannot make the XATTRs of a case larger than a document that
// a person sends.
func TestXattrsTogether(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 60_000)
	var sets []string
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		sets = append(sets, `{"set": {"k`+string(c)+`": "$__XATTR_big__;"}}`)
	}
	p := started(t, parsed(t, `{"name": "test", "states": {"a": {"type": "start"}}, "roles": {"who": {"assign": ["everyone"]}},
		"xattrs": {"big": {"type": "string", "default": "`+big+`"}},
		"actions": {"begin": {"trigger": "init", "to": "a"},
			"few": {"in": ["a"], "role": "who", "max": "unlimited", "onFire": [`+strings.Join(sets[:3], ",")+`]},
			"fill": {"in": ["a"], "role": "who", "max": "unlimited", "onFire": [`+strings.Join(sets, ",")+`]}}}`))
	if err := p.do("sam few"); err != nil {
		t.Error(err)
	}
	if err := p.do("sam fill"); !errs.Is(err, errs.RouteFault) || !strings.Contains(err.Error(), "1048576 bytes") {
		t.Errorf("26 XATTRs of 60,000 bytes: %v", err)
	}
}
