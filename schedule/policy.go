package schedule

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Misfire says what becomes of instants that were missed by more than the
// grace.
type Misfire string

// The values of misfire.
const (
	MisfireOnce Misfire = "once" // one case for all of them
	MisfireSkip Misfire = "skip" // none
	MisfireAll  Misfire = "all"  // one each
)

// Overlap says what happens when a case of the entry is still open.
type Overlap string

// The values of overlap.
const (
	OverlapAllow       Overlap = "allow"
	OverlapSkip        Overlap = "skip"
	OverlapBufferOne   Overlap = "bufferOne"
	OverlapBufferAll   Overlap = "bufferAll"
	OverlapCancelOther Overlap = "cancelOther"
)

// DSTGap says what becomes of a local time that does not exist.
type DSTGap string

// The values of dstGap.
const (
	DSTGapShift DSTGap = "shift"
	DSTGapSkip  DSTGap = "skip"
)

// DSTOverlap says which of two equal local times counts.
type DSTOverlap string

// The values of dstOverlap.
const (
	DSTOverlapFirst DSTOverlap = "first"
	DSTOverlapLast  DSTOverlap = "last"
	DSTOverlapBoth  DSTOverlap = "both"
)

// Policies are the fields that say how an entry's instants are treated
// (docs/contract/schedule.md#3-firing).
type Policies struct {
	Timezone        string
	Misfire         Misfire
	GraceSeconds    int
	Overlap         Overlap
	JitterSeconds   int
	Start, End      time.Time
	Exclude         []Exclusion
	ExcludeCalendar string // decoded path
	DSTGap          DSTGap
	DSTOverlap      DSTOverlap
}

// grace returns how late an instant may be and still be in time. Without any grace
// every instant would be late, for nothing happens at once: 0 means within the minute,
// which is what an entry promises.
func (p *Policies) grace() time.Duration {
	if p.GraceSeconds == 0 {
		return leastGrace * time.Second
	}
	return time.Duration(p.GraceSeconds) * time.Second
}

// Exclusion is a day, or a half-open range, in which nothing happens. Dates
// are kept as text, for a date without time means the entry's zone.
type Exclusion struct {
	Date     string // 2012-12-24
	From, To string // dates, or instants in the form of entries
}

func (x Exclusion) appendJSON(dst []byte) []byte {
	if x.Date != "" {
		return document.AppendString(dst, x.Date)
	}
	dst = document.AppendString(append(dst, `{"from":`...), x.From)
	dst = document.AppendString(append(dst, `,"to":`...), x.To)
	return append(dst, '}')
}

const (
	zoneUTC      = "UTC"
	defaultGrace = 58
	maxGrace     = 24 * 60 * 60
	leastGrace   = 60 // what 0 means: on time is within the minute
	maxJitter    = 60 * 60
)

// defaultPolicies are those of a document without any.
func defaultPolicies() Policies {
	return Policies{
		Timezone: zoneUTC, Misfire: MisfireOnce, GraceSeconds: defaultGrace, Overlap: OverlapAllow,
		DSTGap: DSTGapShift, DSTOverlap: DSTOverlapFirst,
	}
}

// readPolicies reads the policies of a document.
func (r *reader) readPolicies() {
	p := &r.entry.Policies
	r.timezone(&p.Timezone)
	p.Misfire = oneOf(r.get("misfire"), p.Misfire, MisfireSkip, MisfireAll)
	p.GraceSeconds = int(r.number("graceSeconds", 0, maxGrace, int64(p.GraceSeconds)))
	p.Overlap = oneOf(r.get("overlap"), p.Overlap, OverlapSkip, OverlapBufferOne, OverlapBufferAll, OverlapCancelOther)
	p.JitterSeconds = int(r.number("jitterSeconds", 0, maxJitter, 0))
	p.Start = r.start()
	p.End = r.end()
	if !p.Start.IsZero() && !p.End.IsZero() && !p.End.After(p.Start) {
		r.get("end").Fail(errs.CodeConflict, "must be after start")
	}
	p.Exclude = readExclusions(r.get("exclude"))
	p.ExcludeCalendar = r.path("excludeCalendar", r.was.ExcludeCalendar)
	p.DSTGap = oneOf(r.get("dstGap"), p.DSTGap, DSTGapSkip)
	p.DSTOverlap = oneOf(r.get("dstOverlap"), p.DSTOverlap, DSTOverlapLast, DSTOverlapBoth)
}

// start reads when an entry begins to happen. A date without time is the beginning of
// that day in the entry's zone, as in exclude.
func (r *reader) start() time.Time { return r.day("start", 0) }

// end reads the last instant at which an entry may happen. A date without time includes
// the whole day in the entry's zone.
func (r *reader) end() time.Time { return r.day("end", 1) }

// day reads a bound. A date without time is the beginning of the day that is so many
// days later, or the second before that.
func (r *reader) day(key string, later int) time.Time {
	v := r.get(key)
	if !v.Given() || v.Node.Kind != document.String || !dateOnly(v.Node.Text) {
		return r.time(key)
	}
	day, ok := ParseTime(v)
	zone := r.entry.location()
	if !ok || zone == nil {
		return time.Time{} // the document has a fault
	}
	at, err := clock.ParseDate(day.AddDate(0, 0, later).Format(time.DateOnly), zone)
	if err != nil {
		v.Fail(errs.CodeRange, "%s", err.Detail)
	}
	return at.Time.Add(-time.Duration(later) * time.Second)
}

// oneOf reads one of several words; standard is the default.
func oneOf[T ~string](v document.Value, standard T, others ...T) T {
	if !v.Given() {
		return standard
	}
	text, ok := v.Str()
	if !ok || text == string(standard) {
		return standard
	}
	if i := slices.Index(others, T(text)); i >= 0 {
		return others[i]
	}
	known := []string{string(standard)}
	for _, other := range others {
		known = append(known, string(other))
	}
	v.Fail(errs.CodeRange, "must be one of %s, not %q%s", strings.Join(known, ", "), text, document.Hint(text, known))
	return standard
}

// timezone reads the name of a zone. The caller, which has the zone data,
// checks that it exists.
func (r *reader) timezone(zone *string) {
	v := r.get("timezone")
	if !v.Given() {
		return
	}
	text, ok := v.Str()
	switch {
	case !ok:
	case !zoneName(text):
		v.Fail(errs.CodeFormat, `%q is not the name of a time zone: write "UTC" or a name such as "Europe/Berlin"`, text)
	case text != zoneUTC && (r.entry.Type == TypeSimple || r.entry.Type == TypeInterval):
		v.Fail(errs.CodeConflict, `must be "UTC" in an entry of type %q: zones only govern cron and crontab`, r.entry.Type)
	case text != zoneUTC && (r.entry.zones == nil || r.entry.zones(text) == nil):
		v.Fail(errs.CodeNotFound, `there is no time zone %q: write "UTC" or a name such as "Europe/Berlin"`, text)
	default:
		*zone = text
	}
}

// zoneName reports whether the text has the form of a name in the IANA
// database. Local does not count: it would mean another zone on every machine.
func zoneName(text string) bool {
	const longest = 64
	if text == "Local" || len(text) > longest {
		return false
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == "" || !letter(part[0]) {
			return false
		}
		for i := range len(part) {
			if c := part[i]; !letter(c) && (c < '0' || c > '9') && strings.IndexByte("_+-", c) < 0 {
				return false
			}
		}
	}
	return true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// readExclusions reads a list of days and ranges.
func readExclusions(v document.Value) []Exclusion {
	if !v.Given() || !v.Is(document.List) {
		return nil
	}
	var out []Exclusion
	for i := range v.Node.Items {
		item := v.Item(i)
		if item.Node.Kind == document.String {
			if _, ok := ParseTime(item); ok && !dateOnly(item.Node.Text) {
				item.Fail(errs.CodeFormat, `must be a day such as "2012-12-24", or an object with from and to`)
			}
			out = append(out, Exclusion{Date: strings.TrimSpace(item.Node.Text)})
			continue
		}
		if item.Node.Kind != document.Object {
			item.Fail(errs.CodeType, "must be a day or an object with from and to, not %s", item.Node.Kind)
			continue
		}
		item.Only("from", "to")
		from, to := readRange(item)
		out = append(out, Exclusion{From: from, To: to})
	}
	return out
}

// readRange reads from and to of a half-open range, to after from, and
// returns them as text: a date without time stays one.
func readRange(v document.Value) (from, to string) {
	start, ok1 := ParseTime(v.Get("from"))
	end, ok2 := ParseTime(v.Get("to"))
	if !ok1 || !ok2 {
		return "", ""
	}
	if !end.After(start) {
		v.Get("to").Fail(errs.CodeRange, "must be after from: the range does not include to")
		return "", ""
	}
	return rangeText(v.Get("from"), start), rangeText(v.Get("to"), end)
}

func rangeText(v document.Value, t time.Time) string {
	if v.Node.Kind == document.String && dateOnly(v.Node.Text) {
		return t.Format(time.DateOnly)
	}
	return t.Format(timeLayout)
}

// dateOnly reports whether a text that is a date has no time.
func dateOnly(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) == len(time.DateOnly) && text[4] == '-'
}
