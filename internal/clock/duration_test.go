package clock

import (
	"math"
	"strings"
	"testing"
	"time"
)

const day = 24 * time.Hour

func TestParseDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want Duration
		form string // as String writes it
	}{
		{"P3D", Duration{Exact: 3 * day}, "P3D"},
		{"PT5M", Duration{Exact: 5 * time.Minute}, "PT5M"},
		{"P5M", Duration{Months: 5}, "P5M"},
		{"P1Y2M", Duration{Months: 14}, "P1Y2M"},
		{"P1Y2M3W4DT5H6M7S", Duration{Months: 14, Exact: 25*day + 5*time.Hour + 6*time.Minute + 7*time.Second}, "P1Y2M25DT5H6M7S"},
		{"P2W", Duration{Exact: 14 * day}, "P14D"},
		{"PT36H", Duration{Exact: 36 * time.Hour}, "P1DT12H"},
		{"PT1.5S", Duration{Exact: 1500 * time.Millisecond}, "PT1.5S"},
		{"PT1,5S", Duration{Exact: 1500 * time.Millisecond}, "PT1.5S"},
		{"PT0.0000019S", Duration{Exact: 1900}, "PT0.0000019S"},
		{"PT0.999999999S", Duration{Exact: 999_999_999}, "PT0.999999999S"},
		{"PT0.9999999999S", Duration{Exact: time.Second}, "PT1S"},
		{"P0.5D", Duration{Exact: 12 * time.Hour}, "PT12H"},
		{"P0D", Duration{}, "PT0S"},
		{"PT0S", Duration{}, "PT0S"},
		{" P1D\n", Duration{Exact: day}, "P1D"},
		{"P9999Y", Duration{Months: 12 * 9999}, "P9999Y"},
		{"P106751D", Duration{Exact: 106751 * day}, "P106751D"},
		{"PT9223372036.854775807S", Duration{Exact: math.MaxInt64}, "P106751DT23H47M16.854775807S"},
	}
	for _, test := range tests {
		got, err := ParseDuration(test.text)
		if err != nil || got != test.want {
			t.Errorf("ParseDuration(%q) = %+v, %v; want %+v", test.text, got, err, test.want)
		}
		if form := got.String(); form != test.form {
			t.Errorf("%q is written %q; want %q", test.text, form, test.form)
		}
		if again, err := ParseDuration(test.form); err != nil || again != got {
			t.Errorf("ParseDuration(%q) = %+v, %v; want %+v", test.form, again, err, got)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "P", "PT", "P1DT", "1D", "D", "PD", "P1", "P1X", "P1S", "PT1D", "PT1Y", "p1d", "P-1D", "-P1D", "+P1D", "P+1D", "P1D2Y", "PT1S1H",
		"P1D1D", "P1 D", "P1.5Y", "P1.5M", "P1.D", "P.5D", "P1.5.5D", "P1.5,5D", "PT1e3S", "P0x1D", "P1_0D", "PT1M P1D", "PTT1S", "P1DT1ST1S",
		"P10000Y", "P9999Y1M", "P119989M", "P2147483648M", "P106752D", "P15251W", "PT9223372037S", "PT9223372036.9S", "P106751DT24H",
		"P99999999999999999999D", "P" + strings.Repeat("9", 1000) + "D", "P٣D",
	} {
		got, err := ParseDuration(text)
		if err == nil {
			t.Errorf("ParseDuration(%.60q) = %+v; want an error", text, got)
		} else if len(err.Error()) > 200 {
			t.Errorf("ParseDuration(%.60q): the message has %d bytes", text, len(err.Error()))
		}
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 90, 9223372036} {
		if d, ok := Seconds(n); !ok || d.Exact != time.Duration(n)*time.Second || d.IsZero() != (n == 0) {
			t.Errorf("Seconds(%d) = %+v, %t", n, d, ok)
		}
	}
	for _, n := range []int64{-1, 9223372037, math.MaxInt64, math.MinInt64} {
		if d, ok := Seconds(n); ok {
			t.Errorf("Seconds(%d) = %+v; want none", n, d)
		}
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	tests := []struct{ from, duration, want string }{
		{"2026-01-31T10:00:00Z", "P1M", "2026-02-28T10:00:00Z"},
		{"2028-01-31T10:00:00Z", "P1M", "2028-02-29T10:00:00Z"},
		{"2028-02-29T00:00:00Z", "P1Y", "2029-02-28T00:00:00Z"},
		{"2028-02-29T00:00:00Z", "P4Y", "2032-02-29T00:00:00Z"},
		{"2026-12-31T23:59:59Z", "P2M", "2027-02-28T23:59:59Z"},
		{"2026-01-31T10:00:00Z", "P1MT14H", "2026-03-01T00:00:00Z"}, // months first
		{"2026-03-28T12:00:00Z", "P1D", "2026-03-29T12:00:00Z"},
		{"2026-03-28T12:00:00Z", "PT0.5S", "2026-03-28T12:00:00.5Z"},
	}
	for _, test := range tests {
		d, err := ParseDuration(test.duration)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.After(at(t, test.from)).Format(time.RFC3339Nano); got != test.want {
			t.Errorf("%s after %s = %s; want %s", test.duration, test.from, got, test.want)
		}
	}
}

func TestAddMonths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from   string
		months int
		want   string
	}{
		{"2026-03-31T01:02:03Z", -1, "2026-02-28T01:02:03Z"},
		{"2026-03-31T01:02:03Z", 0, "2026-03-31T01:02:03Z"},
		{"2026-03-31T01:02:03Z", -13, "2025-02-28T01:02:03Z"},
		{"2026-01-30T00:00:00Z", 12, "2027-01-30T00:00:00Z"},
		{"2026-10-31T00:00:00Z", 1, "2026-11-30T00:00:00Z"},
	}
	for _, test := range tests {
		if got := AddMonths(at(t, test.from), test.months).Format(time.RFC3339); got != test.want {
			t.Errorf("%s and %d months = %s; want %s", test.from, test.months, got, test.want)
		}
	}
}

func TestInstantsAreCutToMilliseconds(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 3600)
	got := Trim(time.Date(2026, 1, 1, 0, 30, 0, 1_999_999, east))
	if want := time.Date(2025, 12, 31, 23, 30, 0, 1_000_000, time.UTC); got != want {
		t.Errorf("Trim = %v; want %v", got, want)
	}
	if now := (Real{}).Now(); now != Trim(now) {
		t.Errorf("Now = %v; want it in UTC, cut to %v", now, Precision)
	}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"P3D", "PT5M", "P1Y2M3W4DT5H6M7.5S", "PT9223372036.854775807S", "P0.333W", "PT1,000000001H", "P", "P1DT", "P9999Y11M"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		if d.Months < 0 || d.Exact < 0 {
			t.Errorf("ParseDuration(%q) = %+v", text, d)
		}
		again, err := ParseDuration(d.String())
		if err != nil || again != d {
			t.Errorf("ParseDuration(%q) = %+v, but its text %q gives %+v, %v", text, d, d.String(), again, err)
		}
		from := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
		if d.After(from).Before(from) {
			t.Errorf("%q after %v is %v", text, from, d.After(from))
		}
	})
}

// TestLengths: settings, flags and commands take a length of time in short and as ISO 8601.
func TestLengths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30d": 30 * 24 * time.Hour, "P30D": 30 * 24 * time.Hour, "15m": 15 * time.Minute, "PT15M": 15 * time.Minute, "1w": 7 * 24 * time.Hour,
		"2h30m": 150 * time.Minute, "1D 12H": 36 * time.Hour, "5s": 5 * time.Second, "0d": 0, "P0D": 0,
	} {
		if got, err := ParseLength(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "5x", "-5m", "m5", "5m1h", "P1M", "1mo", "P", "soon"} {
		if got, err := ParseLength(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

// TestLonghand: what documents have is written as ISO 8601 has it (row a23 of a walk).
func TestLonghand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"30d": "P30D", "2h30m": "PT2H30M", "1W 2d": "P1W2D", "5s": "PT5S", "P1D": "", "": "", "5": "", "soon": ""} {
		if got := Longhand(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
