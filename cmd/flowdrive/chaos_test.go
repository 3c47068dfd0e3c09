package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"flowdrive/internal/cable"
	"flowdrive/internal/pgtest"
)

// chaos is three nodes on a database, behind a balancer that picks one of them at random for
// each connection, and those who make them fail.
type chaos struct {
	random   *rand.Rand
	flags    []string        // of each node
	ways     [2]*cable.Cable // the hosts of --db; one of them leads to the database
	main     int             // that one
	database *pgtest.Server
	front    *program // the balancer

	mu    sync.Mutex
	nodes []*program
}

// nodeNames are those of the nodes.
func nodeNames() []string { return []string{"one", "two", "three"} }

// startChaos starts the database, the nodes and the balancer.
func startChaos(t *testing.T, random *rand.Rand, flags ...string) *chaos {
	t.Helper()
	c := &chaos{random: random, flags: flags, database: pgtest.Start(t)}
	c.ways = [2]*cable.Cable{cable.New(t, c.database.Dial), cable.New(t, nil)}
	for _, name := range nodeNames() {
		c.nodes = append(c.nodes, c.start(t, name))
	}
	balancer := cable.New(t, c.dial)
	c.front = &program{
		base: "http://" + balancer.Address, user: "admin", password: adminPassword,
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}},
	}
	c.front.awaitReady(t)
	return c
}

// start starts a node.
func (c *chaos) start(t *testing.T, name string) *program {
	t.Helper()
	address := fmt.Sprintf("postgres://flowdrive@%s,%s/flow?target_session_attrs=read-write&sslmode=disable", c.ways[0].Address, c.ways[1].Address)
	return startNode(t, address, name, c.flags...)
}

// dial connects to one of the nodes, in any order until one accepts.
func (c *chaos) dial(ctx context.Context) (conn net.Conn, err error) {
	c.mu.Lock()
	nodes := slices.Clone(c.nodes)
	c.mu.Unlock()
	for _, i := range rand.Perm(len(nodes)) {
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(nodes[i].base, "http://")); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

const (
	whoHasTheLock = `SELECT node FROM tenure WHERE EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory')`
	endTheSession = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`
)

// victim returns a node: more often the active one than others.
func (c *chaos) victim(t *testing.T) int {
	t.Helper()
	active := c.database.Execute(t, "flow", whoHasTheLock)
	if i := c.random.IntN(2 * len(c.nodes)); i < len(c.nodes) || len(active) == 0 {
		return i % len(c.nodes)
	}
	return slices.Index(nodeNames(), active[0])
}

// fault is something that fails, and is mended when it returns. What is in words is for the
// log of the test.
type fault struct {
	what string
	do   func(c *chaos, t *testing.T)
}

func allFaults() []fault {
	return []fault{
		{"a node is killed", (*chaos).killNode},
		{"a COMMIT has no answer", (*chaos).cutCommits},
		{"all connections to the database are cut", (*chaos).cutConnections},
		{"the database is stopped", (*chaos).stopDatabase},
		{"the database is killed", (*chaos).killDatabase},
		{"the database is silent", (*chaos).silenceDatabase},
		{"a node is stopped and wakes", (*chaos).pauseNode},
		{"a replica takes over", (*chaos).failOver},
	}
}

func (c *chaos) killNode(t *testing.T) {
	t.Helper()
	i := c.victim(t)
	c.nodes[i].kill()
	n := c.start(t, nodeNames()[i])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i] = n
}

func (c *chaos) cutCommits(t *testing.T) {
	t.Helper()
	for range 1 + c.random.IntN(3) {
		c.ways[c.main].Swallow(1, "COMMIT\x00")
		eventually(t, func() string {
			if !c.ways[c.main].Swallowed() {
				return "nothing was committed"
			}
			return ""
		})
	}
}

func (c *chaos) cutConnections(*testing.T) { c.ways[c.main].Cut() }

func (c *chaos) stopDatabase(t *testing.T) {
	t.Helper()
	c.database.Stop()
	c.isAway(t)
	c.database.Run(t)
}

func (c *chaos) killDatabase(t *testing.T) {
	t.Helper()
	c.database.Kill()
	c.isAway(t)
	c.database.Run(t)
}

func (c *chaos) silenceDatabase(t *testing.T) {
	t.Helper()
	goOn := c.ways[c.main].Hold()
	defer goOn()
	c.isAway(t)
}

// isAway wants nodes to say that the database does not answer, and that they live.
func (c *chaos) isAway(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, n := range c.nodes {
		all.Go(func() {
			if err := n.saysAway(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// saysAway waits until the node answers with 503. Then it has to live.
func (p *program) saysAway(ctx context.Context) error {
	for {
		got, err := p.do(ctx, http.MethodGet, "/dav/", "")
		if ctx.Err() != nil {
			return fmt.Errorf("instead of 503: %v, %w", got, err)
		}
		if err == nil && got.status == http.StatusServiceUnavailable {
			break
		}
	}
	got, err := p.do(ctx, http.MethodGet, "/healthz", "")
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("/healthz: %v", got)
	}
	return err
}

// pauseNode stops a node until it is taken for dead. In a short run the session of the active
// node is ended for that, which the database would do after a while.
func (c *chaos) pauseNode(t *testing.T) {
	t.Helper()
	i := c.victim(t)
	process := c.nodes[i].cmd.Process
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := process.Signal(syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}()
	active := c.database.Execute(t, "flow", whoHasTheLock)
	if chaosTime() == 0 {
		c.database.Execute(t, "flow", endTheSession)
	} else {
		<-time.After(time.Duration(16+c.random.IntN(14)) * time.Second)
	}
	eventually(t, func() string {
		switch now := c.database.Execute(t, "flow", whoHasTheLock); {
		case len(now) == 0:
			return "no node is active"
		case now[0] == nodeNames()[i] && slices.Equal(active, now):
			return "the stopped node has the lock"
		}
		return ""
	})
}

// failOver has a replica take over from the database, which is killed.
func (c *chaos) failOver(t *testing.T) {
	t.Helper()
	replica := c.database.Replica(t)
	<-time.After(time.Duration(c.random.IntN(500)) * time.Millisecond)
	c.database.Kill()
	replica.Promote(t)
	c.ways[c.main].Lead(nil)
	c.main = 1 - c.main
	c.ways[c.main].Lead(replica.Dial)
	c.database = replica
}

// chaosTime is for how long a run by hand lasts, 0 for the short one.
func chaosTime() time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("FLOWDRIVE_CHAOS"), "0s"))
	if err != nil {
		return 0
	}
	return d
}

// TestChaos: nodes and the database are killed, stopped, cut off and replaced under the load of
// clients who remember everything that they have asked and were told. Nothing that was
// acknowledged is lost or there twice, each instant has one case, each action one winner,
// and what clients saw of a document or case has an order. FLOWDRIVE_CHAOS is a time, such
// as 30m, for which it goes on; FLOWDRIVE_TEST_SEED repeats the faults of a run.
func TestChaos(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	service := startService(t, func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, body)
	})
	c := startChaos(t, random, "--allow-host", strings.TrimPrefix(service.URL, "http://"),
		"--max-entries", "1000000", "--quota", "100GiB")
	crowd := newCrowd(t, c, service)
	begin, happened, judged, moments := time.Now(), map[string]int{}, 0, &atomic.Int64{}
	for round := 0; round == 0 || time.Since(begin) < chaosTime(); {
		faults := allFaults()
		if round > 0 {
			random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		}
		for _, f := range faults {
			end := crowd.begin(t, round, moments)
			crowd.await(t, 20)
			t.Logf("%6.1f s: %s", time.Since(begin).Seconds(), f.what)
			f.do(c, t)
			happened[f.what]++
			c.front.awaitReady(t)
			crowd.await(t, 20)
			judged += end()
			round++
		}
	}
	crowd.check(t)
	var out bytes.Buffer
	for _, args := range [][]string{{"check"}, {"audit", "verify"}} {
		if code := run(t.Context(), append(args, "--db", c.database.Address("flow")), nil, &out, &out); code != 0 {
			t.Errorf("%q: %d\n%s", args, code, &out)
		}
	}
	t.Logf("%v: %v; %d requests under a key, %d races, %d operations in histories, %d answers 503, slowest answer %v",
		time.Since(begin).Round(time.Second), happened, len(crowd.all), crowd.races, judged, crowd.away, crowd.slowest.Round(time.Millisecond))
}
