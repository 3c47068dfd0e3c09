// Package holidays reads the calendars that schedule entries exclude, and keeps
// what it has read. The engine decides which document is a calendar and who may
// use it.
package holidays

import (
	"sync"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/ical"
	"flowdrive/schedule"
)

// years is how far what recurs in a calendar is looked for.
const years = 10

// Key names what was read: a content, as a zone sees its days, up to a year.
type Key struct {
	content [32]byte
	zone    string
	until   int
}

// KeyOf names what is read at now in the calendar of that SHA-256.
func KeyOf(content [32]byte, zone string, now time.Time) Key {
	return Key{content: content, zone: zone, until: now.UTC().Year() + years + 1}
}

// Content returns the SHA-256 of the calendar.
func (k Key) Content() [32]byte { return k.content }

// Days is what a calendar excludes, or what is wrong with it.
type Days struct {
	Spans []schedule.Span
	Fault error // of kind Invalid
}

// Read reads a calendar; without zones there is UTC alone.
func Read(key Key, data []byte, zones schedule.Zones) Days {
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
		return Days{Fault: errs.New(errs.Invalid, "is not a valid calendar: %s", err)}
	}
	d := Days{Spans: make([]schedule.Span, len(found))}
	for i, s := range found {
		d.Spans[i] = schedule.Span(s)
	}
	return d
}

// Cache keeps what was read. It never goes stale.
type Cache struct {
	mu   sync.Mutex
	read map[Key]Days
}

const mostCalendars = 64 // of at most ical.MaxSpans each

// Get returns what was read, false for nothing.
func (c *Cache) Get(key Key) (Days, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.read[key]
	return d, ok
}

// Put keeps what was read.
func (c *Cache) Put(key Key, d Days) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil || len(c.read) >= mostCalendars {
		c.read = map[Key]Days{}
	}
	c.read[key] = d
}
