package clock

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
)

// Duration is a length of time in the parts of ISO 8601: years and months
// are calendar arithmetic, days are 24 hours (everything is UTC).
type Duration struct {
	Months int           // years count twelve
	Exact  time.Duration // weeks, days, hours, minutes, seconds
}

// MaxExact bounds the exact part of a duration: some 290 years, what
// time.Duration holds.
const MaxExact = time.Duration(math.MaxInt64)

// maxMonths bounds the calendar part to what dates can carry.
const maxMonths = 12 * 9999

// ParseDuration reads an ISO 8601 duration ("P3D", "PT5M", "P1Y2M",
// "PT1.5S"). It refuses signs, an empty one, units out of order and what
// would not fit.
func ParseDuration(text string) (Duration, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "P")
	if !ok || rest == "" {
		return Duration{}, badDuration(text)
	}
	date, clock, timed := strings.Cut(rest, "T")
	var d Duration
	if err := d.addUnits(date, "YMWD"); err != nil {
		return Duration{}, badDuration(text)
	}
	if timed {
		if clock == "" || d.addUnits(clock, "HMS") != nil {
			return Duration{}, badDuration(text)
		}
	}
	return d, nil
}

// shortLength matches a length of time as people type it.
var shortLength = regexp.MustCompile(`^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$`)

// ParseLength reads a length of time in settings, flags and commands: in short, as 15m, 2h30m
// or 30d, or as ISO 8601 has it, without years and months. In short m is minutes.
func ParseLength(text string) (time.Duration, error) {
	iso := text
	if long := Longhand(text); long != "" {
		iso = long
	}
	d, err := ParseDuration(iso)
	if err != nil || d.Months != 0 {
		return 0, fmt.Errorf("%q is not a valid length of time; write it as 15m, 2h30m, 30d or PT15M", clipped(text))
	}
	return d.Exact, nil
}

// Longhand returns what a length of time in short is in ISO 8601: PT2H30M for 2h30m. It
// returns "" for any other text.
func Longhand(text string) string {
	short := strings.ToLower(strings.ReplaceAll(text, " ", ""))
	found := shortLength.FindStringSubmatch(short)
	if found == nil || short == "" {
		return ""
	}
	unit := func(i int, name string) string {
		if found[i] == "" {
			return ""
		}
		return found[i] + name
	}
	iso := "P" + unit(1, "W") + unit(2, "D")
	if times := unit(3, "H") + unit(4, "M") + unit(5, "S"); times != "" {
		iso += "T" + times
	}
	return iso
}

func badDuration(text string) error {
	return fmt.Errorf("%q is not a duration; write one like P3D, PT5M or P1DT12H", clipped(text))
}

func clipped(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return text
}

// addUnits adds a run of number and unit, the units in the given order.
func (d *Duration) addUnits(text, order string) error {
	exact := map[byte]time.Duration{
		'W': 7 * 24 * time.Hour, 'D': 24 * time.Hour, 'H': time.Hour, 'M': time.Minute, 'S': time.Second,
	}
	dated := order[0] == 'Y'
	for text != "" {
		end := strings.IndexAny(text, order)
		if end < 1 {
			return fmt.Errorf("no unit of %s", order)
		}
		number, unit := text[:end], text[end]
		order = order[strings.IndexByte(order, unit)+1:]
		text = text[end+1:]
		if dated && (unit == 'Y' || unit == 'M') {
			n, err := strconv.ParseUint(number, 10, 31)
			if err != nil {
				return err
			}
			months := int(n)
			if unit == 'Y' {
				months *= 12
			}
			if months > maxMonths || d.Months+months > maxMonths {
				return fmt.Errorf("too long")
			}
			d.Months += months
			continue
		}
		part, err := scale(number, exact[unit])
		if err != nil || d.Exact > MaxExact-part {
			return fmt.Errorf("too long")
		}
		d.Exact += part
	}
	return nil
}

// scale returns number units; the number may have a decimal fraction.
func scale(number string, unit time.Duration) (time.Duration, error) {
	whole, fraction, fractional := strings.Cut(strings.Replace(number, ",", ".", 1), ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil {
		return 0, err
	}
	if n > uint64(MaxExact/unit) {
		return 0, fmt.Errorf("too long")
	}
	d := time.Duration(n) * unit
	if !fractional {
		return d, nil
	}
	if fraction == "" || strings.Trim(fraction, "0123456789") != "" {
		return 0, fmt.Errorf("no fraction")
	}
	f, err := strconv.ParseFloat("0."+fraction, 64)
	if err != nil {
		return 0, err
	}
	part := time.Duration(math.Round(f * float64(unit))) // 0.0000019 s is 1,900 ns, not 1,899
	if d > MaxExact-part {
		return 0, fmt.Errorf("too long")
	}
	return d + part, nil
}

// Seconds returns a duration of n seconds; ok is false if n is negative or too
// large.
func Seconds(n int64) (d Duration, ok bool) {
	if n < 0 || n > int64(MaxExact/time.Second) {
		return Duration{}, false
	}
	return Duration{Exact: time.Duration(n) * time.Second}, true
}

// IsZero reports whether d is zero.
func (d Duration) IsZero() bool { return d == Duration{} }

// After returns the instant d after t. Months are added first and clip to
// the month's last day (31 January + P1M is 28 or 29 February).
func (d Duration) After(t time.Time) time.Time {
	if d.Months != 0 {
		t = AddMonths(t, d.Months)
	}
	return t.Add(d.Exact)
}

// AddMonths returns t that many months later (or earlier), clipped to the
// last day of the month it falls in.
func AddMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location()).AddDate(0, months, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// String returns the duration as ISO 8601 writes it, "PT0S" for none.
func (d Duration) String() string {
	if d.IsZero() {
		return "PT0S"
	}
	var b strings.Builder
	b.WriteByte('P')
	unit := func(n int64, u byte) {
		if n != 0 {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(u)
		}
	}
	unit(int64(d.Months/12), 'Y')
	unit(int64(d.Months%12), 'M')
	days := d.Exact / (24 * time.Hour)
	unit(int64(days), 'D')
	rest := d.Exact - days*24*time.Hour
	if rest == 0 {
		return b.String()
	}
	b.WriteByte('T')
	unit(int64(rest/time.Hour), 'H')
	unit(int64(rest%time.Hour/time.Minute), 'M')
	if s := rest % time.Minute; s != 0 {
		b.WriteString(strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%09d", s/time.Second, s%time.Second), "0"), "."))
		b.WriteByte('S')
	}
	return b.String()
}

// Words returns the duration for people: "1 year, 2 months, 7 days and 30 minutes".
// The units are years, months, days, hours, minutes and seconds.
func (d Duration) Words() string {
	seconds := int64(d.Exact / time.Second)
	parts := []struct {
		count int64
		unit  string
	}{
		{int64(d.Months / 12), "year"},
		{int64(d.Months % 12), "month"},
		{seconds / 86400, "day"},
		{seconds / 3600 % 24, "hour"},
		{seconds / 60 % 60, "minute"},
		{seconds % 60, "second"},
	}
	var words []string
	for _, p := range parts {
		if p.count != 0 {
			words = append(words, english.Plural(int(p.count), p.unit, ""))
		}
	}
	if len(words) == 0 {
		return "0 seconds"
	}
	return english.WordSeries(words, "and")
}
