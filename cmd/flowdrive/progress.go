package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"flowdrive/internal/plaintext"
	"flowdrive/store/backup"
)

// progress shows how far a long command is: on a terminal in one line that changes,
// elsewhere by a line a minute.
type progress struct {
	out      io.Writer
	what     string
	terminal bool
	begin    time.Time
	last     time.Time // when it was shown
	shown    bool
}

func newProgress(out io.Writer, what string) *progress {
	now := time.Now()
	p := &progress{out: out, what: what, begin: now, last: now}
	if f, ok := out.(*os.File); ok {
		p.terminal = isatty.IsTerminal(f.Fd())
	}
	return p
}

// show shows how far it is, if it is time for it.
func (p *progress) show(at backup.Progress) {
	p.line(func(took time.Duration) string { return progressText(at, took) })
}

// showRows shows how many rows are done, if it is time for it.
func (p *progress) showRows(done, all int64) {
	p.line(func(time.Duration) string { return fmt.Sprintf("%d of %d rows", done, all) })
}

func (p *progress) line(text func(took time.Duration) string) {
	pause := time.Minute
	if p.terminal {
		pause = 200 * time.Millisecond
	}
	now := time.Now()
	if now.Sub(p.last) < pause {
		return
	}
	p.last, p.shown = now, true
	shown := p.what + ": " + text(now.Sub(p.begin))
	if p.terminal {
		shown = "\r\x1b[K" + shown
	} else {
		shown += "\n"
	}
	_, _ = io.WriteString(p.out, shown) // it is for people who look
}

// end removes the line from a terminal.
func (p *progress) end() {
	if p.terminal && p.shown {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}

// progressText says how much is done, how fast, and how long the rest takes if it
// goes on so.
func progressText(at backup.Progress, took time.Duration) string {
	percent := int64(100)
	if at.All > 0 {
		percent = at.Done * 100 / at.All
	}
	rate := float64(at.Done) / max(took.Seconds(), 0.001)
	text := fmt.Sprintf("%d %%, %s of %s, %s/s", percent, plaintext.Size(at.Done), plaintext.Size(at.All), plaintext.Size(int64(rate)))
	if rate < 1 {
		return text
	}
	left := time.Duration(float64(at.All-at.Done) / rate * float64(time.Second))
	return text + ", " + durationText(left) + " left"
}

// durationText returns a time for people, in whole seconds, such as 1m20s.
func durationText(d time.Duration) string { return d.Round(time.Second).String() }
