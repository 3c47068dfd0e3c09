package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// events makes the page of all that the server tells by itself: its words are those of the
// sources, so that it has what the program has.
func (r *reference) events() string {
	engine, events := r.source("engine"), &strings.Builder{}
	notice, machine, audit := r.source("engine/notice"), r.source("engine/machine"), r.source("engine/audit")
	say := func(format string, values ...any) { fmt.Fprintf(events, format+"\n\n", values...) }

	say("# Events, notices and logs")
	say("What the server tells by itself, and the words in it. New kinds may come with a new version: a program takes what it knows and leaves the rest.")
	say("## The stream of events")
	say("`curl -N -u ann https://flow.example.org/events` is a stream of server-sent events. Each has the kind of the thing as `event:`, a rising number as `id:`, and as `data:` where the thing is, which version it has now, and what became of it:")
	say("```text\nid: 1416230000000001\nevent: task\ndata: {\"href\":\"/dav/Workflow/Cases/42/Actions/approve.json\",\"kind\":\"task\",\"id\":\"42.approve\",\"version\":7,\"change\":\"offered\",\"time\":\"2026-11-20T12:00:00Z\"}\n```")
	say("`event: reset` says that some were missed: look at everything again. [The contract](../contract/drive.md#events) says who gets which, and for how long they are replayed.")
	r.words(events, "kind", engine.constants("EventKind"))
	say("What became of it is in `change`; the words before the colon say of which kinds it is told.")
	r.words(events, "change", engine.constants("Change"))
	say("## Notices")
	say("People are told by mail and services by webhook: [Notifications](../notifications.md) says how that is set up, [the contract](../contract/routes.md#6-notifications) who is told of what.")
	r.words(events, "kind", notice.constants("Kind"))
	say("Destinations choose by `severity` too.")
	r.words(events, "severity", notice.constants("Severity"))
	say("A person can have several reasons to be told; the first of these counts.")
	r.words(events, "why", machine.constants("Reason"))
	say("### What a service is told")
	say("A webhook without a template gets a JSON document, in the form that Standard Webhooks recommends. `type` begins with `case`, `schedule`, `hook`, `destination` or `server`. After a point comes `task-offered`, `task-reminded`, `changed`, `overdue`, `failed` or `mended`; of a case that has ended comes how: `case.completed`, `case.canceled`, `case.failed`.")
	for _, name := range []string{"Payload", "Data", "CaseData", "EntryData", "HookData", "DestinationData", "ServerData", "ActData", "TaskData", "PersonData", "TroubleData"} {
		say("#### %s", payloadTitles[name])
		r.words(events, "field", notice.fields(name))
	}
	say("#### xattrs")
	r.words(events, "field", machine.fields("Fact"))
	say("## The log of a case")
	say("`Cases/<id>/log.json` is an array of entries, the oldest first; `log.txt` has them in words. What does not apply is `null`.")
	r.words(events, "field", machine.fields("LogEntry"))
	r.words(events, "kind", machine.constants("LogKind"))
	r.words(events, "trigger", machine.constants("Trigger"))
	say("## The audit log")
	say("`Admin/Audit/<date>.jsonl` has a line for each row: `time`, `actor`, `address`, `action`, `target`, `outcome`, `detail`, and its place in [the chain](../contract/storage.md#9-the-chain-of-the-audit-log). The target is:")
	r.words(events, "action", audit.constants("Action"))
	r.words(events, "outcome", audit.outcomes())
	return strings.TrimRight(events.String(), "\n") + "\n"
}

// payloadTitles says where the parts of a payload stand in it.
var payloadTitles = map[string]string{
	"Payload": "The document", "Data": "data", "CaseData": "data.case", "EntryData": "data.entry", "HookData": "data.hook",
	"DestinationData": "data.destination", "ServerData": "data.server", "ActData": "data.acts", "TaskData": "data.tasks",
	"PersonData": "data.people", "TroubleData": "data.trouble, data.over",
}

// word is something that the server says, with what it means.
type word struct{ name, text string }

// words writes a table.
func (r *reference) words(b *strings.Builder, title string, words []word) {
	if len(words) == 0 {
		r.Errorf("there is no %s", title)
	}
	fmt.Fprintf(b, "| %s | says |\n|---|---|\n", title)
	for _, w := range words {
		if w.text == "" {
			r.Errorf("%s %s has no text", title, w.name)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", w.name, strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(w.text))
	}
	b.WriteString("\n")
}

// source is a package of the program as it is written.
type source struct {
	*reference
	files []*ast.File
}

func (r *reference) source(dir string) source {
	s := source{reference: r}
	names, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil {
		r.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			r.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			r.Fatal(err)
		}
		s.files = append(s.files, file)
	}
	return s
}

// constants returns the constants of a type of texts, with the comments behind them.
func (s source) constants(of string) []word {
	return s.values(func(spec *ast.ValueSpec) bool {
		name, ok := spec.Type.(*ast.Ident)
		return ok && name.Name == of
	})
}

// outcomes returns those of the audit log, which are texts without a type.
func (s source) outcomes() []word {
	return s.values(func(spec *ast.ValueSpec) bool { return spec.Names[0].Name == "Done" || spec.Names[0].Name == "Refused" })
}

func (s source) values(wanted func(*ast.ValueSpec) bool) (words []word) {
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !wanted(spec) || len(spec.Values) != 1 {
				return true
			}
			value, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			text, err := strconv.Unquote(value.Value)
			if err != nil {
				s.Error(err)
			}
			words = append(words, word{text, strings.TrimSpace(spec.Comment.Text())})
			return true
		})
	}
	return words
}

// fields returns the fields of a type as JSON has them, with the comments behind them.
func (s source) fields(of string) (words []word) {
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != of {
				return true
			}
			fields, is := spec.Type.(*ast.StructType)
			if !is {
				s.Errorf("%s is not a struct", of)
				return false
			}
			for _, field := range fields.Fields.List {
				tag, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					s.Error(err)
				}
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				words = append(words, word{name, strings.TrimSpace(field.Comment.Text())})
			}
			return false
		})
	}
	return words
}
