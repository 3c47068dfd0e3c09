package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// diskTrouble is what is wrong with the disk as long as it cannot be stored there.
type diskTrouble struct {
	mu     sync.Mutex
	record *serverRecord // nil: nothing is wrong, or it is stored
	unsent []urgent

	changes int // so many times it has been another
}

// urgent is something that people or services are told without the outbox.
type urgent struct {
	key     string
	request *machine.Request
	held    *store.HeldMail // nil, or for when the person wants it
}

// get returns what is wrong and is not stored, nil for nothing.
func (d *diskTrouble) get() *serverRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.record == nil {
		return nil
	}
	return new(*d.record)
}

// waiting returns what people are still to be told of it.
func (d *diskTrouble) waiting() []urgent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.unsent)
}

func (d *diskTrouble) set(record *serverRecord, unsent []urgent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record, d.unsent = record, unsent
	d.changes++
}

// version is another one after each change.
func (d *diskTrouble) version() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// cannotStore reports whether an error says that nothing can be stored at the moment.
func cannotStore(err error) bool { return errs.Is(err, errs.Full) || errs.Is(err, errs.Unavailable) }

// serverRecord returns what is wrong with a part of the server, nil for nothing.
func (e *base) serverRecord(r store.Reader, part ServerPart) (*serverRecord, error) {
	if part == ServerDisk {
		if record := e.disk.get(); record != nil {
			return record, nil
		}
	}
	return readServerRecord(r, part)
}

// noteDisk is Note for the disk. On a full disk the outbox does not work: administrators
// are told without it, and what is known is kept in memory until there is room.
func (e *Server) noteDisk(ctx context.Context, text string) error {
	var record *serverRecord
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		record, err = e.serverRecord(r, ServerDisk)
		return err
	})
	switch {
	case err != nil:
		return err
	case text == "" && record == nil:
		return nil
	case text == "":
		err := e.Store.Update(ctx, func(tx store.Tx) error { return e.over(tx, ServerDisk, record) })
		if err == nil {
			e.disk.set(nil, nil)
		}
		return err
	case record != nil:
		record.Text = text
		return e.keepDisk(ctx, record, e.disk.waiting())
	}
	now := e.Clock.Now()
	record = &serverRecord{Since: now, Text: text, Again: againAt(now)}
	return e.tellOfDisk(ctx, record, false)
}

// againDisk tells people again of a disk that has been full for another day, and stores
// what could not be stored so far.
func (e *Server) againDisk(ctx context.Context) error {
	var record *serverRecord
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		record, err = e.serverRecord(r, ServerDisk)
		return err
	})
	if err != nil || record == nil {
		return err
	}
	if now := e.Clock.Now(); !record.Again.After(now) {
		record.nextDay(now)
		return e.tellOfDisk(ctx, record, true)
	}
	if e.disk.get() == nil {
		return nil
	}
	return e.keepDisk(ctx, record, e.sendNow(ctx, e.disk.waiting(), false))
}

// tellOfDisk tells administrators that something is wrong with the disk, and stores it
// if that can be.
func (e *Server) tellOfDisk(ctx context.Context, record *serverRecord, again bool) error {
	e.logTrouble(ServerDisk, record, notice.KindFailure)
	unsent := e.disk.waiting()
	if e.decider.canNotify() {
		told, err := e.urgently(e.troubleOf(ServerDisk, record, notice.KindFailure, again))
		if err != nil {
			return err
		}
		unsent = append(unsent, told...)
	}
	return e.keepDisk(ctx, record, e.sendNow(ctx, unsent, false))
}

// keepDisk stores what is wrong with the disk and puts into the outbox what people are
// still to be told of it. If nothing can be stored, that stays in memory, and mails that
// were to wait for an hour of the person's go now: what waits in memory is easily lost.
func (e *Server) keepDisk(ctx context.Context, record *serverRecord, unsent []urgent) error {
	now := e.Clock.Now()
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		for i := range unsent {
			if err := e.storeUrgent(tx, &unsent[i], now); err != nil {
				return err
			}
		}
		return putServerRecord(tx, ServerDisk, record)
	})
	if err == nil {
		e.disk.set(nil, nil)
		return nil
	}
	if !cannotStore(err) {
		return err
	}
	e.disk.set(record, e.sendNow(ctx, unsent, true))
	return nil
}

func (e *Server) storeUrgent(tx store.Tx, u *urgent, now time.Time) error {
	if u.held != nil {
		return e.sweeper.hold(tx, u.held)
	}
	return e.decider.postRequest(tx, &store.OutboxRow{Key: u.key, Due: now, Created: now}, u.request)
}

// urgently returns what people and services are told by a notice.
func (e *Server) urgently(n *notice.Notice) (all []urgent, err error) {
	err = e.decider.tell(nil, n, poster{
		send: func(r *machine.Request) error {
			all = append(all, urgent{key: store.NewUUID().String(), request: r})
			return nil
		},
		hold: func(h *store.HeldMail, m *machine.Mail) error {
			all = append(all, urgent{key: store.NewUUID().String(), request: &machine.Request{Mail: m}, held: h})
			return nil
		},
	})
	return all, err
}

// sendNow makes an attempt for each of those that were to wait for an hour of the
// person's, if held, else for each of the others, all at once. It returns all that have
// not got through.
func (e *Server) sendNow(ctx context.Context, all []urgent, held bool) (unsent []urgent) {
	failed := make([]bool, len(all))
	var attempts sync.WaitGroup
	for i := range all {
		u := &all[i]
		if failed[i] = (u.held != nil) != held; failed[i] {
			continue
		}
		attempts.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, longestUrgent)
			defer cancel()
			_, err := e.reach.Outside.Deliver(ctx, &outbox.Delivery{Key: u.key, Attempt: 1, Mail: u.request.Mail, News: u.request.News})
			if failed[i] = err != nil; failed[i] {
				e.log.Warn().Err(err).Msg("server: somebody could not be told at once that nothing can be stored; it is tried again")
			}
		})
	}
	attempts.Wait()
	for i := range all {
		if failed[i] {
			unsent = append(unsent, all[i])
		}
	}
	return unsent
}

// longestUrgent bounds an attempt to tell somebody without the outbox.
const longestUrgent = 30 * time.Second
