package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lateAfter is after how long people are told of a delivery that does not get
// through, though it is still tried (docs/contract/routes.md#what-is-wrong).
const lateAfter = time.Hour

// Delay is what is known of a delivery of which attempts have failed and that is still
// tried.
type Delay struct {
	Tries int64     `json:"n"`           // attempts that have failed; 0: none was made yet
	Last  string    `json:"e"`           // why the last one has, in one line
	First time.Time `json:"b"`           // when the first one had
	Next  time.Time `json:"w"`           // the next attempt
	Until time.Time `json:"z"`           // the last attempt, if all of them fail
	Late  bool      `json:"l,omitempty"` // it takes longer than an hour: people are told
}

// delay notes that an attempt of a delivery has failed and when there is another one.
// As soon as it is certain that the delivery takes longer than an hour, that is a
// warning on the case.
func (d deliveries) delay(at int, e Attempted) {
	o := &d.c.Outbox[at]
	next := Delay{Tries: e.Attempt, Last: clipLine(e.Reason), First: d.now, Next: e.Again.UTC(), Until: e.Until.UTC()}
	if was := o.Delay; was != nil {
		next.First, next.Late = was.First, was.Late
	}
	next.Late = next.Late || next.Next.Sub(next.First) >= lateAfter
	o.Delay = &next
	d.changed = true
	text := fmt.Sprintf("Attempt %d failed: %s: %s; again at %s", e.Attempt, o.Verb, next.Last, next.Next.Format(time.RFC3339))
	if e.Attempt == 0 {
		text = fmt.Sprintf("Waits until %s: %s: %s", next.Next.Format(time.RFC3339), o.Verb, next.Last)
	}
	d.addOutside(o, LogEntry{Kind: LogMessage, Text: text})
	if !next.Late {
		return
	}
	d.dropWarnings(func(w Warning) bool { return w.Timer == o.Name() })
	if len(d.c.Warnings) < maxNotices {
		text := fmt.Sprintf("Not delivered yet: %s: %s", o.Verb, next.Text())
		d.c.Warnings = append(slices.Clip(d.c.Warnings), Warning{Timer: o.Name(), Time: d.now, Text: text})
	}
}

// Text says in a line how often it was tried, what the last attempt yielded and when
// the next one is. Instants are as RFC 3339 has them.
func (y *Delay) Text() string {
	if y.Tries == 0 {
		return fmt.Sprintf("it was not tried yet, because %s. The first attempt is at %s", strings.TrimSuffix(y.Last, "."), y.Next.Format(time.RFC3339))
	}
	attempts := "1 attempt has failed"
	if y.Tries != 1 {
		attempts = fmt.Sprintf("%d attempts have failed", y.Tries)
	}
	text := fmt.Sprintf("%s, the last one because: %s. The next one is at %s", attempts, strings.TrimSuffix(y.Last, "."), y.Next.Format(time.RFC3339))
	if y.Until.After(y.Next) {
		text += ", and the last one at " + y.Until.Format(time.RFC3339)
	}
	return text
}

// LateDeliveries returns the deliveries of a case of which people are told that they
// have not got through yet.
func LateDeliveries(c *Case) (out []*Outgoing) {
	if c == nil {
		return nil
	}
	for i := range c.Outbox {
		if o := &c.Outbox[i]; o.Delay != nil && o.Delay.Late {
			out = append(out, o)
		}
	}
	return out
}
