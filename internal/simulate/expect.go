package simulate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// expect compares what a step expects of a case with what is.
func (p *play) expect(ctx context.Context, e *Expectation) error {
	id, err := p.find(ctx, e.Of)
	if err != nil || id == 0 {
		return err
	}
	at := workflow + "Cases/" + strconv.FormatInt(id, 10)
	c, err := p.get(ctx, admin, at+".json")
	if err != nil {
		return err
	}
	if c == nil {
		p.fail(e.At, "the case %d is gone", id)
		return nil
	}
	for _, m := range e.Want {
		before := len(p.report.Failures)
		w := want{play: p, id: id, at: at, c: c, pointer: document.Pointer(e.At.Pointer, m.Key)}
		if err := w.compare(ctx, m); err != nil {
			return err
		}
		if len(p.report.Failures) == before {
			p.report.Checked++
		}
	}
	return nil
}

// want is one thing that is expected of a case.
type want struct {
	*play
	id      int64
	at      string // the case's folder
	c       *document.Node
	pointer string
}

func (w *want) compare(ctx context.Context, m document.Member) error {
	switch m.Key {
	case wantTasks:
		return w.each(ctx, m.Value, "/Actions/", "state")
	case wantAssignees:
		return w.each(ctx, m.Value, "/Actions/", "assignees")
	case wantTimers:
		return w.each(ctx, m.Value, "/Timers/", "state")
	case wantWorklist:
		return w.worklist(ctx, m.Value)
	case wantMessages:
		return w.messages(ctx, m.Value)
	case wantOutput:
		return w.message(ctx, m.Value, w.at+"/output", w.pointer)
	case wantSent:
		return w.sent(ctx, m.Value)
	case wantChildren:
		w.children(m.Value)
	case wantLog, wantNoLog:
		return w.log(ctx, m)
	case wantWarnings:
		w.warnings(m.Value)
	default:
		w.match(m.Value, w.c.Get(m.Key), w.pointer)
	}
	return nil
}

// each compares resources of a folder of the case by name. What is wanted is an
// object with some of their fields, the value of one field, or null if the
// resource must not exist.
func (w *want) each(ctx context.Context, wanted *document.Node, folder, field string) error {
	for _, m := range wanted.Members {
		got, err := w.get(ctx, admin, w.at+folder+segment(m.Key)+".json")
		if err != nil {
			return err
		}
		pointer := document.Pointer(w.pointer, m.Key)
		if m.Value.Kind != document.Object && got != nil {
			got = got.Get(field)
		}
		w.match(m.Value, got, pointer)
	}
	return nil
}

// match compares a value with what is wanted: of an object the members that
// are wanted; lists of texts in any order; null is what is not there.
func (w *want) match(wanted, got *document.Node, pointer string) {
	switch {
	case wanted.Kind == document.Null:
		if got != nil && got.Kind != document.Null {
			w.differ(wanted, got, pointer)
		}
	case got == nil || wanted.Kind == document.Object != (got.Kind == document.Object):
		w.differ(wanted, got, pointer)
	case wanted.Kind == document.Object:
		for _, m := range wanted.Members {
			w.match(m.Value, got.Get(m.Key), document.Pointer(pointer, m.Key))
		}
	case texts(wanted) && texts(got):
		if !slices.Equal(sorted(wanted), sorted(got)) {
			w.differ(wanted, got, pointer)
		}
	case wanted.Kind == document.List && got.Kind == document.List && len(wanted.Items) == len(got.Items):
		for i, item := range wanted.Items {
			w.match(item, got.Items[i], pointer+"/"+strconv.Itoa(i))
		}
	case !document.Equal(wanted, got):
		w.differ(wanted, got, pointer)
	}
}

func (w *want) differ(wanted, got *document.Node, pointer string) {
	is := "there is none"
	if got != nil {
		is = "it is " + string(got.AppendJSON(nil))
	}
	should := string(wanted.AppendJSON(nil))
	if wanted.Kind == document.Null {
		should = "none"
	}
	w.fail(Place{pointer, wanted.Line, wanted.Column}, "want %s, but %s", should, is)
}

// texts reports whether the value is a list of texts.
func texts(n *document.Node) bool {
	return n.Kind == document.List && !slices.ContainsFunc(n.Items, func(item *document.Node) bool { return item.Kind != document.String })
}

func sorted(n *document.Node) []string {
	out := make([]string, len(n.Items))
	for i, item := range n.Items {
		out[i] = item.Text
	}
	slices.Sort(out)
	return out
}

// worklist compares the actions of the case on the worklists of users.
func (w *want) worklist(ctx context.Context, wanted *document.Node) error {
	for _, m := range wanted.Members {
		got := &document.Node{Kind: document.List}
		for _, folder := range []string{"Offered", "Accepted"} {
			list, err := w.get(ctx, m.Key, workflow+"Worklist/"+folder+"/.contents")
			if err != nil {
				return err
			}
			if list == nil {
				continue
			}
			for _, task := range list.Items {
				if task.Get("case").Text == strconv.FormatInt(w.id, 10) {
					got.Items = append(got.Items, task.Get("action"))
				}
			}
		}
		w.match(m.Value, got, document.Pointer(w.pointer, m.Key))
	}
	return nil
}

func (w *want) messages(ctx context.Context, wanted *document.Node) error {
	for _, m := range wanted.Members {
		if err := w.message(ctx, m.Value, w.at+"/Labels/"+segment(m.Key), document.Pointer(w.pointer, m.Key)); err != nil {
			return err
		}
	}
	return nil
}

// message compares what a message says: a text without the white space
// around it, else JSON.
func (w *want) message(ctx context.Context, wanted *document.Node, at, pointer string) error {
	a, err := w.do(ctx, Request{User: admin, Method: http.MethodGet, Path: at})
	if errs.Is(err, errs.NotFound) {
		w.match(wanted, nil, pointer)
		return nil
	}
	if err != nil {
		return err
	}
	text := &document.Node{Kind: document.String, Text: strings.TrimSpace(string(a.Body))}
	if wanted.Kind == document.String {
		wanted = &document.Node{Kind: document.String, Text: strings.TrimSpace(wanted.Text), Line: wanted.Line, Column: wanted.Column}
		w.match(wanted, text, pointer)
		return nil
	}
	got, err := document.ParseJSON(a.Body)
	if err != nil {
		got = text
	}
	w.match(wanted, got, pointer)
	return nil
}

// children compares how many there are, and how many of those that the
// document lists, the newest hundred, in which state and status.
func (w *want) children(wanted *document.Node) {
	count := w.c.Get("childrenCount")
	if wanted.Kind == document.Number {
		w.match(wanted, count, w.pointer)
		return
	}
	var items []*document.Node
	if list := w.c.Get("children"); list != nil {
		items = list.Items
	}
	for _, m := range wanted.Members {
		got := count
		switch m.Key {
		case "states":
			got = tally(items, "state")
		case "statuses":
			got = tally(items, "status")
		}
		pointer := document.Pointer(w.pointer, m.Key)
		if got.Kind == document.Object && m.Value.Kind == document.Object && len(got.Members) != len(m.Value.Members) {
			w.differ(m.Value, got, pointer)
			continue
		}
		w.match(m.Value, got, pointer)
	}
}

// tally counts the cases by a field.
func tally(cases []*document.Node, field string) *document.Node {
	counts := map[string]int{}
	var names []string
	for _, c := range cases {
		name := c.Get(field).Text
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := &document.Node{Kind: document.Object}
	for _, name := range names {
		out.Members = append(out.Members, document.Member{
			Key: name, Value: &document.Node{Kind: document.Number, Text: strconv.Itoa(counts[name])},
		})
	}
	return out
}

// log compares what the log says: each text in a line of its own, in this
// order; or that no line has it.
func (w *want) log(ctx context.Context, m document.Member) error {
	a, err := w.do(ctx, Request{User: admin, Method: http.MethodGet, Path: w.at + "/log.txt"})
	if err != nil {
		return err
	}
	lines := strings.Split(string(a.Body), "\n")
	for i, item := range m.Value.Items {
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, item.Text) })
		place := Place{fmt.Sprintf("%s/%d", w.pointer, i), item.Line, item.Column}
		switch {
		case m.Key == wantNoLog && at >= 0:
			w.fail(place, "the log says %q", lines[at])
		case m.Key == wantLog && at < 0:
			w.fail(place, "the log does not say %q there%s", item.Text, newest(lines))
			return nil
		case m.Key == wantLog:
			lines = lines[at+1:]
		}
	}
	return nil
}

// newest returns what the log says last, as it is told to whom missed something in it.
func newest(lines []string) string {
	const most = 5
	var said []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			said = append(said, strconv.Quote(line))
		}
	}
	if len(said) == 0 {
		return "; it ends there"
	}
	from := max(len(said)-most, 0)
	before := "; it says "
	if from > 0 {
		before = "; last it says "
	}
	return before + strings.Join(said[from:], ", ")
}

// warnings compares the warnings on the case by their text.
func (w *want) warnings(wanted *document.Node) {
	var got []*document.Node
	if list := w.c.Get("warnings"); list != nil {
		got = list.Items
	}
	if len(got) != len(wanted.Items) {
		w.differ(wanted, w.c.Get("warnings"), w.pointer)
		return
	}
	for i, item := range wanted.Items {
		if text := got[i].Get("text"); text == nil || !strings.Contains(text.Text, item.Text) {
			w.differ(item, got[i], fmt.Sprintf("%s/%d", w.pointer, i))
		}
	}
}
