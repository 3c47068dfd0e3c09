package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/docs"
	"flowdrive/internal/label"
	"flowdrive/route/expr"
	"flowdrive/schema"
)

// TestReference compares the pages of the manual that are made of the schemas, the commands
// and the settings with these; -update writes them. Nothing in them is without a text.
func TestReference(t *testing.T) {
	t.Parallel()
	r := &reference{T: t}
	pages := map[string]string{
		"commands.md": r.commands(), "settings.md": r.settings(), "documents.md": r.documents(), "events.md": r.events(),
		"route.md":    r.schemaPage("route", "Fields of a route", "A route is a YAML or JSON document in `Workflow/Routes/`. What the fields do together is in [the contract](../contract/routes.md); the verbs of steps are [a page of their own](steps.md).", "step", "retry", "assignment", "value", "valueOrSecret"),
		"steps.md":    r.partPage("route", "Steps", "A handler is a list of steps; each is an object with one of these verbs, and optionally `if`. A value is a literal, a text with [labels](labels.md), or `{cel: \"expression\"}` with an [expression](expressions.md). [The contract](../contract/routes.md#5-steps-and-expressions) says when they are done and what bounds them.", "step", "retry", "assignment", "value", "valueOrSecret"),
		"schedule.md": r.schemaPage("schedule-entry", "Fields of a schedule entry", "A schedule entry is a YAML or JSON document in `Workflow/Schedule/`. [The contract](../contract/schedule.md) says how instants are computed.", "form"),
		"scenario.md": r.schemaPage("scenario", "Fields of a scenario", "A scenario is a story of a route that is played on a clock that jumps: see [Keep a route from being broken](../scenarios.md). `flowdrive help simulate` has the language in words."),
	}
	for name, text := range pages {
		file := filepath.Join("..", "..", "docs", "reference", name)
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		if diff := gocmp.Diff(strings.Split(string(got), "\n"), strings.Split(text, "\n")); diff != "" {
			t.Errorf("docs/reference/%s is stale; \"make reference\" writes it (-page +program):\n%s", name, diff)
		}
	}
}

// reference makes pages, and reports what has no text.
type reference struct {
	*testing.T
	root schemaNode // of the page

	exemplary bool // each field of the page has an example

	types map[string]string // what the page names and explains at its end
}

// schemaNode is a JSON Schema.
type schemaNode map[string]any

func (r *reference) read(name string) schemaNode {
	text, err := fs.ReadFile(schema.Files(), name)
	if err != nil {
		r.Fatal(err)
	}
	var node schemaNode
	if err := json.Unmarshal(text, &node); err != nil {
		r.Fatal(err)
	}
	return node
}

// schemaPage makes a page of a schema without the definitions that are left out.
func (r *reference) schemaPage(name, title, words string, without ...string) string {
	r.root, r.exemplary = r.read(name+".schema.json"), true
	var b strings.Builder
	r.begin(&b, title, words)
	r.fields(&b, r.root, "", 2)
	r.kinds(&b)
	for _, d := range r.definitions(r.root) {
		if !slices.Contains(without, d) {
			r.part(&b, d)
		}
	}
	return r.end(&b)
}

// partPage makes a page of some definitions of a schema.
func (r *reference) partPage(name, title, words string, parts ...string) string {
	r.root, r.exemplary = r.read(name+".schema.json"), true
	var b strings.Builder
	r.begin(&b, title, words)
	for _, d := range parts {
		r.part(&b, d)
	}
	return r.end(&b)
}

// end explains the types that the page names.
func (r *reference) end(b *strings.Builder) string {
	if len(r.types) > 0 {
		b.WriteString("## Types\n\n| type | what it is |\n|---|---|\n")
		for _, name := range sortedNames(r.types) {
			fmt.Fprintf(b, "| %s | %s |\n", name, escaped(r.types[name]))
		}
	}
	r.types = nil
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *reference) begin(b *strings.Builder, title, words string) {
	fmt.Fprintf(b, "# %s\n\n%s\n\nThis page is made of the JSON Schema. No version has been released so far: each field is there from the first one on. The [documents](documents.md) that the server writes have more fields, and all schemas are in `Workflow/Schemas/`.\n\n", title, words)
}

// part writes a definition that has fields.
func (r *reference) part(b *strings.Builder, name string) {
	of := asNode(asNode(r.root["$defs"])[name])
	if len(asNode(of["properties"])) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n", name)
	if text, ok := of["description"].(string); ok {
		fmt.Fprintf(b, "%s\n\n", escaped(text))
	}
	r.fields(b, of, "", 3)
}

// definitions returns the names of the definitions of a schema, sorted.
func (r *reference) definitions(of schemaNode) []string {
	return sortedNames(asNode(of["$defs"]))
}

// fields writes the table of the fields of a schema, and those of fields that have some.
func (r *reference) fields(b *strings.Builder, of schemaNode, above string, level int) {
	properties := asNode(of["properties"])
	if len(properties) == 0 {
		return
	}
	var required []string
	for _, name := range asList(of["required"]) {
		required = append(required, fmt.Sprint(name))
	}
	if r.exemplary {
		b.WriteString("| field | what it takes | example | what it is |\n|---|---|---|---|\n")
	} else {
		b.WriteString("| field | what it takes | what it is |\n|---|---|---|\n")
	}
	var below []string
	for _, name := range sortedNames(properties) {
		p := asNode(properties[name])
		text, ok := p["description"].(string)
		if ref, is := p["$ref"].(string); !ok && is {
			text, ok = r.find(ref)["description"].(string)
		}
		if !ok || strings.TrimSpace(text) == "" {
			r.Errorf("%s%s has no description", above, name)
		}
		if value, has := p["default"]; has && value != nil {
			quoted, err := json.Marshal(value)
			if err != nil {
				r.Error(err)
			}
			text += fmt.Sprintf(" Default: `%s`.", quoted)
		}
		takes := r.takes(p)
		if slices.Contains(required, name) {
			takes += "; required"
		}
		if r.exemplary {
			takes += " | " + r.example(above+name, p)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", above+name, takes, escaped(text))
		if len(asNode(p["properties"])) > 0 {
			below = append(below, name)
		}
	}
	b.WriteString("\n")
	for _, name := range below {
		fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), above+name)
		r.fields(b, asNode(properties[name]), above+name+".", level)
	}
}

// kinds writes the fields that a document has by its type: the conditions of its schema.
func (r *reference) kinds(b *strings.Builder) {
	common := asNode(r.root["properties"])
	for _, one := range asList(r.root["allOf"]) {
		kind, ok := asNode(asNode(asNode(asNode(one)["if"])["properties"])["type"])["const"].(string)
		if !ok {
			continue
		}
		then := maps.Clone(asNode(asNode(one)["then"]))
		own := maps.Clone(asNode(then["properties"]))
		maps.DeleteFunc(own, func(name string, _ any) bool { return common[name] != nil }) // it is bounded there
		then["properties"] = map[string]any(own)
		fmt.Fprintf(b, "## Type %s\n\nThe fields of `type: %s`, beside those above.\n\n", kind, kind)
		r.fields(b, then, "", 3)
	}
}

// find returns the definition that a reference names.
func (r *reference) find(ref string) schemaNode {
	at := r.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = asNode(at[name])
	}
	return at
}

// takes says in words what a schema takes.
func (r *reference) takes(p schemaNode) string {
	if ref, ok := p["$ref"].(string); ok {
		name, of := path.Base(ref), r.find(ref)
		if len(asNode(of["properties"])) > 0 {
			return spaced(name)
		}
		text, ok := of["description"].(string)
		if !ok {
			return r.takes(of)
		}
		if r.types == nil {
			r.types = map[string]string{}
		}
		r.types[spaced(name)] = text
		return spaced(name)
	}
	if p["readOnly"] == true && p["type"] == nil {
		return "written by the server"
	}
	if list := asList(p["enum"]); list != nil {
		var words []string
		for _, v := range list {
			if word := fmt.Sprintf("`%v`", v); v != nil && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
		return strings.Join(words, ", ")
	}
	if value, ok := p["const"]; ok {
		return fmt.Sprintf("`%v`", value)
	}
	if several := cmp.Or(len(asList(p["oneOf"])), len(asList(p["anyOf"]))); several > 0 {
		var words []string
		for _, one := range append(asList(p["oneOf"]), asList(p["anyOf"])...) {
			if w := r.takes(asNode(one)); w != "null" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, ", or ")
	}
	var words []string
	types := asList(p["type"])
	if one, ok := p["type"].(string); ok {
		types = []any{one}
	}
	for _, of := range types {
		switch of {
		case "null":
		case "array":
			items := r.takes(asNode(p["items"]))
			words = append(words, "list of "+strings.TrimPrefix(items, "anything"))
		case "object":
			if values := asNode(p["additionalProperties"]); len(values) > 0 {
				words = append(words, "object of "+r.takes(values))
			} else {
				words = append(words, "object")
			}
		case "string":
			words = append(words, "text")
		case "integer":
			words = append(words, "whole number")
		default:
			words = append(words, fmt.Sprint(of))
		}
	}
	least, most := p["minimum"], p["maximum"]
	text := strings.Join(words, " or ")
	switch {
	case len(words) == 0 && len(types) > 0:
		return "null"
	case len(words) == 0:
		return "anything"
	case least != nil && most != nil:
		text += fmt.Sprintf(" from %.0f to %.0f", least, most)
	case least != nil:
		text += fmt.Sprintf(" from %v", least)
	}
	return text
}

// example returns an example of a field: that of its schema, its default, or a value that it
// takes. A field with fields has them below.
func (r *reference) example(name string, p schemaNode) string {
	values := append(slices.Clone(asList(p["examples"])), p["default"], p["const"])
	values = append(values, asList(p["enum"])...)
	if p["type"] == "boolean" || slices.Contains(asList(p["type"]), any("boolean")) {
		values = append(values, true)
	}
	for _, value := range values {
		if value == nil {
			continue
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			r.Error(err)
		}
		return "`" + strings.ReplaceAll(strings.TrimSpace(b.String()), "|", `\|`) + "`"
	}
	of := p
	if ref, is := p["$ref"].(string); is {
		of = r.find(ref)
	}
	switch {
	case len(asNode(of["properties"])) > 0:
		return "see there"
	case p["readOnly"] == true:
		return ""
	}
	r.Errorf("%s has no example: give its schema examples", name)
	return ""
}

// documents makes the page of all documents of the drive that have no page of their own.
func (r *reference) documents() string {
	r.exemplary = false
	var b strings.Builder
	b.WriteString("# Documents of the drive\n\nThe fields of all documents that are read and written, made of the JSON Schemas in `Workflow/Schemas/`. [Routes](route.md), [schedule entries](schedule.md) and [scenarios](scenario.md) have pages of their own.\n\n")
	names, err := fs.Glob(schema.Files(), "*.schema.json")
	if err != nil {
		r.Fatal(err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(file, ".schema.json")
		r.root = r.read(file)
		if name != "route" && name != "scenario" && name != "schedule-entry" {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", r.root["title"], escaped(fmt.Sprint(r.root["description"])))
			of := r.root
			if items := asNode(of["items"]); len(items) > 0 {
				of = items
			}
			r.fields(&b, of, "", 3)
		}
		for _, d := range r.definitions(r.root) {
			if name == "route" || name == "scenario" || name == "schedule-entry" && d != "form" {
				continue
			}
			if part := asNode(asNode(r.root["$defs"])[d]); len(asNode(part["properties"])) > 0 {
				fmt.Fprintf(&b, "### %s: %s\n\n", r.root["title"], d)
				r.fields(&b, part, "", 4)
			}
		}
	}
	return regexp.MustCompile(`\n#{5,}`).ReplaceAllString(r.end(&b), "\n####")
}

// commands makes the page of all commands.
func (r *reference) commands() string {
	var b strings.Builder
	b.WriteString("# All commands\n\nEvery command with its arguments and flags, as `flowdrive help COMMAND` prints them. What belongs together, exit codes and output for programs are in [Commands and settings](../commands.md). Every command takes `--config` and `--help`.\n\n")
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			if sub.HasSubCommands() {
				walk(sub)
				continue
			}
			if sub.Short == "" {
				r.Errorf("%s has no text", sub.CommandPath())
			}
			fmt.Fprintf(&b, "## %s\n\n```text\n%s\n```\n\n%s\n\n", sub.CommandPath(), sub.UseLine(), cmp.Or(sub.Long, sub.Short+"."))
			if sub.CommandPath() == "flowdrive serve" {
				b.WriteString("Its flags are [the settings](settings.md).\n\n")
				continue
			}
			r.flags(&b, sub.LocalNonPersistentFlags(), func(f *pflag.Flag) bool { return f.Name != "help" })
		}
	}
	walk(rootCommand())
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// flags writes a table of flags.
func (r *reference) flags(b *strings.Builder, flags *pflag.FlagSet, shown func(*pflag.Flag) bool) {
	var rows []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !shown(f) {
			return
		}
		if strings.TrimSpace(f.Usage) == "" {
			r.Errorf("--%s has no text", f.Name)
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name + strings.TrimRight(" "+value, " ") + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && !strings.Contains(usage, "default") {
			usage += fmt.Sprintf(" (default `%s`)", f.DefValue)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", name, escaped(usage)))
	})
	if len(rows) > 0 {
		fmt.Fprintf(b, "| flag | what it does |\n|---|---|\n%s\n\n", strings.Join(rows, "\n"))
	}
}

// settings makes the page of the settings of the server.
func (r *reference) settings() string {
	serve, _, err := rootCommand().Find([]string{"serve"})
	if err != nil {
		r.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Settings of the server\n\nEach is a flag of `flowdrive serve`, a key of the configuration file without the dashes, and a variable of the environment: `--log-level debug`, `log-level: debug`, `FLOWDRIVE_LOG_LEVEL=debug`. [Commands and settings](../commands.md#settings) says which one counts. `flowdrive config show` prints what is in force.\n\n")
	r.flags(&b, serve.LocalNonPersistentFlags(), func(f *pflag.Flag) bool { return f.Name != "help" })
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// TestWordsOfRoutesAreListed: every label, and every variable and function of expressions, is
// in the reference, and nothing else is.
func TestWordsOfRoutesAreListed(t *testing.T) {
	t.Parallel()
	labels := map[string]bool{"XATTR_name": true}
	for _, name := range label.Names() {
		labels[name] = true
	}
	compareListed(t, "labels.md", `(?m)^\| `+"`"+`\$__(\w+)__;`, labels)
	words := map[string]bool{}
	for _, word := range expr.Words() {
		words[word] = true
	}
	compareListed(t, "expressions.md", `(?m)^\| `+"`"+`([\w.]+)`, words)
}

// compareListed compares the names at the beginnings of a page's rows.
func compareListed(t *testing.T, page, row string, names map[string]bool) {
	t.Helper()
	text, err := fs.ReadFile(docs.Files(), "reference/"+page)
	if err != nil {
		t.Error(err)
		return
	}
	listed := map[string]bool{}
	for _, found := range regexp.MustCompile(row).FindAllStringSubmatch(string(text), -1) {
		listed[found[1]] = true
		if !names[found[1]] {
			t.Errorf("docs/reference/%s has %s, which there is not", page, found[1])
		}
	}
	for _, name := range sortedNames(names) {
		if !listed[name] {
			t.Errorf("docs/reference/%s has no row for %s", page, name)
		}
	}
}

func asNode(v any) schemaNode {
	switch v := v.(type) {
	case map[string]any:
		return v
	case schemaNode:
		return v
	}
	return nil
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func sortedNames[M ~map[string]V, V any](m M) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// spaced parts the words of a name.
func spaced(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "$1 $2"))
}

// escaped returns a text for the cell of a table.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", `\<`).Replace(text)
}
