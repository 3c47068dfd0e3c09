package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// step is an operation of a history: what one client asked of one document or case.
type step struct {
	key   string // its address
	kind  string // read, write, swap, create, delete, perform
	value string // to be there afterwards
	was   string // that must be there before, of swap and perform
}

// became is what the client was told.
type became struct {
	unknown bool   // nothing: the server was killed, or the connection was cut
	refused bool   // it was not as the client had asked for
	value   string // of a read, "" for nothing there
}

// driveModel says what a document and the status of a case may do: one operation after
// the other. Of an operation whose end nobody has seen everything is allowed; it takes
// effect at any time after its beginning, or after all others.
func driveModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
			place := map[string]int{}
			for _, op := range history {
				key := op.Input.(step).key //nolint:errcheck // the tests put nothing else in
				i, known := place[key]
				if !known {
					i = len(parts)
					place[key] = i
					parts = append(parts, nil)
				}
				parts[i] = append(parts[i], op)
			}
			return parts
		},
		Step: func(state, input, output any) (bool, any) {
			s, out, is := input.(step), output.(became), state.(string) //nolint:errcheck // likewise
			fits := true
			switch s.kind {
			case "read":
				return out.unknown || out.value == is, is
			case "swap", "perform":
				fits = is == s.was
			case "create":
				fits = is == ""
			case "delete":
				fits = is != ""
			}
			if !fits {
				return out.unknown || out.refused, is
			}
			return !out.refused, s.value
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	}
}

// TestModelOfHistories: the model refuses histories that cannot be.
func TestModelOfHistories(t *testing.T) {
	t.Parallel()
	op := func(call, end int64, s step, out became) porcupine.Operation {
		return porcupine.Operation{Input: s, Output: out, Call: call, Return: end}
	}
	write := op(1, 2, step{kind: "write", value: "x"}, became{})
	lost := op(3, 4, step{kind: "read"}, became{})
	read := op(3, 4, step{kind: "read"}, became{value: "x"})
	maybe := op(1, math.MaxInt64, step{kind: "write", value: "x"}, became{unknown: true})
	for name, test := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"read what was written":       {[]porcupine.Operation{write, read}, true},
		"an acknowledged write lost":  {[]porcupine.Operation{write, lost}, false},
		"an unknown write seen":       {[]porcupine.Operation{maybe, read}, true},
		"an unknown write not seen":   {[]porcupine.Operation{maybe, lost}, true},
		"a write that nobody made":    {[]porcupine.Operation{read}, false},
		"two swaps of one value":      {[]porcupine.Operation{write, op(3, 6, step{kind: "swap", was: "x", value: "a"}, became{}), op(3, 6, step{kind: "swap", was: "x", value: "b"}, became{})}, false},
		"a swap refused with a cause": {[]porcupine.Operation{write, op(3, 6, step{kind: "swap", was: "x", value: "a"}, became{}), op(3, 6, step{kind: "swap", was: "x", value: "b"}, became{refused: true})}, true},
		"a swap refused without one":  {[]porcupine.Operation{write, op(3, 4, step{kind: "swap", was: "x", value: "a"}, became{refused: true})}, false},
	} {
		if got := porcupine.CheckOperations(driveModel(), test.history); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// flipRoute is a route whose cases go to and fro between two states.
const flipRoute = `{"states": {"a": {"type": "start"}, "b": {}, "end": {"type": "complete"}}, "actions": {"i": {"trigger": "init"},
	"there": {"in": ["a"], "allowed": "everyone", "to": "b"}, "back": {"in": ["b"], "allowed": "everyone", "to": "a"},
	"end": {"in": ["a"], "allowed": "everyone", "to": "end"}}}`

// historian makes operations of several clients and writes down what became of them.
type historian struct {
	p       *program
	several bool // p is one of several nodes, which may have no active one for a while
	moment  *atomic.Int64
	mu      sync.Mutex
	history []porcupine.Operation
}

// operator is one of those who ask at the same time.
type operator struct {
	*historian
	id     int
	random *rand.Rand
	tags   map[string][2]string // the value and entity tag that it saw last, by address
}

// act makes one operation on a document or a case. An answer that is no answer to it is
// returned as an error.
func (c *operator) act(ctx context.Context, key string, isCase bool) error {
	s := step{key: key, value: fmt.Sprintf("%d-%d", c.id, c.random.Uint64())}
	seen := c.tags[key]
	method, path, body, headers := http.MethodPut, key, s.value, []string(nil)
	switch n := c.random.IntN(10); {
	case isCase && n < 6:
		s.kind, s.was, s.value = "perform", "a", "b"
		action := "there"
		if n < 3 {
			s.was, s.value, action = "b", "a", "back"
		}
		path, body = key[:len(key)-len(".json")]+"/Actions/"+action+".json", `{}`
	case isCase || n < 3:
		s.kind, s.value, method, body = "read", "", http.MethodGet, ""
	case n < 4:
		s.kind = "write"
	case n < 5: // as editors save
		part := fmt.Sprintf("%s.%d.part", key, c.id)
		if a, err := c.p.do(ctx, http.MethodPut, part, s.value); err != nil || a.status >= 300 {
			return nil // nothing has happened to the document
		}
		s.kind, method, path, body, headers = "write", "MOVE", part, "", []string{"Destination", c.p.base + key}
	case n < 8 && seen[1] != "":
		s.kind, s.was, headers = "swap", seen[0], []string{"If-Match", seen[1]}
	case n < 9:
		s.kind, headers = "create", []string{"If-None-Match", "*"}
	default:
		s.kind, s.value, method, body = "delete", "", http.MethodDelete, ""
	}
	if c.random.IntN(20) == 0 { // a connection that is cut
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.random.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	op := porcupine.Operation{ClientId: c.id, Input: s, Call: c.moment.Add(1)}
	a, err := c.p.do(ctx, method, path, body, headers...)
	op.Return = c.moment.Add(1)
	out := became{}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), err != nil && s.kind == "read":
		return nil // nobody was asked, or nobody knows more than before
	case err != nil:
		out.unknown, op.Return = true, math.MaxInt64
	case s.kind == "read" && a.status == http.StatusOK && isCase:
		var form struct{ Status string }
		if err := json.Unmarshal(a.body, &form); err != nil {
			return err
		}
		out.value = form.Status
	case s.kind == "read" && a.status == http.StatusOK:
		out.value = string(a.body)
		c.tags[key] = [2]string{out.value, a.header.Get("ETag")}
	case s.kind == "read" && a.status == http.StatusNotFound:
	case a.status == http.StatusPreconditionFailed, a.status == http.StatusNotFound && s.kind == "delete",
		s.kind == "perform" && (a.status == http.StatusConflict || a.status == http.StatusNotFound || a.status == http.StatusUnprocessableEntity):
		out.refused = true
	case a.status == http.StatusServiceUnavailable && c.several:
		if s.kind == "read" || bytes.Contains(a.body, []byte("Nothing was stored")) {
			return nil
		}
		out.unknown, op.Return = true, math.MaxInt64
	case a.status >= 300:
		return fmt.Errorf("%s %s: %v", method, path, a)
	}
	op.Output = out
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, op)
	return nil
}

// TestHistoriesAreLinearizable: whatever clients do at the same time with documents and
// cases, with connections that are cut and a server that is killed on the way, there is
// an order in which each had the answer that it got.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := t.TempDir()
	p := startProgram(t, data)
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Routes/flip.json", flipRoute)
	const clients, each, documents, cases = 8, 40, 4, 2
	checked := 0
	rounds(10, 12*time.Second, func(round int) {
		h := &historian{p: p, moment: &atomic.Int64{}}
		var keys []string
		for i := range documents {
			keys = append(keys, fmt.Sprintf("/dav/Documents/admin/h%d-%d.txt", round, i))
		}
		for range cases {
			made := p.must(t, http.StatusCreated, http.MethodPut, casesFolder+"new.json", `{"route": "flip"}`)
			key := made.header.Get("Location")
			keys = append(keys, key)
			h.history = append(h.history, porcupine.Operation{Input: step{key: key, kind: "write", value: "a"}, Output: became{}, Call: h.moment.Add(1), Return: h.moment.Add(1)})
		}
		all := make([]*operator, clients)
		for i := range all {
			all[i] = &operator{historian: h, id: i, random: rand.New(rand.NewPCG(random.Uint64(), uint64(i))), tags: map[string][2]string{}}
		}
		for _, killed := range []bool{true, false} {
			h.p = p
			h.load(t, all, keys, documents, each, killed, random.IntN(clients*each))
			if killed {
				<-p.dead
				p = startProgram(t, data)
				mustBeSound(t, data)
			}
		}
		checked += h.judge(t, round)
	})
	t.Logf("%d operations are linearizable", checked)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// judge looks whether there is an order of the operations, and returns how many it has
// judged.
func (h *historian) judge(t *testing.T, round int) int {
	t.Helper()
	switch result, _ := porcupine.CheckOperationsVerbose(driveModel(), h.history, 20*time.Second); result {
	case porcupine.Illegal:
		t.Errorf("round %d: there is no order for these %d operations: %+v", round, len(h.history), h.history)
	case porcupine.Unknown:
		t.Logf("round %d: %d operations could not be judged within the time", round, len(h.history))
	case porcupine.Ok:
		return len(h.history)
	}
	return 0
}

// load lets all clients act. If the server is to be killed that is done after so many
// operations, and nobody is told an error.
func (h *historian) load(t *testing.T, all []*operator, keys []string, documents, each int, killed bool, after int) {
	t.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	for _, c := range all {
		group.Go(func() {
			for range each {
				if killed && done.Add(1) == int64(after)+1 {
					_ = h.p.cmd.Process.Signal(os.Kill) // it cannot have ended before
				}
				i := c.random.IntN(len(keys))
				if err := c.act(t.Context(), keys[i], i >= documents); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if killed {
		_ = h.p.cmd.Process.Signal(os.Kill) // if nobody has come so far
	}
}
