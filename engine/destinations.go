package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// toldAfter is for how long a destination may fail before administrators are told,
// if it does not fail for good before. They are told as soon as the next attempt is not
// made within that time.
const toldAfter = time.Hour

// destinationRecord is what is kept of a destination that fails.
type destinationRecord struct {
	Name   string    `json:"name,omitempty"` // what people call it
	Since  time.Time `json:"since"`          // the first failure since it last worked
	Reason string    `json:"reason"`         // of the last failure
	Lost   int64     `json:"lost"`           // deliveries that were given up since
	Told   bool      `json:"told"`           // administrators have been told
	At     time.Time `json:"at,omitzero"`    // when they were told last

	// Missed is what a mailbox did not get, by whatever way it was given up.
	Missed *notice.Undelivered `json:"missed,omitempty"`
}

// recordKey is the setting in which the record of a destination is kept.
func recordKey(id string) string { return "destination " + id }

// way is a way by which people and services are told: a destination of the settings,
// the mail server, or the mailbox of one person.
type way struct {
	id, name  string
	heartbeat bool // nobody is told by it: it is an address that waits for signs of life
}

// waysOf returns the ways that a row of the outbox goes, the widest first. What a
// step sends by HTTP, or has done by a command, is not a way of telling people.
func (e *decider) waysOf(row *store.OutboxRow) []way {
	if id, is := outbox.DestinationOf(row.Lane); is {
		name := "a destination that the settings do not have any more"
		if i := slices.IndexFunc(e.channels.Destinations, func(d notice.Destination) bool { return d.ID == id }); i >= 0 {
			name = e.channels.Destinations[i].Name
		}
		return []way{{id: id, name: name}}
	}
	if w, is := wayOfHeartbeat(row); is {
		return []way{w}
	}
	if row.Lane != outbox.MailLane {
		return nil
	}
	ways := []way{{id: notice.MailServer, name: "the mail server"}}
	var r machine.Request
	if row.Step == 0 && json.Unmarshal(row.Request, &r) == nil && r.Mail != nil && len(r.Mail.To) == 1 {
		ways = append(ways, e.mailbox(r.Mail.To[0]))
	}
	return ways
}

// mailbox returns the way to the mailbox with that address, named after the users who
// have it.
func (e *decider) mailbox(address string) way {
	name := "the mailbox " + address
	if users := e.accounts.Table().UsersOf(address); len(users) > 0 {
		name += " of " + strings.Join(users, ", ")
	}
	return way{id: notice.Mailbox(address), name: name}
}

// AddressChanged implements account.Ties.
func (e ties) AddressChanged(tx store.Tx, req change.Request, address string) error {
	w := way{id: notice.Mailbox(address), name: "the mailbox " + address}
	record, err := readRecord(tx, w)
	if err != nil || record == nil {
		return err
	}
	if err := tx.Write().Settings().Put(recordKey(w.id), ""); err != nil || !record.Told {
		return err
	}
	d := &decider{e.base}
	return d.tellOfWay(tx, w, wayNews{destinationRecord: record, kind: notice.KindMended, end: notice.EndPassed, by: req.By.ID, now: req.Now})
}

// noteAttempt notes what became of an attempt to tell somebody; failure is nil if it
// got through.
func (e *decider) noteAttempt(tx store.Tx, row *store.OutboxRow, failure error, now time.Time) error {
	if failure == nil {
		return e.noteSuccess(tx, row, now)
	}
	return e.noteFailure(tx, row, failure, now)
}

// noteFailure notes that an attempt has failed. What has failed for good concerns
// the narrowest way alone: a mailbox that does not exist says nothing of the mail
// server. Administrators are told, and again once a day as long as notices are refused,
// until the way works again.
func (e *decider) noteFailure(tx store.Tx, row *store.OutboxRow, failure error, now time.Time) error {
	ways := e.waysOf(row)
	if len(ways) == 0 {
		return nil
	}
	final, given := errors.AsType[*outbox.Final](failure)
	given = given || row.Attempts >= outbox.MostAttempts
	w := ways[0]
	if w.heartbeat {
		var err error
		if given, err = isGivenUp(row, failure); err != nil {
			return err
		}
	}
	if final != nil {
		if w = ways[len(ways)-1]; row.Step != 0 {
			return nil // of what a step has sent its case tells
		}
		if address := notice.AddressOf(w.id); address != "" && len(e.accounts.Table().UsersOf(address)) == 0 {
			if waited, err := e.accounts.CodeFailed(tx, address, failure.Error()); waited || err != nil {
				return err // it is nobody's yet, and who asked for it is told in me.json
			}
		}
	}
	record, err := readRecord(tx, w)
	if err != nil {
		return err
	}
	if record == nil {
		record = &destinationRecord{Since: now}
		if row.Created.Before(now) && row.Attempts > 1 {
			record.Since = row.Created
		}
	}
	record.Name, record.Reason = w.name, failure.Error()
	if given {
		record.Lost++
	}
	again := record.Told && now.Sub(record.At) >= toldAgainAfter
	if again || !record.Told && (given || nextAttempt(row, now).Sub(record.Since) >= toldAfter) {
		if err := e.tellOfWay(tx, w, wayNews{destinationRecord: record, kind: notice.KindFailure, again: again, now: now}); err != nil {
			return err
		}
		record.Told, record.At = true, now
	}
	if box := ways[len(ways)-1]; given && box.id != w.id {
		if err := putRecord(tx, w, record); err != nil {
			return err
		}
		if w, record, err = ofBox(tx, box, row); err != nil {
			return err
		}
	}
	if given {
		if err := record.miss(row); err != nil {
			return err
		}
	}
	return putRecord(tx, w, record)
}

func putRecord(tx store.Tx, w way, record *destinationRecord) error {
	return tx.Write().Settings().Put(recordKey(w.id), string(document.Line(record)))
}

// ofBox returns the record of a mailbox that does not get a mail.
func ofBox(tx store.Tx, box way, row *store.OutboxRow) (way, *destinationRecord, error) {
	record, err := readRecord(tx, box)
	if record == nil {
		record = &destinationRecord{Since: row.Created}
	}
	return box, record, err
}

// miss notes that a notice was given up which was for one person.
func (d *destinationRecord) miss(row *store.OutboxRow) error {
	var r machine.Request
	if row.Step != 0 || row.Lane != outbox.MailLane {
		return nil
	}
	if err := json.Unmarshal(row.Request, &r); err != nil || r.Mail == nil {
		return errs.Wrap("read a mail that was given up", err)
	}
	if d.Missed == nil {
		d.Missed = new(notice.Undelivered)
	}
	d.Missed.Add(r.Mail.Subject, row.Created)
	return nil
}

// tellMissed tells the users who have a mailbox that works again what they did not get.
func (e *deeds) tellMissed(address string, missed *notice.Undelivered, now time.Time) error {
	for _, name := range e.accounts.Table().UsersOf(address) {
		if p := e.accounts.Table().ByName(identity.User, name); p != nil && !p.Disabled {
			to := &notice.Person{Name: p.Name, Email: address, Zone: e.zoneOfParty(p.ID)}
			return e.postLoose(e.tx, now).send(&machine.Request{Mail: missed.Letter(to, e.links)})
		}
	}
	return nil // nobody has it any more
}

// nextAttempt returns when a delivery of which an attempt has failed is tried again, now
// if it is not: a way that fails for longer than toldAfter is known before that is over.
func nextAttempt(row *store.OutboxRow, now time.Time) time.Time {
	if row.Due.After(now) {
		return row.Due
	}
	return now
}

// noteSuccess notes that a delivery has got through.
func (e *decider) noteSuccess(tx store.Tx, row *store.OutboxRow, now time.Time) error {
	for _, w := range e.waysOf(row) {
		record, err := readRecord(tx, w)
		if err != nil {
			return err
		}
		if record == nil {
			continue
		}
		if record.Told {
			if err := e.tellOfWay(tx, w, wayNews{destinationRecord: record, kind: notice.KindMended, now: now}); err != nil {
				return err
			}
		}
		if err := tx.Write().Settings().Put(recordKey(w.id), ""); err != nil {
			return err
		}
		if record.Missed != nil {
			if err := (&deeds{e, tx}).tellMissed(notice.AddressOf(w.id), record.Missed, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRecord returns what is kept of a way, nil if it works.
func readRecord(r store.Reader, w way) (*destinationRecord, error) {
	text, err := r.Settings().Get(recordKey(w.id))
	if err != nil || text == "" {
		return nil, err
	}
	record := new(destinationRecord)
	return record, errs.Wrap("read what is kept of "+w.name, json.Unmarshal([]byte(text), record))
}

// wayNews is what administrators are told of a way.
type wayNews struct {
	*destinationRecord

	kind  notice.Kind
	again bool       // they have been told of it before, and it still fails
	end   notice.End // how it is over
	by    identity.ID
	now   time.Time
}

// tellOfWay tells administrators, by the other ways, that one fails, works again or is
// not used any more. The log has it in any case.
func (e *decider) tellOfWay(tx store.Tx, w way, news wayNews) error {
	tx.AfterCommit(func() {
		switch {
		case news.end == notice.EndPassed:
			e.log.Info().Str("destination", w.name).Time("since", news.Since).Int64("lost", news.Lost).Msg("notices: a destination that failed is not used any more")
		case news.kind == notice.KindMended:
			e.log.Info().Str("destination", w.name).Time("since", news.Since).Int64("lost", news.Lost).Msg("notices: a destination works again")
		default:
			told := "administrators are told by the others"
			if e.channels.untold(e.accounts.Table()) != "" {
				told = "no administrator is told of it"
			}
			e.log.Error().Str("destination", w.name).Time("since", news.Since).Str("reason", news.Reason).Msg("notices: a destination fails; " + told)
		}
	})
	c := &concerned{decider: e, table: e.accounts.Table()}
	c.admins(0, true)
	n := &notice.Notice{
		Kind: news.kind, Time: news.now, Way: &notice.Way{ID: w.id, Name: w.name, Lost: news.Lost, Heartbeat: w.heartbeat}, People: c.people,
		Trouble: &notice.Trouble{Text: news.Reason, Since: news.Since, Again: news.again, Over: news.end},
	}
	if p := c.table.ByID(news.by); p != nil {
		n.Trouble.By = string(p.Name)
		n.People = slices.DeleteFunc(n.People, func(to notice.Person) bool { return to.Name == p.Name })
	}
	return e.tell(tx, n, e.postLoose(tx, news.now))
}
