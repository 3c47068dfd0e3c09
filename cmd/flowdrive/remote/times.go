package remote

import (
	"context"
	"fmt"
	"time"
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

// when returns a time: on a terminal as people say it, else in RFC 3339.
func (s *session) when(ctx context.Context, t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	if !s.Terminal {
		return t.Format(time.RFC3339)
	}
	return relative(t.Sub(s.serverTime(ctx)))
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
