package simulate

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Drive answers a request of the user, as the drive of a sandbox does that has
// no other users.
type Drive func(ctx context.Context, r Request) (*Answer, error)

// Request is what a step asks of the drive.
type Request struct {
	User   string
	Method string
	Path   string // escaped
	Type   string // media type of the body
	Body   []byte
	To     string // of MOVE: the destination
	Depth  string // of PROPFIND
}

// Answer is what the drive answers.
type Answer struct {
	Status   int
	Location string
	Body     []byte
}

// Route is a definition that is stored before the scenario begins.
type Route struct {
	File   string // its name decides between YAML and JSON
	Name   string
	Source []byte
}

// Report is how a scenario went.
type Report struct {
	Log      string       // what the cases logged, up to the end or the first step that went wrong
	Steps    int          // that were played
	Checked  int          // expectations that were met
	Failures []errs.Fault // what did not go as the scenario says, in one step
	Step     *Step        // the one with the failures, nil if all went well
}

// workflow is the folder of the drive that scenarios use most.
const workflow = "/dav/Workflow/"

// Play plays the scenario against the first of the routes; the others are those
// that it starts or has as children. It stops at the first step that does not
// go as the scenario says; the report has its failures. It returns an error if
// the scenario cannot be played, for instance because the drive refuses a
// route.
func Play(ctx context.Context, drive Drive, s *Scenario, routes []Route) (*Report, error) {
	p := &play{drive: drive, route: routes[0].Name, stored: routes, named: map[string]int64{}}
	if err := p.furnish(ctx, s); err != nil {
		return nil, err
	}
	if err := p.store(ctx, s.Author, withoutStrangers(s, routes)); err != nil {
		return nil, err
	}
	for i := range s.Steps {
		p.report.Steps++
		if err := p.step(ctx, &s.Steps[i]); err != nil {
			return nil, err
		}
		if len(p.report.Failures) > 0 {
			p.report.Step = &s.Steps[i]
			break
		}
	}
	log, err := p.logs(ctx)
	p.report.Log = log
	return &p.report, err
}

// play is one playing of a scenario.
type play struct {
	drive  Drive
	route  string
	stored []Route // that one among them
	named  map[string]int64
	last   int64   // the case that was started last
	cases  []int64 // all that were started, in order
	report Report
}

// do makes a request; an answer that is a problem becomes its error.
func (p *play) do(ctx context.Context, r Request) (*Answer, error) {
	a, err := p.drive(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.Status < http.StatusBadRequest {
		return a, nil
	}
	return nil, readProblem(r, a)
}

// readProblem reads the problem of an answer: a problem document, or the
// DAV:error of WebDAV (RFC 4918, section 14.5).
func readProblem(r Request, a *Answer) error {
	const prefix = "urn:flowdrive:problem:"
	if n, err := document.ParseJSON(a.Body); err == nil && n.Get("type") != nil && n.Get("detail") != nil {
		if kind, ours := strings.CutPrefix(n.Get("type").Text, prefix); ours {
			return errs.New(errs.Kind(kind), "%s", allFaults(n))
		}
	}
	var dav struct {
		XMLName    xml.Name `xml:"DAV: error"`
		Detail     string   `xml:"DAV: responsedescription"`
		Conditions []struct {
			XMLName xml.Name
		} `xml:",any"`
	}
	if err := xml.Unmarshal(a.Body, &dav); err == nil {
		for _, c := range dav.Conditions {
			if c.XMLName.Space == prefix {
				return errs.New(errs.Kind(c.XMLName.Local), "%s", dav.Detail)
			}
		}
	}
	return fmt.Errorf("%s %s: %d %s", r.Method, r.Path, a.Status, clip(string(a.Body)))
}

// mostFaults is how many faults of a refused document are told.
const mostFaults = 5

// allFaults returns the detail of a problem document; of a document with several faults
// these, for the scenario's reader sees no other answer.
func allFaults(problem *document.Node) string {
	list := problem.Get("errors")
	if list == nil || len(list.Items) < 2 {
		return problem.Get("detail").Text
	}
	var out []string
	for _, item := range list.Items[:min(len(list.Items), mostFaults)] {
		if pointer, detail := item.Get("pointer"), item.Get("detail"); pointer != nil && detail != nil {
			out = append(out, errs.Fault{Pointer: pointer.Text, Detail: detail.Text}.String())
		}
	}
	if more := len(list.Items) - mostFaults; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}

func (p *play) put(ctx context.Context, user, at, mediaType string, body []byte) (*Answer, error) {
	return p.do(ctx, Request{User: user, Method: http.MethodPut, Path: at, Type: mediaType, Body: body})
}

// get reads a JSON document; it returns nil if there is none.
func (p *play) get(ctx context.Context, user, at string) (*document.Node, error) {
	a, err := p.do(ctx, Request{User: user, Method: http.MethodGet, Path: at})
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return document.ParseJSON(a.Body)
}

// furnish makes the users and teams. Teams may have each other as members,
// so that they are all made before they have any.
func (p *play) furnish(ctx context.Context, s *Scenario) error {
	const json = "application/json"
	for _, u := range s.Users {
		if _, err := p.put(ctx, admin, "/dav/Admin/Users/"+segment(u.Name)+".json", json, u.Document); err != nil {
			return fmt.Errorf("the user %s: %w", u.Name, err)
		}
	}
	for _, t := range s.Teams {
		if _, err := p.put(ctx, admin, teamPath(t.Name), json, []byte(`{"members":[]}`)); err != nil {
			return fmt.Errorf("the team %s: %w", t.Name, err)
		}
	}
	for _, t := range s.Teams {
		if _, err := p.put(ctx, admin, teamPath(t.Name), json, t.Document); err != nil {
			return fmt.Errorf("the team %s: %w", t.Name, err)
		}
	}
	return nil
}

func teamPath(name string) string { return "/dav/Admin/Teams/" + segment(name) + ".json" }

func segment(name string) string { return url.PathEscape(name) }

// withoutStrangers returns the routes without contexts that the story has no user or
// team of: such a route belongs to its author, as one without a context does. A version
// of a route names its owner, whom the story need not know.
func withoutStrangers(s *Scenario, routes []Route) []Route {
	known := map[string]bool{admin: true, "core": true, "everyone": true}
	for _, party := range slices.Concat(s.Users, s.Teams) {
		known[identity.Fold(party.Name)] = true
	}
	out := slices.Clone(routes)
	for i := range out {
		n, err := document.Parse(out[i].Source, extension(out[i].File) == ".yaml")
		if err != nil || n.Kind != document.Object {
			continue // the drive refuses it with the reason
		}
		at := n.Index("context")
		if at < 0 || n.Members[at].Value.Kind != document.String || known[identity.Fold(n.Members[at].Value.Text)] {
			continue
		}
		n.Members = slices.Delete(n.Members, at, at+1)
		out[i].Source = n.AppendJSON(nil) // which is YAML, too
	}
	return out
}

// store stores the routes. Routes must be stored before those that name them.
// Their order here does not matter: a route that is refused is tried again
// while others are accepted.
func (p *play) store(ctx context.Context, author string, routes []Route) error {
	for len(routes) > 0 {
		var later []Route
		var refused []error
		for _, r := range slices.Backward(routes) {
			mediaType := "application/yaml"
			if path.Ext(r.File) == ".json" {
				mediaType = "application/json"
			}
			at := workflow + "Routes/" + segment(r.Name) + extension(r.File)
			if _, err := p.put(ctx, author, at, mediaType, r.Source); err != nil {
				later = append([]Route{r}, later...)
				refused = append(refused, fmt.Errorf("%s: %w", r.File, err))
			}
		}
		if len(later) == len(routes) {
			return errors.Join(refused...)
		}
		routes = later
	}
	return nil
}

func extension(file string) string {
	if path.Ext(file) == ".json" {
		return ".json"
	}
	return ".yaml"
}

// step does a step and compares what it expects.
func (p *play) step(ctx context.Context, s *Step) error {
	err := p.act(ctx, s)
	problem, isProblem := errors.AsType[*errs.Error](err)
	switch {
	case err != nil && !isProblem:
		return fmt.Errorf("step %d: %w", p.report.Steps, err)
	case isProblem && s.Refused == "":
		p.fail(s.At, "is refused (%s): %s", problem.Kind, problem.Detail)
		return nil
	case isProblem && s.Refused != string(problem.Kind):
		p.fail(s.At, "is refused with %s, not with %s: %s", problem.Kind, s.Refused, problem.Detail)
		return nil
	case !isProblem && s.Refused != "":
		p.fail(s.At, "succeeds; it should be refused with %s", s.Refused)
	}
	if s.Refused != "" {
		p.report.Checked++
	}
	for i := range s.Expect {
		if err := p.expect(ctx, &s.Expect[i]); err != nil {
			return fmt.Errorf("step %d: %w", p.report.Steps, err)
		}
	}
	return nil
}

// fail notes that something is not as the scenario says.
func (p *play) fail(at Place, format string, args ...any) {
	p.report.Failures = append(p.report.Failures, errs.Fault{
		Pointer: at.Pointer, Line: at.Line, Column: at.Column, Detail: fmt.Sprintf(format, args...),
	})
}

// act makes the request of a step. A problem document is its error.
func (p *play) act(ctx context.Context, s *Step) error {
	switch s.Verb {
	case VerbStart:
		return p.start(ctx, s)
	case VerbAdvance:
		return p.advance(ctx, s)
	case VerbTeam:
		_, err := p.put(ctx, s.As, teamPath(s.Subject), s.Type, s.Body)
		return err
	case VerbDeputy:
		_, err := p.put(ctx, s.As, "/dav/Account/me.json", s.Type, s.Body)
		return err
	case VerbCheck:
		return nil
	default:
		return p.actOnCase(ctx, s)
	}
}

// actOnCase makes the request of a step that is about a case.
func (p *play) actOnCase(ctx context.Context, s *Step) error {
	id, err := p.find(ctx, s.Of)
	if err != nil || id == 0 {
		return err
	}
	at := workflow + "Cases/" + strconv.FormatInt(id, 10)
	switch s.Verb {
	case VerbMove:
		return p.move(ctx, s, id)
	case VerbMessage:
		at += "/Labels/" + segment(s.Subject)
	case VerbTimer:
		at += "/Timers/" + segment(s.Subject) + ".json"
	case VerbChange, VerbSuspend, VerbResume, VerbCancel:
		at += ".json"
	default:
		_, err = p.put(ctx, s.As, at+"/Actions/"+segment(s.Subject)+".json", s.Type, s.Body)
		return p.noAction(ctx, at, err)
	}
	_, err = p.put(ctx, s.As, at, s.Type, s.Body)
	return err
}

// noAction adds to the error of an action that is not there which there are in the case, unless it
// says which one may be meant.
func (p *play) noAction(ctx context.Context, at string, err error) error {
	problem, ok := errors.AsType[*errs.Error](err)
	if !ok || problem.Kind != errs.NotFound {
		return err
	}
	c, failed := p.get(ctx, admin, at+".json")
	if failed != nil || c == nil {
		return err // which says what is wrong with the step
	}
	var names []string
	if enabled := c.Get("enabledActions"); enabled != nil {
		for _, item := range enabled.Items {
			names = append(names, item.Text)
		}
	}
	if len(names) == 0 || strings.Contains(problem.Detail, "did you mean") {
		return err
	}
	more := *problem
	more.Detail = strings.TrimSuffix(more.Detail, ".") + "; in this case there is now: " + strings.Join(names, ", ")
	return &more
}

// move moves the case's card on its route's board.
func (p *play) move(ctx context.Context, s *Step, id int64) error {
	card := strconv.FormatInt(id, 10) + ".json"
	c, err := p.get(ctx, admin, workflow+"Cases/"+card)
	if err != nil || c == nil {
		return err
	}
	if c.Get("status").Kind != document.String {
		p.fail(s.At, "the case has no status, so it is not on the board")
		return nil
	}
	board := workflow + "Routes/" + segment(c.Get("route").Text) + "/Board/"
	_, err = p.do(ctx, Request{
		User: s.As, Method: "MOVE", Path: board + segment(c.Get("status").Text) + "/" + card, To: board + segment(s.Subject) + "/" + card,
	})
	return err
}

func (p *play) start(ctx context.Context, s *Step) error {
	body := s.Body
	if s.Subject == "" {
		route := document.AppendString([]byte(`{"route":`), p.route)
		if string(body) != "{}" {
			route = append(route, ',')
		}
		body = append(route, body[1:]...)
	}
	a, err := p.put(ctx, s.As, workflow+"Cases/new.json", s.Type, body)
	if err != nil {
		return p.notStarted(s, err)
	}
	id, err := strconv.ParseInt(strings.TrimSuffix(path.Base(a.Location), ".json"), 10, 64)
	if err != nil {
		return fmt.Errorf("a case was started, but not at %q", a.Location)
	}
	p.last = id
	p.cases = append(p.cases, id)
	if s.Name != "" {
		p.named[s.Name] = id
	}
	return nil
}

// notStarted says why a case was not started. To who may not start a route the drive does not
// say that there is one; the scenario has stored it.
func (p *play) notStarted(s *Step, err error) error {
	name := cmp.Or(s.Subject, p.route)
	problem, ok := errors.AsType[*errs.Error](err)
	if !ok || !strings.Contains(problem.Detail, " /route: ") || !slices.ContainsFunc(p.stored, func(r Route) bool { return r.Name == name }) {
		return err
	}
	return errs.New(problem.Kind, "%s may not start a case of %q: its access.start names neither %s nor a team of %s", s.As, name, s.As, s.As)
}

// advance moves the clock. If much is due, the clock stops on the way and is
// asked for the rest.
func (p *play) advance(ctx context.Context, s *Step) error {
	before, err := p.now(ctx)
	if err != nil {
		return err
	}
	body := s.Body
	for {
		a, err := p.do(ctx, Request{User: s.As, Method: http.MethodPost, Path: "/clock", Type: s.Type, Body: body})
		if err != nil {
			return err
		}
		moved, err := document.ParseJSON(a.Body)
		if err != nil {
			return err
		}
		if done := moved.Get("complete"); done != nil && done.Bool {
			return nil
		}
		if !s.Advance.IsZero() {
			body = []byte(`{"set":"` + s.Advance.After(before).Format(time.RFC3339) + `"}`)
		}
	}
}

// now reads the clock.
func (p *play) now(ctx context.Context) (time.Time, error) {
	n, err := p.get(ctx, admin, "/clock")
	if err != nil {
		return time.Time{}, err
	}
	if n.Get("now") == nil {
		return time.Time{}, errors.New("the drive has no clock that can be moved")
	}
	return time.Parse(time.RFC3339, n.Get("now").Text)
}

// find returns the case that a step or expectation is about. If there is none,
// it returns 0 and notes a failure.
func (p *play) find(ctx context.Context, of Of) (int64, error) {
	id := p.last
	if of.Case != "" {
		id = p.named[of.Case]
	}
	for _, name := range of.Child {
		children, err := p.children(ctx, id)
		if err != nil {
			return 0, err
		}
		if id = pick(children, name); id == 0 {
			p.fail(of.At, "there is not exactly one child %q; there are %s", name, titles(children))
			return 0, nil
		}
	}
	return id, nil
}

// child is a child case as its parent lists it.
type child struct {
	id    int64
	title string
}

// children returns the children of a case, oldest first, including canceled
// ones. The case's document has the newest; folders have only those that are
// not canceled.
func (p *play) children(ctx context.Context, id int64) ([]child, error) {
	c, err := p.get(ctx, admin, workflow+"Cases/"+strconv.FormatInt(id, 10)+".json")
	if err != nil || c.Get("children") == nil {
		return nil, err
	}
	var out []child
	for _, n := range c.Get("children").Items {
		number, err := strconv.ParseInt(n.Get("id").Text, 10, 64)
		if err != nil {
			return nil, err
		}
		whole, err := p.get(ctx, admin, workflow+"Cases/"+n.Get("id").Text+".json")
		if err != nil {
			return nil, err
		}
		if whole != nil {
			out = append(out, child{number, whole.Get("title").Text})
		}
	}
	slices.SortFunc(out, func(a, b child) int { return cmp.Compare(a.id, b.id) })
	return out, nil
}

// pick returns the child with that number from 1, or the one that has the
// text as its title or in it.
func pick(children []child, name string) int64 {
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(children) {
		return children[n-1].id
	}
	found := int64(0)
	for _, c := range children {
		if c.title == name {
			return c.id
		}
		if strings.Contains(c.title, name) {
			if found != 0 {
				return 0
			}
			found = c.id
		}
	}
	return found
}

func titles(children []child) string {
	if len(children) == 0 {
		return "none"
	}
	list := make([]string, len(children))
	for i, c := range children {
		list[i] = strconv.Quote(c.title)
	}
	return strings.Join(list, ", ")
}

// logs returns the log of every case that was started, children after their
// parents.
func (p *play) logs(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, id := range p.cases {
		if err := p.log(ctx, &b, id, ""); err != nil {
			return b.String(), err
		}
	}
	return b.String(), nil
}

func (p *play) log(ctx context.Context, b *strings.Builder, id int64, indent string) error {
	at := workflow + "Cases/" + strconv.FormatInt(id, 10)
	c, err := p.get(ctx, admin, at+".json")
	if err != nil || c == nil {
		return err
	}
	fmt.Fprintf(b, "%scase %d %s %q: %s", indent, id, c.Get("route").Text, c.Get("title").Text, c.Get("state").Text)
	if status := c.Get("status"); status.Kind == document.String {
		b.WriteString(" " + status.Text)
	}
	b.WriteByte('\n')
	a, err := p.do(ctx, Request{User: admin, Method: http.MethodGet, Path: at + "/log.txt"})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(a.Body)) {
		b.WriteString(indent + "  " + strings.TrimRight(line, "\n") + "\n")
	}
	children, err := p.children(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := p.log(ctx, b, c.id, indent+"  "); err != nil {
			return err
		}
	}
	return nil
}
