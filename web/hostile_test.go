package web

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// hostile is text that would be markup, an attribute or script if a page let it.
const hostile = `"'></title></svg></textarea>--><img src=x onerror=alert(1)><script>alert(1)</script><svg onload=alert(1)>${1}{{.}}`

// quoted returns a text as JSON, which is YAML, too.
func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always is JSON
	}
	return string(out)
}

// hostileThings are what furnishHostile has made.
type hostileThings struct{ id, entry, file string }

// furnishHostile writes hostile texts into every field that takes text.
func (g *rig) furnishHostile(tb testing.TB) hostileThings {
	tb.Helper()
	h := quoted(hostile)
	route := "title: " + h + "\ndescription: " + h + "\naccess: {start: [everyone], admin: [ann]}\nxattrs: {why: {type: string, title: " + h + "}}\n" +
		"roles: {owner: {title: " + h + ", assign: ['team:core']}}\nstates: {new: {title: " + h + ", type: start}, done: {title: " + h + ", type: complete}}\n" +
		"timers: {deadline: {limit: P1D, onExpire: [{warn: " + h + "}]}}\n" +
		"actions: {begin: {trigger: init}, finish: {title: " + h + ", past: " + h + ", in: [new], to: done, role: owner, resolutions: {no: " + h + "}}, note: {title: " + h + ", in: [new], allowed: [owner]}}\n"
	g.must(tb, "ann", 201, "PUT", "/dav/Workflow/Routes/hostile.yaml", route)
	g.must(tb, "ann", 204, "PUT", "/dav/Workflow/Routes/hostile.yaml", strings.ReplaceAll(route, "{{.}}", "{{.}}!"))
	g.must(tb, "admin", 204, "PUT", "/dav/Admin/Users/bob.json", `{"fullName": `+h+`}`)
	g.must(tb, "admin", 201, "PUT", "/dav/Admin/Teams/odd.json", `{"members": ["ann"]}`)
	g.must(tb, "admin", 201, "PUT", "/dav/Admin/Holds/odd.json", `{"route": "bug", "reason": `+h+`}`)
	at := g.must(tb, "bob", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "hostile", "title": `+h+`, "xattrDict": {"why": `+h+`}}`).header.Get("Location")
	out := hostileThings{id: regexp.MustCompile(`\d+`).FindString(at), file: `"'><img src=x onerror=alert(1)>.txt`}
	g.must(tb, "ann", 204, "PUT", "/dav/Workflow/Cases/"+out.id+"/Actions/note.json", `{"comment": `+h+`}`)
	at = g.must(tb, "ann", 201, "PUT", "/dav/Workflow/Schedule/new.json", `{"type": "interval", "title": `+h+`, "route": "hostile", "hours": 6, "context": "core", "note": `+h+`, "paused": true, "xattrDict": {"why": `+h+`}}`).header.Get("Location")
	out.entry = regexp.MustCompile(`[0-9a-f]{32}`).FindString(at)
	file := url.PathEscape(out.file)
	g.must(tb, "ann", 201, "PUT", "/dav/Documents/core/"+file, hostile)
	g.must(tb, "ann", 204, "PUT", "/dav/Documents/core/"+file, hostile+"!")
	g.must(tb, "ann", 201, "PUT", "/attachfs/&amp;%20onload=alert(1).txt", hostile)
	return out
}

// addresses are the pages that show what is hostile.
func (h hostileThings) addresses() []string {
	return []string{
		"/tasks", "/tasks?open=" + h.id + ".finish", "/tasks?open=" + h.id + ".finish&do=delegate", "/tasks/done", "/cases", "/cases/" + h.id, "/cases/" + h.id + "?open=note", "/cases/" + h.id + "?do=title", "/cases/" + h.id + "?do=fields", "/cases/" + h.id + "?do=people",
		"/routes", "/routes/hostile", "/routes/hostile/edit", "/routes/hostile/board", "/routes/hostile/board?do=move&case=" + h.id, "/routes/hostile/versions", "/routes/hostile/versions?from=1&to=2", "/routes/hostile/versions/1",
		"/routes/hostile/access", "/routes/hostile/report", "/routes/hostile/start", "/schedule", "/schedule/" + h.entry, "/schedule/" + h.entry + "/edit", "/schedule/" + h.entry + "?do=delete",
		"/documents/core", "/documents/core/" + url.PathEscape(h.file), "/documents/core/.history", "/documents/core?do=rename&name=" + url.QueryEscape(h.file), "/attachments",
		"/search?q=alert", "/late", "/account", "/mount", "/admin/users", "/admin/users?do=user&name=bob", "/admin/teams", "/admin/teams?do=team&name=odd", "/admin/holds", "/admin/audit/2012-11-09",
	}
}

// activeIn returns what of a page would run or be fetched though nobody wrote it into the
// templates.
func activeIn(page string) (found []string) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return []string{err.Error()}
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || strings.HasPrefix(value, "javascript:") || a.Key == "src" && !strings.HasPrefix(a.Val, "/") {
				found = append(found, fmt.Sprintf("<%s %s=%q>", n.Data, a.Key, a.Val))
			}
		}
		if n.Data == "script" && n.FirstChild != nil || n.Data == "iframe" || n.Data == "object" || n.Data == "embed" || n.Data == "base" {
			found = append(found, "<"+n.Data+">")
		}
	}
	return found
}

// TestHostileTexts: what is written into any field is text on every page, in what is said
// of parameters, and in the pictures.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	h := g.furnishHostile(t)
	b := g.browse(t, "admin")
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Teams/core.json", `{"members": ["ann", "bob", "cy", "admin"]}`)
	shown := 0
	for _, address := range h.addresses() {
		got := b.get(t, address)
		if got.status != 200 {
			t.Errorf("%s: got %d %s", address, got.status, textOf(got.body, "main"))
		}
		for _, f := range activeIn(got.body) {
			t.Errorf("%s: %s", address, f)
		}
		for _, f := range faultsOf(got.body) {
			t.Errorf("%s: %s", address, f)
		}
		if strings.Contains(got.body, "alert(1)") {
			shown++
		}
	}
	if shown < 30 {
		t.Errorf("only %d pages show what is hostile", shown)
	}
	asked := url.QueryEscape(hostile)
	for _, one := range (&pages{}).all() {
		address := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllStringFunc(one.pattern, func(v string) string {
			return map[string]string{"{name}": "hostile", "{id}": h.id, "{uuid}": h.entry, "{version}": "1", "{path...}": "core", "{date}": "2012-11-09", "{team}": "core", "{$}": ""}[v]
		})
		for _, name := range append([]string{"part", "zzz" + asked}, one.query...) {
			got := b.get(t, address+"?"+strings.TrimSuffix(name, "*")+"="+asked)
			if got.status >= 500 {
				t.Errorf("%s?%s: got %d", address, name, got.status)
			}
			for _, f := range activeIn(got.body) {
				t.Errorf("%s?%s: %s", address, name, f)
			}
		}
	}
	for _, picture := range []string{"Cases/" + h.id + "/diagram.svg", "Routes/hostile/diagram.svg", "Routes/hostile/Versions/1.svg"} {
		got := g.must(t, "admin", 200, "GET", "/dav/Workflow/"+picture, "")
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "image/svg+xml") || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is %s", picture, kind)
		}
		for _, f := range activeInPicture(got.body) {
			t.Errorf("%s: %s", picture, f)
		}
	}
	for _, text := range []string{"Cases/" + h.id + "/diagram.txt", "Routes/hostile/diagram.mmd", "Cases/" + h.id + "/log.txt"} {
		if kind := g.must(t, "admin", 200, "GET", "/dav/Workflow/"+text, "").header.Get("Content-Type"); strings.Contains(kind, "html") || strings.Contains(kind, "xml") {
			t.Errorf("%s is %s", text, kind)
		}
	}
}

// activeInPicture returns what of a picture would run or be fetched.
func activeInPicture(picture string) (found []string) {
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			return append(found, err.Error())
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "script", "foreignObject", "image", "iframe", "img":
			found = append(found, "<"+e.Name.Local+">")
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "javascript:") {
				found = append(found, fmt.Sprintf("<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value))
			}
		}
	}
}
