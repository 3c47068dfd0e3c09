package audit

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/store"
)

// paper is a store that keeps lines of the audit log.
type paper struct {
	store.Store
	store.Tx
	lines []string
	head  store.AuditHead
	fail  error
}

func (p *paper) Update(_ context.Context, f func(store.Tx) error) error {
	if p.fail != nil {
		return p.fail
	}
	return f(p)
}

func (p *paper) Queue() store.QueueReader { return paperQueue{} }

type paperQueue struct{ store.QueueReader }

func (paperQueue) Ahead(store.Ahead) error { return nil }

func (paperWriter) Parts(fs []func() error) []error {
	results := make([]error, len(fs))
	for i, f := range fs {
		results[i] = f()
	}
	return results
}

func (p *paper) Audit() store.AuditReader { return paperReader{paper: p} }

type paperReader struct {
	store.AuditReader
	paper *paper
}

func (r paperReader) Head() (store.AuditHead, error) { return r.paper.head, nil }

func (p *paper) PutHead(head store.AuditHead) error {
	p.head = head
	return nil
}

func (p *paper) Write() store.Writer { return paperWriter{paper: p} }

type paperWriter struct {
	store.Writer
	paper *paper
}

func (w paperWriter) Audit() store.AuditWriter { return w.paper }

func (p *paper) Append(_ time.Time, line []byte) error {
	p.lines = append(p.lines, string(line))
	return nil
}

// written returns the actors of the lines, and what was lost.
func (p *paper) written() (out []string) {
	for _, line := range p.lines {
		_, rest, _ := strings.Cut(line, `"actor":`)
		actor, _, _ := strings.Cut(rest, ",")
		if _, detail, lost := strings.Cut(line, `"action":"rows-lost"`); lost {
			_, detail, _ = strings.Cut(detail, `"detail":"`)
			actor, _, _ = strings.Cut(detail, " ")
			actor = "lost " + actor
		}
		out = append(out, strings.Trim(actor, `"`))
	}
	return out
}

func newPaper() (*Log, *paper, *time.Time) {
	p := &paper{}
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	l := NewLog(p, func() time.Time { return now }, func(context.Context) string { return "" }, zerolog.Nop())
	l.gate = NewGate(func() time.Time { return now })
	return l, p, &now
}

// Nothing that comes blocks, though nobody writes.
func TestLogNeverBlocks(t *testing.T) {
	t.Parallel()
	l, p, now := newPaper()
	n := 0
	for minute := range 3 {
		*now = now.Add(time.Minute)
		for i := range mostWaiting {
			l.Tried(refusal(fmt.Sprint(minute, i)))
			n++
		}
	}
	if l.Later(func(store.Tx) error { return nil }) {
		t.Error("there was still room")
	}
	l.finish(t.Context())
	lost := 0
	for _, w := range p.written() {
		var k int
		if _, err := fmt.Sscanf(w, "lost %d", &k); err == nil {
			lost += k
			n++ // the row that says so
		}
	}
	if len(p.lines)+lost != n {
		t.Errorf("%d lines and %d lost of %d", len(p.lines), lost, n)
	}
}

// What is under way when the engine stops is written then, and an error of
// the store ends nothing.
func TestLogIsFlushed(t *testing.T) {
	t.Parallel()
	l, p, _ := newPaper()
	for i := range flushAtOnce + 3 {
		l.Tried(refusal(fmt.Sprint(i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Run(ctx)
	if len(p.lines) != flushAtOnce+3 {
		t.Errorf("%d lines; want %d", len(p.lines), flushAtOnce+3)
	}
	p.fail = errors.New("the disk is full")
	l.Tried(refusal("sam"))
	l.Run(ctx)
	p.fail = nil
	l.Tried(refusal("ann"))
	l.Run(ctx)
	if got := p.written(); got[len(got)-1] != "ann" {
		t.Errorf("the last line is of %s", got[len(got)-1])
	}
}

// TestTitles: each action that is written has words for people, and no two have the same.
func TestTitles(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "row.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]Action{}
	for _, decl := range file.Decls {
		group, is := decl.(*ast.GenDecl)
		if !is || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value, is := spec.(*ast.ValueSpec)
			if !is {
				continue
			}
			if named, is := value.Type.(*ast.Ident); !is || named.Name != "Action" {
				continue
			}
			literal, is := value.Values[0].(*ast.BasicLit)
			if !is {
				t.Fatalf("the value of %s is not written out", value.Names[0])
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			title := Action(text).Title()
			if other, is := titles[title]; is {
				t.Errorf("%s and %s have the same words: %s", text, other, title)
			}
			if titles[title] = Action(text); title == text {
				t.Errorf("%s has no words in Actions", text)
			}
		}
	}
	if len(titles) != len(Actions()) {
		t.Errorf("there are %d actions, and words for %d", len(titles), len(Actions()))
	}
}
