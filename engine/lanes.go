package engine

import (
	"cmp"
	"slices"

	"flowdrive/store"
)

// queue is what the manager chooses from: the lines of cases that nothing but
// their turn keeps from starting. It reads ahead of each line as little as it
// needs, so that what is chosen next costs the same however many wait.
type queue struct {
	reader store.Reader
	lines  []*fairQueue
	turns  int
}

// fairQueue is a line of cases that takes turns with other lines: the cases of a
// route, or those of a group of any routes.
type fairQueue struct {
	first      store.Lane // tells it from others
	lanes      []laneCursor
	lastServed int  // when one of it was chosen last
	busy       bool // a case of the group keeps all of it from starting
}

// laneCursor is a lane as far as it was read.
type laneCursor struct {
	lane    store.Lane
	blocked func(id int64) bool
	cases   []store.QueuedCase // those not chosen yet
	taken   int                // those that were
	limit   int                // how many cases are read
	whole   bool               // all have been read
}

// newQueue finds the lines from which something can be started.
func (e *decider) newQueue(r store.Reader) (*queue, error) {
	lanes, err := r.Queue().Lanes()
	if err != nil || len(lanes) == 0 {
		return &queue{reader: r}, err
	}
	holds, err := r.Queue().Holds()
	if err != nil {
		return nil, err
	}
	q := &queue{reader: r}
	var last *fairQueue
	for _, lane := range lanes {
		if coveredByHold(holds, e.rights.RouteName(lane.RouteID), lane.Group) {
			continue
		}
		if lane.Group == "" || last == nil || last.first.Group != lane.Group {
			if last, err = newLine(r, lane); err != nil {
				return nil, err
			}
			last.busy = last.busy || e.sweeper.aside.holds(lane.Group)
			if !last.busy {
				q.lines = append(q.lines, last)
			}
		}
		last.lanes = append(last.lanes, laneCursor{lane: lane, blocked: e.sweeper.passesOver})
	}
	return q, nil
}

func newLine(r store.Reader, first store.Lane) (l *fairQueue, err error) {
	l = &fairQueue{first: first}
	if first.Group != "" {
		l.busy, err = r.Queue().GroupBusy(first.Group, nil)
	}
	return l, err
}

// startWith puts the lines into the order of turns: whose turn was last comes
// last.
func (q *queue) startWith(last store.Lane) {
	at, found := slices.BinarySearchFunc(q.lines, last, func(l *fairQueue, last store.Lane) int {
		return cmp.Or(cmp.Compare(l.first.Group, last.Group), cmp.Compare(l.first.RouteID, last.RouteID))
	})
	if found {
		at++
	}
	q.lines = slices.Concat(q.lines[at:], q.lines[:at])
}

// next takes the case to start next: the one of the highest priority. If
// several lines have one of that priority, it comes from the line whose turn it
// is. next returns that line too, and nil if there is no case.
func (q *queue) next() (c store.QueuedCase, from *fairQueue, err error) {
	var best *laneCursor
	for _, l := range q.lines {
		head, err := l.head(q)
		if err != nil {
			return c, nil, err
		}
		if head == nil {
			continue
		}
		if p := head.cases[0].Priority; from == nil || p > c.Priority || p == c.Priority && l.lastServed < from.lastServed {
			c, from, best = head.cases[0], l, head
		}
	}
	if from != nil {
		best.cases, best.taken = best.cases[1:], best.taken+1
		q.turns++
		from.lastServed = q.turns
	}
	return c, from, nil
}

// head returns the lane of the line that has its next case, nil for none.
func (l *fairQueue) head(q *queue) (head *laneCursor, err error) {
	for i := range l.lanes {
		a := &l.lanes[i]
		if err := a.read(q); err != nil {
			return nil, err
		}
		if len(a.cases) > 0 && (head == nil || startsBefore(a.cases[0], head.cases[0])) {
			head = a
		}
	}
	return head, nil
}

func startsBefore(c store.QueuedCase, other store.QueuedCase) bool {
	return c.Priority > other.Priority || c.Priority == other.Priority && c.ID < other.ID
}

// read makes sure that the next case of the lane is known. Those that are
// stuck are passed over.
func (a *laneCursor) read(q *queue) error {
	const atLeast = 2
	for len(a.cases) == 0 && !a.whole {
		a.limit = max(4*a.limit, atLeast, batch/len(q.lines))
		all, err := q.reader.Queue().QueuedCases(a.lane, a.limit)
		if err != nil {
			return err
		}
		a.whole = len(all) < a.limit
		all = slices.DeleteFunc(all, func(c store.QueuedCase) bool { return a.blocked(c.ID) })
		a.cases = all[min(a.taken, len(all)):]
	}
	return nil
}
