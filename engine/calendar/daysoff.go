package calendar

import (
	"sync"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/ical"
	"flowdrive/schedule"
)

// years is how far what recurs in a calendar is looked for.
const years = 10

// daysKey names what was read: a content, as a zone sees its days, up to a year.
type daysKey struct {
	content [32]byte
	zone    string
	until   int
}

// daysKeyOf names what is read at now in the calendar of that SHA-256.
func daysKeyOf(content [32]byte, zone string, now time.Time) daysKey {
	return daysKey{content: content, zone: zone, until: now.UTC().Year() + years + 1}
}

// digest returns the SHA-256 of the calendar.
func (k daysKey) digest() [32]byte { return k.content }

// daysOff is what a calendar excludes, or what is wrong with it.
type daysOff struct {
	Spans []schedule.Span
	Fault error // of kind Invalid
}

// readDaysOff reads a calendar; without zones there is UTC alone.
func readDaysOff(key daysKey, data []byte, zones schedule.Zones) daysOff {
	if zones == nil {
		zones = func(string) *time.Location { return nil }
	}
	end := time.Date(key.until, time.January, 1, 0, 0, 0, 0, time.UTC)
	o := ical.Options{Zone: time.UTC, Zones: zones, Until: end}
	if zone := zones(key.zone); zone != nil {
		o.Zone = zone
	}
	found, err := ical.Read(data, o)
	if err != nil {
		return daysOff{Fault: errs.New(errs.Invalid, "is not a valid calendar: %s", err)}
	}
	d := daysOff{Spans: make([]schedule.Span, len(found))}
	for i, s := range found {
		d.Spans[i] = schedule.Span(s)
	}
	return d
}

// DaysOff returns the spans that a calendar excludes from an entry of that zone, as read at now:
// what recurs ends ten years later. Without zones there is UTC alone. An error is of kind Invalid.
func DaysOff(data []byte, zone string, zones schedule.Zones, now time.Time) ([]schedule.Span, error) {
	d := readDaysOff(daysKeyOf([32]byte{}, zone, now), data, zones)
	return d.Spans, d.Fault
}

// daysOffCache keeps what was read. It never goes stale.
type daysOffCache struct {
	mu   sync.Mutex
	read map[daysKey]daysOff
}

const mostCalendars = 64 // of at most ical.MaxSpans each

// Get returns what was read, false for nothing.
func (c *daysOffCache) Get(key daysKey) (daysOff, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.read[key]
	return d, ok
}

// Put keeps what was read.
func (c *daysOffCache) Put(key daysKey, d daysOff) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil || len(c.read) >= mostCalendars {
		c.read = map[daysKey]daysOff{}
	}
	c.read[key] = d
}
