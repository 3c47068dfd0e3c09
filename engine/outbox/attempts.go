package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"flowdrive/store"
)

// Bounds on the attempts that are made at the same time.
const (
	mostAtOnce = 16 // commands, which may run for hours, and as many others
	mostInLane = 4
	// longestDrain is how long a server that stops waits for what is under way.
	longestDrain = 6 * time.Second
)

// Attempts are the deliveries that are being tried. Each runs in its own
// goroutine, so that neither the writer nor the sweeper waits. The zero value has
// no room until Open is called. It is safe for concurrent use.
type Attempts struct {
	mu      sync.Mutex
	ctx     context.Context    //nolint:containedctx // of the attempts, which outlive the request or sweep that found them due
	running map[string]attempt // by key
	lanes   map[string]int     // how many of each
	crowded bool               // something due was left for want of room
	all     sync.WaitGroup
}

// attempt is one that is under way.
type attempt struct {
	command bool
	caseID  int64
	cancel  context.CancelFunc
}

// Cut is what was cut off when the server stopped.
type Cut struct {
	Deliveries int
	Commands   int     // of these
	Cases      []int64 // of the commands, in order
}

// errStopped is why an attempt is canceled when the server stops.
var errStopped = errors.New("the server stops")

// Open lets attempts be made. The function that it returns lets no more begin,
// waits some seconds for those that are under way, and then cancels them. It
// returns what it has canceled.
func (d *Attempts) Open() (drain func() Cut) {
	ctx, cancel := context.WithCancelCause(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx, d.running, d.lanes = ctx, map[string]attempt{}, map[string]int{}
	return func() Cut {
		defer cancel(errStopped)
		d.mu.Lock()
		d.ctx = nil // none begins any more
		d.mu.Unlock()
		canceled := make(chan Cut, 1)
		timer := time.AfterFunc(longestDrain, func() {
			d.mu.Lock()
			canceled <- d.underWay()
			d.mu.Unlock()
			cancel(errStopped)
		})
		d.all.Wait()
		if timer.Stop() {
			return Cut{}
		}
		return <-canceled
	}
}

// underWay returns what is being tried. The lock must be held.
func (d *Attempts) underWay() Cut {
	cut := Cut{Deliveries: len(d.running)}
	for _, a := range d.running {
		if a.command {
			cut.Commands++
			cut.Cases = append(cut.Cases, a.caseID)
		}
	}
	slices.Sort(cut.Cases)
	return cut
}

// Room returns how many more attempts a lane has room for, 0 or less for none.
func (d *Attempts) Room(lane string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return 0
	}
	same := 0
	for _, a := range d.running {
		if a.command == isCommand(lane) {
			same++
		}
	}
	room := min(mostInLane-d.lanes[lane], mostAtOnce-same)
	d.crowded = d.crowded || room <= 0
	return room
}

// Start runs f as the attempt to deliver a row, unless one is under way. f must
// call End.
func (d *Attempts) Start(row *store.OutboxRow, f func(context.Context)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, runs := d.running[row.Key]; d.ctx == nil || runs {
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	d.running[row.Key] = attempt{isCommand(row.Lane), row.CaseID, cancel}
	d.lanes[row.Lane]++
	d.all.Go(func() {
		defer cancel()
		f(ctx)
	})
}

// Cancel ends the attempt to deliver the row with that key, if one is under way.
func (d *Attempts) Cancel(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a, runs := d.running[key]; runs {
		a.cancel()
	}
}

// End ends the attempt to deliver a row, and reports whether something waited
// for its room.
func (d *Attempts) End(row *store.OutboxRow) (crowded bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, row.Key)
	if d.lanes[row.Lane]--; d.lanes[row.Lane] == 0 {
		delete(d.lanes, row.Lane)
	}
	crowded, d.crowded = d.crowded, false
	return crowded
}

// Running reports whether the row with that key is being delivered.
func (d *Attempts) Running(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, runs := d.running[key]
	return runs
}
