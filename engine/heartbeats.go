package engine

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"time"

	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/schedule"
	"flowdrive/store"
)

// A sign of life that comes late says what is not true. One that cannot be delivered is
// given up after about four minutes.
var heartbeatRepeats = machine.Repeats{Times: 4, Every: 5 * time.Second, Backoff: 3} //nolint:gochecknoglobals // a constant

// checkHeartbeat judges the addresses that an entry calls as those that a route calls.
func (e *Schedules) checkHeartbeat(by identity.Principal, root document.Value, entry *schedule.Entry) {
	entry.Heartbeat.Each(func(pointer string, a schedule.Address) {
		reach := route.Reach{Kind: route.ReachURL, Name: a.URL, Pointer: pointer}
		if a.Secret != "" {
			reach.Kind, reach.Name = route.ReachSecretURL, a.Secret
		}
		at := root.Get("heartbeat")
		if part := at.Get(path.Base(pointer)); part.Given() {
			at = part
		}
		for _, fault := range append(e.reach.Check([]route.Reach{reach}), e.reach.Warn(authorWho(by, ""), []route.Reach{reach})...) {
			at.Fail(fault.Code, "%s", fault.Detail)
		}
	})
}

// heartbeats are the calls of the addresses of one entry.
type heartbeats struct {
	*decider
	tx    store.Tx
	entry store.UUID
}

// beat calls the heartbeat addresses of the entry that has created the case, if the
// change starts the case, completes it, or makes it fail.
func beat(e *decider, tx store.Tx, c *caseChange) error {
	uuid, scheduled := store.ParseUUID(c.after.ScheduleUUID)
	if !scheduled {
		return nil
	}
	was := func(life machine.Life) bool { return c.was != nil && c.was.Life == life }
	started := !c.after.Started.IsZero() && (c.was == nil || c.was.Started.IsZero())
	done := c.after.Life == machine.Completed && !was(machine.Completed)
	failed := c.after.Life == machine.Failed && !was(machine.Failed) || c.after.Life == machine.Canceled && !was(machine.Canceled)
	for i := range c.failures {
		failed = failed || !c.failures[i].Handled && c.failures[i].Handler == ""
	}
	if !started && !done && !failed {
		return nil
	}
	h, err := heartbeatOf(tx, uuid)
	if err != nil || h == nil {
		return err
	}
	calls := heartbeats{e, tx, uuid}
	for _, moment := range []struct {
		comes bool
		to    schedule.Address
		name  string
	}{{started, h.Started, "started"}, {failed, h.Failed, "failed"}, {done, h.Done, "done"}} {
		if !moment.comes || !moment.to.IsSet() {
			continue
		}
		if e.sandbox {
			err = calls.record(c, moment.to, moment.name)
		} else {
			err = calls.post(moment.to, c.after.Modified)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// heartbeatOf returns the heartbeat addresses of an entry, which may have ended; nil if
// it has none.
func heartbeatOf(r store.Reader, uuid store.UUID) (*schedule.Heartbeat, error) {
	stored, err := store.OrNil(r.Entries().Get(uuid))
	if err != nil {
		return nil, err
	}
	var form []byte
	if stored != nil {
		form = stored.Form
	} else {
		ended, err := store.OrNil(r.Entries().Ended(uuid))
		if err != nil || ended == nil {
			return nil, err
		}
		form = ended.Form
	}
	return schedule.HeartbeatOf(form), nil
}

// heartbeatRequest is the call of an address.
func heartbeatRequest(uuid store.UUID, to schedule.Address) *machine.Request {
	retry := heartbeatRepeats
	return &machine.Request{HTTP: &machine.HTTPCall{Method: "POST", URL: to.URL, URLSecret: to.Secret}, Retry: &retry, Heartbeat: uuid.String()}
}

// post puts the call of an address into the outbox. The calls of an entry are made in
// order. A newer one takes the place of those that could not be made: only the latest is
// true.
func (h heartbeats) post(to schedule.Address, now time.Time) error {
	request := heartbeatRequest(h.entry, to)
	prefix := outbox.NoticePrefix(request)
	for {
		earlier, err := h.tx.Outbox().First(prefix)
		if err != nil {
			return err
		}
		if earlier == nil || earlier.Flying || earlier.Attempts == 0 && !earlier.Due.IsZero() {
			break
		}
		if err := h.tx.Write().Outbox().Delete(earlier.Key); err != nil {
			return err
		}
	}
	return h.postRequest(h.tx, &store.OutboxRow{Key: store.NewUUID().String(), Due: now, Created: now}, request)
}

// record keeps what a sandbox would call as a message of the case.
func (h heartbeats) record(c *caseChange, to schedule.Address, moment string) error {
	record, err := outbox.Record(&store.OutboxRow{Request: document.Line(heartbeatRequest(h.entry, to))})
	if err != nil {
		return err
	}
	kept := &contents.Content{MediaType: "application/json", Inline: record}
	m := kept.Message(c.row.ID, mustGUID(c.after.GUID), fmt.Sprintf("Heartbeat-%d-%s", c.row.Revision, moment))
	m.Created, m.Modified, m.AuthorID = c.after.Modified, c.after.Modified, c.row.StarterID
	return h.tx.Write().Cases().Messages().Put(m)
}

// heartbeatWay is what the ID of the way of a heartbeat begins with.
const heartbeatWay = "heartbeat-"

// wayOfHeartbeat returns the way of a row that is a heartbeat; ok is false for others.
func wayOfHeartbeat(row *store.OutboxRow) (w way, ok bool) {
	var r machine.Request
	if row.Step != 0 || json.Unmarshal(row.Request, &r) != nil || r.Heartbeat == "" || r.HTTP == nil {
		return way{}, false
	}
	name := "the secret " + r.HTTP.URLSecret
	if u, err := url.Parse(r.HTTP.URL); err == nil && u.Host != "" {
		name = u.Host
	}
	return way{id: heartbeatWay + r.Heartbeat, name: "the heartbeat address of a schedule entry, at " + name, heartbeat: true}, true
}

// isGivenUp reports whether an attempt was the last one of a delivery.
func isGivenUp(row *store.OutboxRow, failure error) (bool, error) {
	var r machine.Request
	if err := json.Unmarshal(row.Request, &r); err != nil {
		return false, errs.Wrap("read a delivery", err)
	}
	_, again := outbox.NextAttempt(&r, row.Key, row.Attempts, failure)
	return !again, nil
}
