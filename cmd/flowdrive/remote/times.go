package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"flowdrive/client"
	"flowdrive/internal/clock"
)

// serverTime returns the time of the server, which is asked once.
func (s *session) serverTime(ctx context.Context) time.Time {
	if !s.now.IsZero() {
		return s.now
	}
	now, err := s.Now(ctx)
	if err != nil {
		now = s.env.Now() // the times stand for themselves
	}
	s.now = now
	return now
}

// when returns a time: on a terminal as people say it, else in RFC 3339. One that the drive has
// in UTC is shown in the user's zone.
func (s *session) when(ctx context.Context, t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	if s.Terminal {
		return relative(t.Sub(s.serverTime(ctx)))
	}
	shown := *t
	if t.Location() == time.UTC {
		shown = t.In(s.userZone(ctx))
	}
	return shown.Format(time.RFC3339)
}

// next returns when an entry fires next: if its words are times of day, in the zone of these.
func (s *session) next(ctx context.Context, entry *client.Entry) string {
	if entry.Next != nil && !s.Terminal && (entry.Type == "cron" || entry.Type == "crontab") {
		return entry.Next.Format(time.RFC3339)
	}
	return s.when(ctx, entry.Next)
}

// ownZone returns the time zone that the user has chosen in me.json, which is asked once, or nil.
func (s *session) ownZone(ctx context.Context) *time.Location {
	if s.zoneAsked {
		return s.zone
	}
	s.zoneAsked = true
	var me struct {
		Timezone string `json:"timezone"` // may be null
	}
	text, err := s.Me(ctx)
	if err != nil || json.Unmarshal(text, &me) != nil {
		return nil // the times stand for themselves
	}
	s.zone = new(clock.Zones).Zone(me.Timezone)
	return s.zone
}

// typedZone returns the time zone of times that the user types without one, as the drive reads
// them: the user's own, else that of the server.
func (s *session) typedZone(ctx context.Context) (*time.Location, error) {
	if zone := s.ownZone(ctx); zone != nil {
		return zone, nil
	}
	text, err := s.Overview(ctx)
	if err != nil {
		return nil, err
	}
	var overview struct {
		Timezone string `json:"timezone"`
	}
	if err := json.Unmarshal(text, &overview); err != nil {
		return nil, fmt.Errorf("read the time zone of the server: %w", err)
	}
	zone := new(clock.Zones).Zone(overview.Timezone)
	if zone == nil {
		return nil, fmt.Errorf("the time zone of the server, %q, is not known on this machine; say --zone", overview.Timezone)
	}
	if overview.Timezone != "UTC" { // which servers have that were not told theirs
		s.zone = zone
	}
	return zone, nil
}

// userZone returns the time zone in which the user is shown times: that of me.json, else that of
// the server, as show has it, else that of this machine, else UTC.
func (s *session) userZone(ctx context.Context) *time.Location {
	if s.shownIn != nil {
		return s.shownIn
	}
	zone, err := s.typedZone(ctx)
	if machine := new(clock.Zones).Zone(s.env.Zone()); s.zone == nil && machine != nil {
		zone = machine
	} else if err != nil {
		zone = time.UTC // the times stand for themselves
	}
	s.shownIn = zone
	return zone
}

// words returns when an entry fires, in words. The only instant of an entry that has one is in
// that zone. Times of day in UTC say so, as the server says it of all other zones.
func words(entry *client.Entry, zone *time.Location) string {
	if entry.Zone == "UTC" && (entry.Type == "cron" || entry.Type == "crontab") && !strings.HasSuffix(entry.Description, " (UTC)") {
		return entry.Description + " (UTC)"
	}
	if entry.Type != "simple" || entry.Next == nil {
		return entry.Description
	}
	at := entry.Next.In(zone)
	name := zone.String()
	if short, _ := at.Zone(); short == "UTC" {
		name = short // for all of its other names
	}
	return fmt.Sprintf("Once at %s (%s)", at.Format("2006-01-02 15:04"), name)
}

// relative returns how far a time is, as "in 3 days" or "2 hours ago".
func relative(d time.Duration) string {
	far := d.Abs()
	said := ""
	for _, unit := range []struct {
		name string
		long time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		n := int((far + unit.long/2) / unit.long)
		if far >= unit.long || unit.name == "minute" && n > 0 {
			said = fmt.Sprintf("%d %ss", n, unit.name)
			if n == 1 {
				said = "1 " + unit.name
			}
			break
		}
	}
	switch {
	case said == "":
		return "now"
	case d > 0:
		return "in " + said
	}
	return said + " ago"
}
