package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"
)

// Event is something that has changed on the drive.
type Event struct {
	Document `json:"-"`

	ID     string    `json:"-"`    // resumes the stream
	Kind   string    `json:"kind"` // case, task, schedule, route, document, or reset
	Href   string    `json:"href"`
	Change string    `json:"change"` // created, changed, deleted, performed and others
	Time   time.Time `json:"time"`
}

// reconnect is how long a lost stream waits before it is opened again.
const reconnect = 2 * time.Second

// Follow yields what changes and the user may see. A stream that is lost is opened again
// where it was; an event of the kind "reset" says that something may have been missed, and
// is also the first one. It ends with an error if the server refuses, or with the context.
func (c *Client) Follow(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		last := ""
		for ctx.Err() == nil {
			more, err := c.followOnce(ctx, &last, yield)
			if !more {
				return
			}
			if _, refused := errors.AsType[*Problem](err); refused {
				yield(Event{}, err)
				return
			}
			pause, end := context.WithTimeout(ctx, reconnect)
			<-pause.Done()
			end()
		}
		yield(Event{}, ctx.Err())
	}
}

// followOnce reads one stream until it ends, or until yield wants no more.
func (c *Client) followOnce(ctx context.Context, last *string, yield func(Event, error) bool) (more bool, err error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if *last != "" {
		header.Set("Last-Event-ID", *last)
	}
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/events", header: header})
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	// What came before the stream was open may have been missed.
	if *last == "" && !yield(Event{Kind: "reset"}, nil) {
		return false, nil
	}
	for event, err := range sse.Read(resp.Body, nil) {
		if err != nil {
			return true, c.unreachable(err)
		}
		*last = event.LastEventID
		v := Event{ID: event.LastEventID, Kind: event.Type}
		if event.Type != "reset" {
			if err := json.Unmarshal([]byte(event.Data), &v); err != nil {
				continue // an event of a later server
			}
			v.setRaw(json.RawMessage(event.Data))
		}
		if !yield(v, nil) {
			return false, nil
		}
	}
	return true, nil
}

// Wait waits until a case has ended, and the commands that it runs with it, and returns it.
func (c *Client) Wait(ctx context.Context, id int64) (Case, error) {
	var last Case
	err := c.FollowCase(ctx, id, func(now Case) (more bool, err error) {
		last = now
		if !now.Ended() {
			return true, nil
		}
		for d, err := range c.Deliveries(ctx, id) {
			if err != nil {
				return false, err
			}
			if d.Step == "exec" && (d.State == "waiting" || d.State == "running") {
				return true, nil
			}
		}
		return false, nil
	})
	return last, err
}

// Delivery is something that a case sends, or a command that it runs.
type Delivery struct {
	Document `json:"-"`

	Name   string `json:"name"`
	Action string `json:"action"`
	Step   string `json:"step"`  // exec, http, mail or call
	State  string `json:"state"` // waiting, running, delivered, recorded, failed, given up or canceled
	Result string `json:"result"`
}

// Deliveries returns what a case has sent and run.
func (c *Client) Deliveries(ctx context.Context, id int64) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		for f, err := range c.Files(ctx, casePath(id)+"/Outbox/") {
			var d Delivery
			if err == nil {
				d, err = get[Delivery](ctx, c, casePath(id)+"/Outbox/"+f.Name)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// FollowCase calls f with a case: now, and each time it has changed, until f returns false.
func (c *Client) FollowCase(ctx context.Context, id int64, f func(Case) (more bool, err error)) error {
	href := casePath(id) + ".json"
	for event, err := range c.Follow(ctx) {
		if err != nil {
			return err
		}
		if event.Kind != "reset" && (event.Kind != "case" || event.Href != href) {
			continue
		}
		now, err := c.Case(ctx, id)
		if err != nil {
			return err
		}
		if more, err := f(now); err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}
