package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

const workPages = "a page, p95 of its server time"

// pagesKinds are the cases behind the pages: one of a hundred waits for the caller.
func pagesKinds() []kind {
	kinds := make([]kind, 100)
	for i := range kinds {
		kinds[i] = kind{route: routeOnce, actions: []string{"finish"}}
	}
	kinds[0].actions = nil
	return kinds
}

// pagesToAsk are the pages whose time is bounded (docs/pages.md), by what is shown of
// them.
func pagesToAsk() [][2]string {
	return [][2]string{
		{"Tasks", "/tasks"},
		{"Tasks, the newest first", "/tasks?sort=newest"},
		{"Tasks that are searched", "/tasks?q=finish"},
		{"Cases", "/cases"},
		{"Cases that have ended", "/cases?state=ended"},
		{"Search", "/search?q=begun"},
		{"Route", "/routes/" + routeOnce},
		{"Board", "/routes/" + routeOnce + "/board"},
	}
}

// measurePages is P20: pages over many cases, each asked after something has changed,
// and what many open pages cost, each of which follows the events.
func measurePages(ctx context.Context, r *run) (_ []Row, err error) {
	if r.Program == "" {
		return skipped(workPages, noProgram), nil
	}
	data, err := r.folder("pages")
	if err != nil {
		return nil, err
	}
	n := r.growth[len(r.growth)-1]
	if _, _, err := r.fillCases(ctx, data, n, pagesKinds()...); err != nil {
		return nil, err
	}
	if err := r.employ(ctx, data); err != nil {
		return nil, err
	}
	p, err := r.start(ctx, data, "--connections-per-address", strconv.Itoa(2*r.streams))
	if err != nil {
		return nil, err
	}
	var undo cleanup
	defer undo.run(&err)
	undo.add(p.stop)
	conns, err := dial(ctx, p.addr, 1)
	if err != nil {
		return nil, err
	}
	undo.add(func() error { return hangUp(conns) })
	rows, err := r.pageTimes(ctx, p.addr, conns[0])
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Note += fmt.Sprintf("; %s cases, of which %s are open tasks of the reader", plain(float64(n)), plain(float64(n/100)))
	}
	more, err := r.streamCosts(ctx, p, conns[0])
	return append(rows, more...), err
}

// The team that sees the cases that are started while pages are open, and how many
// streams each of its members has: as many as one user may have.
const (
	readers    = "bench-readers"
	perReader  = 8
	readerName = "bench-reader-%d"
)

// employ makes the team and its members.
func (r *run) employ(ctx context.Context, data string) (err error) {
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	admin := engine.Request{By: h.engine.Accounts.Principal(h.engine.Accounts.PartyID(string(engine.Admin))), Now: h.clock.Now()}
	members := []string{caller}
	for i := range (r.streams + perReader - 1) / perReader {
		name := fmt.Sprintf(readerName, i)
		if _, err := h.engine.Accounts.PutParty(ctx, admin, identity.User, name, []byte(`{"password": "`+password+`"}`)); err != nil {
			return err
		}
		members = append(members, name)
	}
	team, err := json.Marshal(map[string][]string{"members": members})
	if err != nil {
		return err
	}
	_, err = h.engine.Accounts.PutParty(ctx, admin, identity.Team, readers, team)
	return err
}

// startOne starts a case that the team sees.
func startOne(c *connection) error {
	return c.do(http.MethodPost, "/dav/Workflow/Cases/", []byte(`{"route": "`+routeOnce+`", "context": "`+readers+`"}`), http.StatusCreated)
}

// pageTimes asks for each page many times, and starts a case before each time.
func (r *run) pageTimes(ctx context.Context, addr string, c *connection) ([]Row, error) {
	browser, err := logIn(ctx, addr)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, page := range pagesToAsk() {
		r.progress("asking for %s", page[1])
		var took []time.Duration
		size := int64(0)
		for range r.asks {
			if err := startOne(c); err != nil {
				return nil, err
			}
			one, length, err := ask(ctx, browser, "http://"+addr+page[1])
			if err != nil {
				return nil, err
			}
			took, size = append(took, one), length
		}
		slices.Sort(took)
		rows = append(rows, atMost(workPages+": "+page[0], measured(Seconds, quantile(took, 0.95).Seconds()), nil, 0.1).
			noted("Server-Timing of %d requests, a case is started before each; p50 %s, the most %s; %s", len(took),
				quantity(quantile(took, 0.5).Seconds(), Seconds), quantity(took[len(took)-1].Seconds(), Seconds), quantity(float64(size), Bytes)))
	}
	return rows, nil
}

// logIn returns a browser with a session of the caller.
func logIn(ctx context.Context, addr string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{
		Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	form := url.Values{"do": {"login"}, "name": {caller}, "password": {password}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("log-in: %s", resp.Status)
	}
	return browser, nil
}

// serverTime matches the time that a page says it took, in milliseconds.
var serverTime = regexp.MustCompile(`total;dur=([0-9.]+)`)

// ask gets a page, and returns how long the server took and how long the page is.
func ask(ctx context.Context, browser *http.Client, address string) (took time.Duration, length int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, err
	}
	resp, err := browser.Do(req)
	if err != nil {
		return 0, 0, err
	}
	length, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, 0, err
	}
	told := serverTime.FindStringSubmatch(resp.Header.Get("Server-Timing"))
	if resp.StatusCode != http.StatusOK || told == nil {
		return 0, 0, fmt.Errorf("%s: %s, Server-Timing %q", address, resp.Status, resp.Header.Get("Server-Timing"))
	}
	ms, err := strconv.ParseFloat(told[1], 64)
	return time.Duration(ms * float64(time.Millisecond)), length, err
}

// streamCosts opens streams of events of many users, and returns what they cost while nothing happens
// and for each case that is started.
func (r *run) streamCosts(ctx context.Context, p *process, c *connection) (_ []Row, err error) {
	r.progress("opening %d streams of events", r.streams)
	alone, err := r.costOfStarts(p, c, nil)
	if err != nil {
		return nil, err
	}
	before, _, err := p.memory()
	if err != nil {
		return nil, err
	}
	var undo cleanup
	defer undo.run(&err)
	var heard atomic.Int64
	for i := range r.streams {
		stream, err := listen(ctx, p.addr, fmt.Sprintf(readerName, i/perReader), &heard)
		if err != nil {
			return nil, err
		}
		undo.add(stream.Close)
	}
	pause(ctx, time.Second)
	with, _, err := p.memory()
	if err != nil {
		return nil, err
	}
	begin, err := cpuOf(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	pause(ctx, r.quiet)
	end, err := cpuOf(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	told, err := r.costOfStarts(p, c, func() error {
		for begin := time.Now(); heard.Load() < int64(r.asks*r.streams); pause(ctx, time.Millisecond) {
			if time.Since(begin) > patience {
				return fmt.Errorf("the streams have told of %d changes, not of %d cases to %d", heard.Load(), r.asks, r.streams)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	each := (told - alone).Seconds() / float64(r.asks) / float64(r.streams)
	work := fmt.Sprintf("%d streams of events", r.streams)
	return []Row{
		atMost(work+": memory", measured(Bytes, max(with-before, 0)), nil, 48<<20).noted("RSS beside %s before", quantity(before, Bytes)),
		atMost(work+": CPU while nothing happens", measured(Percent, 100*(end-begin).Seconds()/r.quiet.Seconds()), nil, 1).noted("of %s", r.quiet),
		atMost(work+": CPU for a case that is started, each", measured(Seconds, max(each, 0)), nil, 50e-6).
			noted("a case alone takes %s", quantity(alone.Seconds()/float64(r.asks), Seconds)),
	}, nil
}

// costOfStarts is the CPU of the process while cases are started, and until end returns.
func (r *run) costOfStarts(p *process, c *connection, end func() error) (time.Duration, error) {
	before, err := cpuOf(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	for range r.asks {
		if err := startOne(c); err != nil {
			return 0, err
		}
	}
	if end != nil {
		if err := end(); err != nil {
			return 0, err
		}
	}
	after, err := cpuOf(p.cmd.Process.Pid)
	return after - before, err
}

// listen opens a stream of events, whose messages are counted.
func listen(ctx context.Context, addr, user string, heard *atomic.Int64) (io.Closer, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	login := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	if _, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic "+login+"\r\n\r\n"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	buf := make([]byte, 1<<10)
	n, err := conn.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 200") {
		return nil, errors.Join(err, fmt.Errorf("/events: %q", buf[:n]), conn.Close())
	}
	go func() {
		for err == nil {
			n, err = conn.Read(buf)
			heard.Add(int64(strings.Count(string(buf[:n]), "\ndata:")))
		}
	}()
	return conn, nil
}
