package web

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"flowdrive/internal/errs"
)

// form returns what a form asks of the drive, by the values of its fields. It is asked
// when the form is sent, and when its curl lines are drawn, so that both are the same.
type form func(x *visit, v url.Values) (*act, error)

// act is what a form does: its requests, one after the other until one is refused.
type act struct {
	requests []driveRequest
	every    bool   // also after one that was refused; done tells of those
	to       string // where it leads, "": to the page itself
	// lead says where it leads by the answers, if these decide it; nil: to.
	lead func(answers []*driveAnswer) string
	// gone is the refusal if the drive does not find what the form is about; nil: the
	// page is not there.
	gone error
	// done says what has happened, by the answers to the requests; nil: nothing is
	// said.
	done func(answers []*driveAnswer) notice
}

// notice is what a page says once, of what was done before it.
type notice struct {
	Text string
	Link string // "" for none
	Name string // of the link

	Items  []noticeItem // what became of each of several
	Failed bool         // some of it was refused
	// Warnings are the drive's, of what it has done all the same.
	Warnings []string
	Secret   string // is shown this once, by a page that knows of it
}

// noticeItem is one of several things that a notice tells of.
type noticeItem struct{ Link, Name, Text string }

// The bounds of the body of a form without files.
const (
	mostForm      = 2 << 20
	mostLogInForm = 16 << 10 // of what anybody may send
)

// submit does what a form of the page asks. If the drive refuses it, the page is drawn
// again with what was typed and the faults.
func (p *pages) submit(x *visit, g page) error {
	if err := x.parseForm(); err != nil {
		return err
	}
	return p.perform(x, g)
}

// perform does what the fields of the form ask, which have been read.
func (p *pages) perform(x *visit, g page) error {
	v := x.r.PostForm
	f := g.forms[v.Get("do")]
	if f == nil {
		return errs.New(errs.BadParameter, "There is no form %q on this page.", v.Get("do"))
	}
	if err := checkFields(g.fields[v.Get("do")], v); err != nil {
		return x.redraw(g, v, refusalOf(asProblem(err)), err)
	}
	a, err := f(x, v)
	if err != nil {
		return x.redraw(g, v, refusalOf(asProblem(err)), err)
	}
	if v.Has("show") { // without script: the curl lines as the form stands
		return x.redraw(g, v, nil, nil)
	}
	answers := make([]*driveAnswer, 0, len(a.requests))
	for i := range a.requests {
		answer, err := x.hand(&a.requests[i], x.keyOf(v.Get("key"), i))
		if err != nil {
			return err
		}
		if answer.status == http.StatusNotFound && a.gone != nil {
			return x.redraw(g, v, refusalOf(asProblem(a.gone)), a.gone)
		}
		if answer.status >= http.StatusBadRequest && !a.every {
			return x.redraw(g, v, refusalOfRequest(&a.requests[i], answer), nil)
		}
		answers = append(answers, answer)
	}
	if a.done != nil {
		x.notices.put(x.token, a.done(answers))
	}
	if a.lead != nil {
		a.to = a.lead(answers)
	}
	return x.redirect(x.landing(a.to))
}

// parseForm reads the fields of the form that was sent. It has room in memory for what
// a session sends: the body and the fields that are made of it. What comes without one
// is small.
func (x *visit) parseForm() error {
	limit := int64(mostLogInForm)
	if x.by.ID != 0 {
		limit = mostForm
		length := limit
		if x.r.ContentLength >= 0 {
			length = min(x.r.ContentLength, limit)
		}
		if err := x.Weigh(x.r.Context(), 4*length); err != nil {
			return err
		}
	}
	x.r.Body = http.MaxBytesReader(x.w, x.r.Body, limit)
	if err := x.r.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return errs.New(errs.TooLarge, "The form is larger than %d KiB, the most that is taken here.", limit>>10)
		}
		return &errs.Error{Kind: errs.BadParameter, Detail: "The form cannot be read.", Err: err}
	}
	for _, values := range x.r.PostForm {
		for i := range values { // browsers end lines of text as mails do
			values[i] = strings.ReplaceAll(values[i], "\r\n", "\n")
		}
	}
	return nil
}

// landing returns where a form leads: to an address of its own, or back to the page.
func (x *visit) landing(to string) string {
	if to != "" {
		return to
	}
	here := url.URL{Path: x.r.URL.Path}
	q := url.Values{}
	for name, values := range x.query {
		if name != "open" && name != "part" {
			q[name] = values
		}
	}
	here.RawQuery = q.Encode()
	return here.RequestURI()
}

// redraw draws the page with what a form has sent. Without a refusal that can be drawn
// the error is the page's.
func (x *visit) redraw(g page, v url.Values, refused *refusal, err error) error {
	if refused == nil && err != nil {
		return err
	}
	x.sent, x.refused = v, refused
	if refused != nil {
		x.status = refused.Status
		if refused.After > 0 {
			x.w.Header().Set("Retry-After", strconv.Itoa(refused.After))
		}
		if refused.Kind == errs.NotFound || refused.Kind == errs.LogIn {
			return errs.New(refused.Kind, "%s", refused.Detail)
		}
	}
	return g.draw(x)
}

// key returns a new idempotency key for a form that is drawn.
func (x *visit) Key() string { return rand.Text() }

// Sent returns what was typed into a field of the form that is drawn again. The second
// value is false if the field was not sent.
func (x *visit) Sent(name string) (string, bool) {
	if x.sent == nil || !x.sent.Has(name) {
		return "", false
	}
	return x.sent.Get(name), true
}

// notices are the one-time slots of the sessions, in memory: a notice that a restart
// loses says only what the page shows anyway.
type notices struct {
	mu    sync.Mutex
	slots map[string]notice
}

// mostNotices bounds the slots. They are emptied by the next page, within seconds.
const mostNotices = 10_000

func newNotices() *notices { return &notices{slots: map[string]notice{}} }

func (n *notices) put(token string, what notice) {
	if token == "" || what.Text == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.slots) >= mostNotices {
		clear(n.slots)
	}
	n.slots[token] = what
}

func (n *notices) take(token string) *notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	what, ok := n.slots[token]
	if !ok {
		return nil
	}
	delete(n.slots, token)
	return &what
}

// localPath returns a path of this server that is safe to be led to: it is neither
// another host's nor a path that browsers read as one.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") || strings.HasPrefix(u.Path, "//") {
		return ""
	}
	return next
}
