package ical_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	other "github.com/emersion/go-ical"
	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/ical"
)

var update = flag.Bool("update", false, "write the golden files anew")

func instant(tb testing.TB, text string) time.Time {
	tb.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// decode reads a calendar with another's reader.
func decode(tb testing.TB, data []byte) *other.Calendar {
	tb.Helper()
	c, err := other.NewDecoder(bytes.NewReader(data)).Decode()
	if err != nil {
		tb.Fatalf("%v\n%s", err, data)
	}
	return c
}

func TestCalendarIsWrittenAsTheRFCSays(t *testing.T) {
	t.Parallel()
	stamp := instant(t, "2012-11-09T12:34:56Z")
	berlin := time.FixedZone("", 3600)
	c := ical.Calendar{Name: "Flowdrive: sam; ann, bob", Refresh: 30 * time.Minute, Events: []ical.Event{
		{UID: "a@flowdrive", Stamp: stamp, Start: instant(t, "2012-11-11T23:00:00+01:00"), Summary: `Rates, "nightly"; C:\rates`, Description: "At 23:00 on Thursday and Sunday.\nStarts a case of the route rates.", Category: "Schedule", URL: "https://flow.example.org/a;b,c"},
		{UID: "b@flowdrive", Stamp: stamp, Start: time.Date(2012, 12, 31, 0, 0, 0, 0, berlin), AllDay: true, Summary: strings.Repeat("Überprüfung ", 20)},
		{UID: "c@flowdrive", Stamp: stamp, Start: stamp, Summary: "a\tb\r\nc\x7f\x00"},
	}}
	got := c.Append(nil)
	golden(t, "feed.ics", got)
	read := decode(t, got).Events()
	if len(read) != 3 {
		t.Fatalf("%d events", len(read))
	}
	for i, e := range c.Events {
		start, err := read[i].DateTimeStart(berlin)
		if err != nil || !start.Equal(e.Start) {
			t.Errorf("event %d starts at %v (%v), want %v", i, start, err, e.Start)
		}
		if uid, err := read[i].Props.Text(other.PropUID); err != nil || uid != e.UID {
			t.Errorf("event %d has the UID %q (%v)", i, uid, err)
		}
	}
	if to, err := read[0].Props.URI(other.PropURL); err != nil || to.String() != c.Events[0].URL {
		t.Errorf("the URL is %v (%v)", to, err)
	}
	if end, err := read[1].DateTimeEnd(berlin); err != nil || end.Sub(c.Events[1].Start) != 24*time.Hour {
		t.Errorf("the whole day ends at %v (%v)", end, err)
	}
}

func TestAppendEmpty(t *testing.T) {
	t.Parallel()
	got := (&ical.Calendar{Name: "Flowdrive", Refresh: time.Hour}).Append(nil)
	golden(t, "empty.ics", got)
	if n := len(decode(t, got).Children); n != 1 {
		t.Errorf("%d components, want the time zone alone", n)
	}
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil { //nolint:gosec // it is committed
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// FuzzAppend: whatever a text holds, lines are short, whole characters, and
// another's reader finds the text again.
func FuzzAppend(f *testing.F) {
	f.Add("Rates, nightly; C:\\", "two\nlines")
	f.Add(strings.Repeat("ü€😀", 40), "\r\n\r\t\x00")
	f.Add("\xff\xfe", ":;,\"")
	f.Fuzz(func(t *testing.T, summary, description string) {
		c := ical.Calendar{Name: summary, Events: []ical.Event{{UID: "a", Summary: summary, Description: description}}}
		data := c.Append(nil)
		lines := bytes.SplitAfter(data, []byte("\r\n"))
		if len(lines[len(lines)-1]) != 0 {
			t.Fatalf("the last line does not end: %q", data)
		}
		for _, line := range lines {
			if len(line) > 77 || !utf8.Valid(line) || bytes.ContainsAny(bytes.TrimSuffix(line, []byte("\r\n")), "\r\n\x00") {
				t.Errorf("a line of %d bytes: %q", len(line), line)
			}
		}
		events := decode(t, data).Events()
		if len(events) != 1 {
			t.Fatalf("%d events in %q", len(events), data)
		}
		got, err := events[0].Props.Text(other.PropSummary)
		if err != nil || got != plain(summary) {
			t.Errorf("the summary %q (%v), want %q", got, err, plain(summary))
		}
	})
}

// plain is a text as a calendar can hold it.
func plain(text string) string {
	text = strings.ToValidUTF8(string([]rune(text)), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r == 0x7f) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}
