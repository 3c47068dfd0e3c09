package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Bounds on what is being done outside at the same time.
const (
	mostFlights = 16
	mostInLane  = 4

	// leaseOfFlight is for how long an attempt is waited for before it counts
	// as lost, as when the machine has lost power. One that takes longer has its
	// lease renewed.
	leaseOfFlight = 2 * time.Minute
	// longestDrain is how long a server that stops waits for what is under way.
	longestDrain = 10 * time.Second
)

// dispatcher delivers what is due in the outbox. When the sweeper finds
// something due, the dispatcher leases as much as it has room for. Each attempt
// runs in its own goroutine, so that neither the writer nor the sweeper waits.
type dispatcher struct {
	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // of the attempts, which outlive the request or sweep that found them due
	flying  map[string]bool // by key
	lanes   map[string]int  // how many of each
	crowded bool            // something due was left for want of room
	all     sync.WaitGroup
}

// begin lets attempts be made until the function that it returns has drained
// them.
func (d *dispatcher) begin() (drain func()) {
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx, d.flying, d.lanes = ctx, map[string]bool{}, map[string]int{}
	return func() {
		defer cancel()
		d.mu.Lock()
		d.ctx = nil // none begins any more
		d.mu.Unlock()
		timer := time.AfterFunc(longestDrain, cancel)
		defer timer.Stop()
		d.all.Wait()
	}
}

// openOutbox starts the deliveries. Those that were under way when the server
// ended come first: deliveries are made at least once, and a repeated attempt
// has the same key.
func (e *outbox) openOutbox(ctx context.Context) (drain func()) {
	drain = e.dispatcher.begin()
	if e.sweeper.outbox.Load() == never {
		return drain // nothing is in it
	}
	now := e.Clock.Now()
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		tx.AfterCommit(func() { e.sweeper.noteOutbox(now) })
		return tx.Write().Outbox().Release(now)
	})
	if err != nil && ctx.Err() == nil {
		e.log.Error().Err(err).Msg("outbox: could not release the deliveries left over from the last run; they are repeated when their time is over")
	}
	return drain
}

// room returns how many more attempts a lane has room for.
func (d *dispatcher) room(lane string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return 0
	}
	room := min(mostInLane-d.lanes[lane], mostFlights-len(d.flying))
	d.crowded = d.crowded || room <= 0
	return room
}

// takeOff begins a flight; f is run with the context of all.
func (d *dispatcher) takeOff(row *store.OutboxRow, f func(context.Context)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil || d.flying[row.Key] {
		return
	}
	ctx := d.ctx
	d.flying[row.Key] = true
	d.lanes[row.Lane]++
	d.all.Go(func() { f(ctx) })
}

// land ends a flight, and reports whether something waited for its room.
func (d *dispatcher) land(row *store.OutboxRow) (crowded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.flying, row.Key)
	if d.lanes[row.Lane]--; d.lanes[row.Lane] == 0 {
		delete(d.lanes, row.Lane)
	}
	crowded, d.crowded = d.crowded, false
	return crowded
}

func (d *dispatcher) flies(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.flying[key]
}

// dispatch has done what is due in the outbox, as far as there is room, and
// finds out when something is due next. The sweeper's lock must be held.
func (e *outbox) dispatch(ctx context.Context, now time.Time) (err error) {
	e.sweeper.outbox.Store(never) // commits and landings from here on lower it again
	defer func() {
		if err != nil {
			e.sweeper.lowerOutbox(now) // try again, but not at once
		}
	}()
	rows, err := e.dueOutbox(ctx, now)
	if err != nil {
		return err
	}
	if e.sandbox {
		err = e.record(ctx, rows, now)
	} else {
		err = e.send(ctx, rows, now)
	}
	if err != nil {
		return err
	}
	next, err := e.nextOutbox(ctx)
	if err != nil {
		return err
	}
	e.sweeper.noteOutbox(next)
	return nil
}

// roomIn returns how many rows of a lane may be taken now.
func (e *outbox) roomIn(lane string) int {
	if e.sandbox {
		return batch
	}
	return e.dispatcher.room(lane)
}

// dueOutbox returns what is due, as many of each lane as there is room for.
func (e *outbox) dueOutbox(ctx context.Context, now time.Time) (rows []store.OutboxRow, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		lanes, err := r.Outbox().Lanes()
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			room := e.roomIn(lane.Name)
			if lane.Due.After(now) || room <= 0 {
				continue
			}
			due, err := r.Outbox().Due(lane.Name, now, room)
			if err != nil {
				return err
			}
			rows = append(rows, due...)
		}
		return nil
	})
	return rows, err
}

// nextOutbox returns when something is due next in a lane that has room, zero
// for never: of the others a landing tells.
func (e *outbox) nextOutbox(ctx context.Context) (next time.Time, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		lanes, err := r.Outbox().Lanes()
		for _, lane := range lanes {
			if e.roomIn(lane.Name) > 0 && (next.IsZero() || lane.Due.Before(next)) {
				next = lane.Due
			}
		}
		return err
	})
	return next, err
}

// send leases the rows and begins an attempt of each. One that is under way
// still has its lease renewed.
func (e *outbox) send(ctx context.Context, rows []store.OutboxRow, now time.Time) error {
	units := make([]func(store.Tx) error, len(rows))
	leased := make([]bool, len(rows))
	for i := range rows {
		row := &rows[i]
		renews := e.dispatcher.flies(row.Key)
		units[i] = func(tx store.Tx) error {
			if !renews {
				row.Attempts++
			}
			held, err := tx.Write().Outbox().Lease(row, now.Add(leaseOfFlight))
			leased[i] = held && !renews
			return err
		}
	}
	for i, err := range store.InParts(ctx, e.Store, units) {
		if err != nil {
			return err
		}
		if leased[i] {
			row := rows[i]
			e.dispatcher.takeOff(&row, func(ctx context.Context) { e.fly(ctx, &row) })
		}
	}
	return nil
}

// fly makes one attempt.
func (e *outbox) fly(ctx context.Context, row *store.OutboxRow) {
	defer func() {
		if e.dispatcher.land(row) {
			e.sweeper.noteOutbox(e.Clock.Now())
		}
	}()
	reply, failure := e.deliver(ctx, row)
	if failure != nil && ctx.Err() != nil {
		return // the server stops; the next start tries again
	}
	// The end of a delivery must be recorded even if the server is being
	// stopped.
	ctx = context.WithoutCancel(ctx)
	err := e.landed(ctx, row, reply, failure)
	if err == nil || unserved(err) {
		return // unserved: its lease brings it back
	}
	e.log.Error().Err(err).Str("key", row.Key).Int64("case", row.CaseID).Msg("outbox: could not pass an answer to its case; it is not tried again")
	if err := e.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Outbox().Put(row.Key, time.Time{}, row.Attempts) }); err != nil {
		e.log.Error().Err(err).Str("key", row.Key).Msg("outbox: could not record the end of a delivery; it may be repeated")
	}
}

// deliver does what a row asks for.
func (e *outbox) deliver(ctx context.Context, row *store.OutboxRow) (reply *Reply, err error) {
	var request machine.Request
	if err := json.Unmarshal(row.Request, &request); err != nil {
		return nil, &Final{"the request cannot be read: " + err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, longestFlight(&request))
	defer cancel()
	if call := request.Call; call != nil {
		answer, err := e.callBack(ctx, call.Name, CallbackInput{Key: row.Key, Case: call.Case, Value: call.Value})
		if err != nil {
			return nil, err
		}
		return &Reply{MediaType: "application/json", Content: answer}, nil
	}
	defer func() {
		if trouble := recover(); trouble != nil {
			e.log.Error().Str("lane", row.Lane).Any("panic", trouble).Msg("outbox: a delivery panicked")
			err = errors.New("an internal error; the server's log has it")
		}
	}()
	refused := ""
	if m := request.Mail; m != nil {
		if refused = e.withoutStrangers(m); len(m.To) == 0 {
			return nil, &Final{refused}
		}
	}
	reply, err = e.outside.Deliver(ctx, &Delivery{Key: row.Key, Attempt: int(row.Attempts), Mail: request.Mail, HTTP: request.HTTP, Exec: request.Exec})
	if err == nil && refused != "" {
		err = &Final{refused}
	}
	return reply, err
}

// longestFlight bounds an attempt. A command has limits of its own; this one is
// for what would never end.
func longestFlight(r *machine.Request) time.Duration {
	switch {
	case r.HTTP != nil:
		return 10 * time.Second
	case r.Exec != nil:
		return time.Hour
	}
	return 30 * time.Second
}

// record keeps what would be sent as messages of the cases: nothing leaves a
// sandbox (docs/contract/drive.md#8-sandbox-mode).
func (e *outbox) record(ctx context.Context, rows []store.OutboxRow, now time.Time) error {
	slices.SortFunc(rows, func(a, b store.OutboxRow) int { // as it was asked for, lanes aside
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	units := make([]func(store.Tx) error, len(rows))
	for i := range rows {
		row := &rows[i]
		units[i] = func(tx store.Tx) error {
			content, err := recordOf(row)
			if err != nil {
				return err
			}
			event := machine.Recorded{Seq: row.Seq, Step: row.Step, Content: content}
			c, err := e.heard(tx, row, event, now)
			if err != nil {
				return err
			}
			return e.putHeard(tx, row, event, c)
		}
	}
	for i, err := range store.InParts(ctx, e.Store, units) {
		err = e.runAhead(ctx, err, func() error { return e.Store.Update(ctx, units[i]) })
		if err == nil {
			continue
		}
		if ctx.Err() != nil || unserved(err) {
			return err
		}
		e.log.Error().Err(err).Str("key", rows[i].Key).Msg("outbox: could not record what would be sent; it stays in the outbox")
		if err := e.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Outbox().Put(rows[i].Key, time.Time{}, 0) }); err != nil {
			return err
		}
	}
	return nil
}

// recordOf describes a request as people read it.
func recordOf(row *store.OutboxRow) ([]byte, error) {
	var r machine.Request
	if err := json.Unmarshal(row.Request, &r); err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read the request %s", row.Key), err)
	}
	var form any
	switch {
	case r.Mail != nil:
		form = struct {
			Kind    string   `json:"kind"`
			To      []string `json:"to"`
			Subject string   `json:"subject"`
			Text    string   `json:"text"`
		}{"mail", r.Mail.To, r.Mail.Subject, r.Mail.Text}
	case r.HTTP != nil:
		if r.HTTP.Header == nil {
			r.HTTP.Header = map[string]string{}
		}
		form = struct {
			Kind      string            `json:"kind"`
			Method    string            `json:"method"`
			URL       string            `json:"url"`
			Header    map[string]string `json:"headers"`
			MediaType string            `json:"type,omitempty"`
			Body      any               `json:"body"`
			Secret    string            `json:"secret,omitempty"`
		}{"http", r.HTTP.Method, r.HTTP.URL, r.HTTP.Header, r.HTTP.MediaType, readable(r.HTTP.Body), r.HTTP.Secret}
	case r.Exec != nil:
		form = struct {
			Kind    string   `json:"kind"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
			Input   any      `json:"input"`
		}{"exec", r.Exec.Name, append([]string{}, r.Exec.Args...), readable(r.Exec.Input)}
	case r.Call != nil:
		form = struct {
			Kind  string `json:"kind"`
			Name  string `json:"name"`
			Value any    `json:"value"`
		}{"call", r.Call.Name, readable(r.Call.Value)}
	default:
		return nil, errs.New(errs.Internal, "The request %s asks for nothing.", row.Key)
	}
	content, err := json.Marshal(form)
	return content, errs.Wrap("record what would be sent", err)
}

// readable returns a content as JSON if it is JSON, else as a text, or null for
// an empty content.
func readable(content []byte) any {
	switch {
	case len(content) == 0:
		return nil
	case json.Valid(content):
		return json.RawMessage(content)
	}
	return string(content)
}
