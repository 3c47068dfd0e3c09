package schedule_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
)

// value parses JSON and returns it as the member "date" of a document.
func value(tb testing.TB, json string) (document.Value, *document.Faults) {
	tb.Helper()
	n, err := document.ParseJSON([]byte(`{"date":` + json + `}`))
	if err != nil {
		tb.Fatal(err)
	}
	faults := &document.Faults{}
	return document.Root(n, faults).Get("date"), faults
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ json, want string }{
		{`"20121109T123456"`, "2012-11-09T12:34:56"},
		{`"20121109T1234"`, "2012-11-09T12:34:00"},
		{`"2012-11-09 12:34:56"`, "2012-11-09T12:34:56"},
		{`"2012-11-09 12:34"`, "2012-11-09T12:34:00"},
		{`"2012-11-09T12:34:56"`, "2012-11-09T12:34:56"},
		{`"2012-11-09T12:34"`, "2012-11-09T12:34:00"},
		{`"2012-11-09"`, "2012-11-09T00:00:00"},
		{`"2012-11-09T12:34:56Z"`, "2012-11-09T12:34:56"},
		{`"2012-11-09t12:34:56z"`, "2012-11-09T12:34:56"},
		{`"2012-11-09T12:34:56+01:00"`, "2012-11-09T11:34:56"},
		{`"2012-11-09T23:34:56-05:30"`, "2012-11-10T05:04:56"},
		{`"2012-11-09T12:34:56-00:00"`, "2012-11-09T12:34:56"},
		{`"2012-11-09T12:34:56.789Z"`, "2012-11-09T12:34:56"},
		{`"2012-11-09T12:34Z"`, "2012-11-09T12:34:00"},
		{`"20121109T123456Z"`, "2012-11-09T12:34:56"},
		{`"20121109T1234+0100"`, "2012-11-09T11:34:00"},
		{`" 2012-11-09 "`, "2012-11-09T00:00:00"},
		{`"2012-02-29"`, "2012-02-29T00:00:00"},
		{`1352464496`, "2012-11-09T12:34:56"},
		{`1352464496.0`, "2012-11-09T12:34:56"},
		{`"1352464496"`, "2012-11-09T12:34:56"},
		{`0`, "1970-01-01T00:00:00"},
		{`253402300799`, "9999-12-31T23:59:59"},
		{`"9999-12-31T23:59:59"`, "9999-12-31T23:59:59"},
		{`"1970-01-01"`, "1970-01-01T00:00:00"},
	} {
		v, faults := value(t, test.json)
		got, ok := schedule.ParseTime(v)
		if !ok || faults.Err() != nil || got != at(test.want) {
			t.Errorf("%s: got %v, %v, want %s", test.json, got, faults.Err(), test.want)
		}
		if v.Node.Kind == document.String {
			if got, err := schedule.ParseTimeText(v.Node.Text); err != nil || got != at(test.want) {
				t.Errorf("text %s: got %v, %v, want %s", test.json, got, err, test.want)
			}
		}
	}
}

func TestParseTimeFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		json string
		want errs.Code
	}{
		{`""`, errs.CodeFormat},
		{`"x"`, errs.CodeFormat},
		{`"now"`, errs.CodeFormat},
		{`"12:34"`, errs.CodeFormat},
		{`"2012-11"`, errs.CodeFormat},
		{`"2012-11-9"`, errs.CodeFormat},
		{`"2012-11-09T12"`, errs.CodeFormat},
		{`"20121109"`, errs.CodeFormat},
		{`"201211091234"`, errs.CodeFormat},
		{`"20121109123456"`, errs.CodeFormat},
		{`"5"`, errs.CodeFormat},
		{`"2012-11-09T12:34:56X"`, errs.CodeFormat},
		{`"2012-11-09T12:34:56+1"`, errs.CodeFormat},
		{`"2012-11-09T12:34:56 Z"`, errs.CodeFormat},
		{`"2012-11-09T1234"`, errs.CodeFormat},
		{`"20121109 1234"`, errs.CodeFormat},
		{`"2012-11-09T12:34:5"`, errs.CodeFormat},
		{`"2012-11-09T12:34:56."`, errs.CodeFormat},
		{`"2012/11/09"`, errs.CodeFormat},
		{`"+012-11-09"`, errs.CodeFormat},
		{`"-1"`, errs.CodeFormat},
		{`"09.11.2012"`, errs.CodeFormat},
		{`"2012-11-09Z"`, errs.CodeFormat},
		{`"２０12-11-09"`, errs.CodeFormat},
		{`"2012-13-09"`, errs.CodeRange},
		{`"2012-00-09"`, errs.CodeRange},
		{`"2012-11-31"`, errs.CodeRange},
		{`"2013-02-29"`, errs.CodeRange},
		{`"2012-11-00"`, errs.CodeRange},
		{`"2012-11-09T24:00:00"`, errs.CodeRange},
		{`"2012-11-09T12:60"`, errs.CodeRange},
		{`"2012-11-09T12:34:60"`, errs.CodeRange},
		{`"2012-11-09T12:34:56+24:00"`, errs.CodeRange},
		{`"2012-11-09T12:34:56+01:60"`, errs.CodeRange},
		{`"1969-12-31T23:59:59"`, errs.CodeRange},
		{`"1970-01-01T00:00:00+00:01"`, errs.CodeRange},
		{`"9999-12-31T23:59:59-00:01"`, errs.CodeRange},
		{`"0000-01-01"`, errs.CodeRange},
		{`-1`, errs.CodeRange},
		{`253402300800`, errs.CodeRange},
		{`1e99`, errs.CodeType},
		{`1.5`, errs.CodeType},
		{`true`, errs.CodeType},
		{`[]`, errs.CodeType},
		{`null`, errs.CodeType},
		{`{}`, errs.CodeType},
	} {
		v, faults := value(t, test.json)
		_, ok := schedule.ParseTime(v)
		if list := faults.List(); ok || len(list) != 1 || list[0].Code != test.want || list[0].Pointer != "/date" {
			t.Errorf("%s: got %v, want one fault of code %s", test.json, list, test.want)
		}
		if v.Node.Kind == document.String {
			if _, err := schedule.ParseTimeText(v.Node.Text); !errs.Is(err, errs.Invalid) {
				t.Errorf("text %s: got %v, want an error of kind %s", test.json, err, errs.Invalid)
			}
		}
	}
	var faults document.Faults
	if _, ok := schedule.ParseTime(document.Value{Pointer: "/date", Faults: &faults}); ok || faults.List()[0].Code != errs.CodeRequired {
		t.Errorf("absent: got %v", faults.List())
	}
	_, err := schedule.ParseTimeText(strings.Repeat("ä", 1000))
	if len(err.Error()) > 400 {
		t.Errorf("the message repeats a long text: %v", err)
	}
}

// FuzzParseTime wants no panic, and that what is accepted is read back from
// the form of entries as the same instant.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{"2012-11-09T12:34:56Z", "20121109T1234", "2012-11-09", "1352464496", "2012-11-09 12:34:56.5+01:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := schedule.ParseTimeText(text)
		if err != nil {
			return
		}
		if got.Nanosecond() != 0 || got.Location() != time.UTC || got.Year() < 1970 || got.Year() > 9999 {
			t.Errorf("%q: got %v", text, got)
		}
		if again, err := schedule.ParseTimeText(got.Format("2006-01-02T15:04:05")); err != nil || again != got {
			t.Errorf("%q: got %v, then %v, %v", text, got, again, err)
		}
	})
}
