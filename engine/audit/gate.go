package audit

import (
	"fmt"
	"sync"
	"time"
)

// The limits for rows that outsiders can cause without changing anything. An
// attacker must be seen, but must not fill the disk.
const (
	mostAlike   = 10  // a minute
	mostAMinute = 600 // of all kinds
)

// Gate limits how many rows are written about attempts. Further ones are
// counted, and one row tells their number.
type Gate struct {
	now func() time.Time // the machine's, in a sandbox too: it bounds what is written

	mu     sync.Mutex
	since  time.Time     // when the present minute began
	rows   int           // admitted in it
	alike  map[alike]int // the same, by what makes them alike
	missed int           // not written since a row said so
	last   time.Time     // of the row that came last
}

// alike is what makes rows alike.
type alike struct {
	actor, address string
	action         Action
}

// NewGate returns a gate that counts by the minutes of the clock now.
func NewGate(now func() time.Time) *Gate { return &Gate{now: now, alike: map[alike]int{}} }

// Admit returns the rows to write when the row r comes: none if there were too
// many in this minute. A further row tells how many were not written before.
func (g *Gate) Admit(r *Row) []*Row {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*Row
	if now := g.now(); now.Sub(g.since) >= time.Minute || now.Before(g.since) {
		if missed := g.takeMissed(r.Time); missed != nil {
			out = append(out, missed)
		}
		g.since, g.rows = now, 0
		clear(g.alike)
	}
	g.last = r.Time
	key := alike{r.Actor, r.Address, r.Action}
	if g.rows >= mostAMinute || g.alike[key] >= mostAlike {
		g.missed++
		return out
	}
	g.alike[key]++
	g.rows++
	return append(out, r)
}

// Miss counts a row that could not be written after all.
func (g *Gate) Miss(r *Row) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed += max(r.missed, 1)
	g.last = r.Time
}

// Missed returns the row that says how many were not written and have not been
// spoken of, nil for none.
func (g *Gate) Missed() *Row {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.takeMissed(g.last)
}

func (g *Gate) takeMissed(at time.Time) *Row {
	if g.missed == 0 {
		return nil
	}
	row := &Row{
		Time: at, Action: Lost, Outcome: Done,
		Detail: fmt.Sprintf("%d rows were not written: too many came at once", g.missed), missed: g.missed,
	}
	g.missed = 0
	return row
}
