package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// methods are what is tried on every kind of node.
func methods() []string {
	return []string{"OPTIONS", "GET", "HEAD", "PUT", "DELETE", "PROPFIND", "MKCOL", "PROPPATCH", "COPY", "MOVE", "LOCK", "UNLOCK", "POST"}
}

// lockMethods and moveMethods have tables of their own.
func lockMethods() []string { return []string{"LOCK", "UNLOCK"} }

func moveMethods() []string { return []string{"COPY", "MOVE"} }

// allRights returns the whole table.
func allRights(t *testing.T) []right {
	t.Helper()
	others := slices.DeleteFunc(methods(), func(m string) bool {
		return slices.Contains(lockMethods(), m) || slices.Contains(moveMethods(), m)
	})
	return slices.Concat(
		readRights(t, rightsTable, others), readRights(t, rightsOfLocks, lockMethods()), readRights(t, rightsOfMoves, moveMethods()),
	)
}

// actors are the columns of the table.
func actors() []string {
	return []string{"admin", "owner", "member", "player", "stakeholder", "deputy", "stranger", "nobody"}
}

// columns are what the table has for each actor, in their order.
type columns [8]int

// right is a line of the table: a request to one kind of node, and what it
// gives each actor. Path and body hold the names of the fixture in braces.
type right struct {
	line               int // of the table, of which it is
	method, path, body string
	header             []string
	want               columns
}

// changes reports whether the request, where it succeeds, leaves the drive
// another.
func (r *right) changes(code int) bool {
	switch r.method {
	case "OPTIONS", "GET", "HEAD", "PROPFIND":
		return false
	case "COPY":
		return false // undone takes it back
	case "LOCK":
		return code == http.StatusCreated // undone takes the others back
	}
	return code < http.StatusMultipleChoices && !strings.Contains(r.path, "ryRun") && r.body != noTimestamp
}

func (r *right) String() string {
	return fmt.Sprintf("line %d: %s %s %s", r.line, r.method, r.path, r.body)
}

// noTimestamp is the body of a PROPPATCH that every node takes, and that
// changes nothing.
const noTimestamp = `<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop><Z:Win32FileAttributes xmlns:Z="urn:schemas-microsoft-com:"/></D:prop></D:remove></D:propertyupdate>`

// rightLine is a line of the table below the paths that it is about.
type rightLine struct {
	line    int
	methods []string
	query   string
	body    string
	want    columns
}

// readRights reads the table. A kind of node is a line or more that begin
// with the paths of its nodes, and below them, indented, what may be done: the
// methods, a query and a body where there are any, and what each actor is
// answered. What a kind does not say is said once for all under "*".
func readRights(t *testing.T, table string, methods []string) []right {
	t.Helper()
	var out []right
	var common, lines []rightLine
	var paths []string
	end := func() {
		if slices.Contains(paths, "*") {
			common = lines
		} else {
			for _, path := range paths {
				out = append(out, kindOf(t, path, methods, common, lines)...)
			}
		}
		paths, lines = nil, nil
	}
	for i, text := range strings.Split(table, "\n") {
		switch {
		case strings.TrimSpace(text) == "" || text[0] == '#':
		case text[0] != ' ':
			if len(lines) > 0 {
				end()
			}
			paths = append(paths, text)
		default:
			lines = append(lines, readRightLine(t, i+1, text))
		}
	}
	end()
	return out
}

func readRightLine(t *testing.T, number int, text string) rightLine {
	t.Helper()
	l := rightLine{line: number}
	at := strings.LastIndex(text, " | ")
	if at < 0 {
		t.Fatalf("the table, line %d: no answers", number)
	}
	codes := strings.Fields(text[at+3:])
	if len(codes) != len(l.want) {
		t.Fatalf("the table, line %d: %d answers", number, len(codes))
	}
	for i, code := range codes {
		n, err := strconv.Atoi(code)
		if err != nil {
			t.Fatalf("the table, line %d: %v", number, err)
		}
		l.want[i] = n
	}
	rest := strings.TrimSpace(text[:at])
	for rest != "" {
		word, after, _ := strings.Cut(rest, " ")
		name, query, _ := strings.Cut(word, "?")
		if !slices.Contains(methods(), name) {
			break
		}
		l.methods, l.query, rest = append(l.methods, name), query, strings.TrimSpace(after)
	}
	l.body = rest
	return l
}

// kindOf returns the requests to one kind of node: every one of the methods.
func kindOf(t *testing.T, path string, methods []string, common, lines []rightLine) []right {
	t.Helper()
	var out []right
	said := map[string]bool{}
	add := func(l rightLine, method string) {
		r := right{line: l.line, method: method, path: path, body: l.body, want: l.want}
		if l.query != "" {
			r.path += "?" + l.query
		}
		switch method {
		case "PROPFIND":
			r.header = []string{"Depth", "1"}
		case "POST":
			r.header = []string{"Content-Type", "application/json"}
		case "COPY", "MOVE":
			r.header = []string{"Destination", "/dav/Documents/{me}/copy"}
		case "LOCK":
			r.body = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`
		case "UNLOCK":
			r.header = []string{"Lock-Token", "<urn:uuid:00000000-0000-4000-8000-000000000000>"}
		}
		out = append(out, r)
	}
	for _, l := range lines {
		for _, method := range l.methods {
			said[method] = true
			add(l, method)
		}
	}
	for _, l := range common {
		for _, method := range l.methods {
			if !said[method] {
				said[method] = true
				add(l, method)
			}
		}
	}
	if like := slices.IndexFunc(lines, func(l rightLine) bool { return slices.Contains(l.methods, "PROPFIND") }); like >= 0 && !said["PROPPATCH"] {
		said["PROPPATCH"] = true
		l := lines[like]
		l.body = noTimestamp
		add(l, "PROPPATCH")
	}
	for _, method := range methods {
		if !said[method] {
			t.Fatalf("the table says nothing of %s %s", method, path)
		}
	}
	return out
}

// furnishing is a data folder with something of every kind, from which
// servers are copied.
type furnishing struct {
	data      string
	passwords map[string]string
	names     map[string]string // what the names in braces stand for
	nowhere   map[string]string // the same of what does not exist, as long
}

// open lets f use a server on a copy of the folder.
func (f *furnishing) open(t *testing.T, use func(s *inProcess)) {
	t.Helper()
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(f.data)); err != nil {
		t.Fatal(err)
	}
	onFolder(t, data, f.passwords, use)
}

func onFolder(t *testing.T, data string, passwords map[string]string, use func(s *inProcess)) {
	t.Helper()
	withSettings(t, &settings{data: data, sandbox: "2012-11-09T12:34:56Z", logLevel: "error"}, passwords, use)
}

// furnishForAll makes the data folder: what the actors have on the drive, and
// what they are to each other. Sam is nobody of the table: he is the other
// member and the administrator of the team, so that the member of the table
// is neither the author nor the starter of what the team has.
func furnishForAll(t *testing.T) *furnishing {
	t.Helper()
	f := &furnishing{data: t.TempDir(), passwords: map[string]string{}}
	onFolder(t, f.data, f.passwords, func(s *inProcess) {
		for _, user := range append(actors()[1:7], "sam") {
			s.passwords[user] = "a password of " + user
			s.must("PUT", "/dav/Admin/Users/"+user+".json", `{"password": "`+s.passwords[user]+`"}`)
		}
		s.must("PUT", "/dav/Admin/Teams/ops.json", `{"members": ["member", "sam"], "admins": ["sam"]}`)
		s.must("PUT", "/dav/Admin/Holds/quiet.json", `{"group": "day", "reason": "Shift change"}`)
		f.names = map[string]string{"{date}": "2012-11-09", "{user}": "owner", "{team}": "ops", "{hold}": "quiet"}
		f.furnish(s)
	})
	f.nowhere = map[string]string{}
	for name, value := range f.names {
		f.nowhere[name] = unlike(value)
	}
	f.nowhere["{date}"] = "2012-11-01"
	return f
}

// unlike returns another name of the same form and length.
func unlike(value string) string {
	first := value[0] + 1
	switch {
	case value[0] == '9':
		first = '8'
	case value[0] < '9':
		first = '9' // no id goes so far
	case value[0] == 'f':
		first = 'e'
	}
	return string(first) + value[1:]
}

// made makes a request of the furnishing and returns the name that was given
// to what it has made.
func (s *inProcess) made(user, method, path, body string, header ...string) string {
	s.Helper()
	w := s.as(user, method, path, body, header...)
	if w.Code >= http.StatusMultipleChoices {
		s.Fatalf("%s: %s %s: %d %s", user, method, path, w.Code, w.Body)
	}
	location := w.Header().Get("Location")
	return strings.TrimSuffix(location[strings.LastIndexByte(location, '/')+1:], ".json")
}

func (f *furnishing) furnish(s *inProcess) {
	s.Helper()
	const roles = `{xattrs: {amount: {type: number, edit: [clerk]}, sealed: {type: string, edit: []}}, roles: {clerk: {assign: ["user:player"], pick: ["user:player", "team:ops"]}, boss: {assign: ["user:sam"]}}, `
	const rules = `states: {open: {type: start}, done: {type: complete}}, actions: {begin: {trigger: init, to: open}, finish: {in: [open], role: clerk, to: done}, reopen: {in: [done], role: clerk, to: open}}}`
	for _, r := range []struct{ owner, name, access string }{
		{"owner", "desk", "{start: [owner, ops], read: [player]}"},
		{"owner", "idle", "{start: [owner, ops], read: [player]}"},
		{"owner", "told", "{start: [owner, ops], read: [player]}"},
		{"admin", "errand", "{start: [owner]}"},
		{"sam", "led", "{start: [], admin: [ops]}"},
	} {
		s.made(r.owner, "PUT", "/dav/Workflow/Routes/"+r.name+".yaml", roles+"access: "+r.access+", "+rules)
		f.names["{"+r.name+"}"] = r.name
	}
	s.made("owner", "PUT", "/dav/Workflow/Routes/told.scenario.yaml", `{users: [owner], teams: {ops: []}, as: owner, steps: [{start: {}}]}`)
	s.made("player", "PUT", "/dav/Account/me.json", `{"deputy": {"user": "deputy", "to": "2012-12-24"}}`)
	s.made("owner", "PUT", "/dav/Account/AppPasswords/phone.json", ``)
	s.made("owner", "PUT", "/dav/Account/CalendarLinks/phone.json", ``)
	f.names["{phone}"] = "phone"
	f.furnishContents(s)
	f.furnishSchedule(s)
	f.furnishCases(s)
}

func (f *furnishing) furnishContents(s *inProcess) {
	s.Helper()
	f.names["{file}"] = s.made("owner", "PUT", "/attachfs/plan.csv", "1,2")
	f.names["{used}"] = s.made("owner", "PUT", "/attachfs/used.csv", "3,4")
	f.names["{shared}"] = s.made("sam", "PUT", "/attachfs/shared.csv?context=ops", "5,6")
	for _, d := range []struct{ by, folder, file string }{
		{"owner", "owner/plans", "hall.txt"}, {"member", "ops/rates", "day.csv"}, {"admin", "everyone/news", "today.txt"},
	} {
		s.made(d.by, "MKCOL", "/dav/Documents/"+d.folder, "")
		s.made(d.by, "PUT", "/dav/Documents/"+d.folder+"/"+d.file, "hello")
	}
}

func (f *furnishing) furnishSchedule(s *inProcess) {
	s.Helper()
	const nightly = `"type": "cron", "hour": "23", "minute": "0"}`
	f.names["{nightly}"] = "nightly"
	f.names["{entry}"] = s.made("owner", "PUT", "/dav/Workflow/Schedule/nightly.json", `{"route": "desk", "attachmentUUID": "`+f.names["{used}"]+`", `+nightly)
	f.names["{shift}"] = s.made("sam", "PUT", "/dav/Workflow/Schedule/shift.json", `{"route": "desk", "context": "ops", `+nightly)
	f.names["{common}"] = s.made("admin", "PUT", "/dav/Workflow/Schedule/common.json", `{"route": "bug", "context": "everyone", `+nightly)
}

func (f *furnishing) furnishCases(s *inProcess) {
	s.Helper()
	const parties = `"roles": {"clerk": ["player"]}, "stakeholders": ["stakeholder"], "xattrDict": {"plain": "1"}, "input": "hello"}`
	id := s.made("sam", "PUT", "/dav/Workflow/Cases/counter.json", `{"route": "desk", "context": "ops", "title": "Counter", `+parties)
	f.names["{case}"], f.names["{given}"] = id, "counter"
	s.made("sam", "PUT", "/dav/Workflow/Cases/"+id+"/Labels/remark", "hello")
	f.names["{bound}"] = s.made("player", "PUT", "/attachfs/"+id+"/photo.png", "a photo")
	f.names["{begun}"] = s.made("owner", "PUT", "/dav/Workflow/Cases/begun.json", `{"route": "errand", "title": "Begun", `+parties)
	f.names["{later}"] = s.made("owner", "PUT", "/dav/Workflow/Cases/later.json", `{"route": "errand", "title": "Later", "startAt": "2012-12-24T00:00:00Z", `+parties)
	f.names["{gone}"] = s.made("sam", "PUT", "/dav/Workflow/Cases/gone.json", `{"route": "desk", "context": "ops", "title": "Gone", `+parties)
	s.made("sam", "DELETE", "/dav/Workflow/Cases/gone.json", "")
	f.names["{past}"] = s.made("sam", "PUT", "/dav/Workflow/Cases/past.json", `{"route": "desk", "context": "ops", "title": "Past", `+parties)
	s.made("sam", "DELETE", "/dav/Workflow/Cases/"+f.names["{past}"]+".json", "")
	s.made("sam", "PUT", "/dav/Workflow/Cases/"+f.names["{past}"]+".json", `{"do": "archive"}`)
	f.names["{taken}"] = s.made("sam", "PUT", "/dav/Workflow/Cases/taken.json", `{"route": "desk", "context": "ops", "title": "Taken", `+parties)
	s.made("player", "PUT", "/dav/Workflow/Cases/"+f.names["{taken}"]+"/Actions/finish.json", `{"do": "accept"}`)
	s.made("member", "PUT", "/dav/Workflow/Routes/desk/order.txt", "an order")
	f.names["{order}"] = "order.txt"
	listing := s.as("sam", "PROPFIND", "/dav/Workflow/Cases/"+id+"/Messages/", "", "Depth", "1").Body.String()
	message := regexp.MustCompile(`/Messages/([0-9a-f]{32})`).FindStringSubmatch(listing)
	if message == nil {
		s.Fatalf("no messages: %s", listing)
	}
	f.names["{message}"] = message[1]
}

// ask makes the request of a line as the actor.
func (s *inProcess) ask(actor string, r *right, names map[string]string) *httptest.ResponseRecorder {
	s.Helper()
	if actor == "nobody" {
		actor = ""
	}
	var pairs []string
	for name, value := range names {
		pairs = append(pairs, name, value)
	}
	replacer := strings.NewReplacer(append(pairs, "{me}", cmp.Or(actor, "owner"))...)
	header := slices.Clone(r.header)
	for i := range header {
		header[i] = replacer.Replace(header[i])
	}
	return s.as(actor, r.method, replacer.Replace(r.path), replacer.Replace(r.body), header...)
}

// undone takes back what a COPY or LOCK has done, so that not each of them
// needs a server of its own.
func (s *inProcess) undone(actor string, r *right, names map[string]string, w *httptest.ResponseRecorder) {
	s.Helper()
	undo := &right{path: r.path}
	switch {
	case r.method == "COPY" && w.Code < http.StatusMultipleChoices:
		undo.method, undo.path = "DELETE", "/dav/Documents/"+actor+"/copy"
	case r.method == "LOCK" && w.Code == http.StatusOK:
		undo.method, undo.header = "UNLOCK", []string{"Lock-Token", w.Header().Get("Lock-Token")}
	default:
		return
	}
	if again := s.ask(actor, undo, names); again.Code != http.StatusNoContent {
		s.Errorf("%v as %s: undone by %s: got %d: %.300s", r, actor, undo.method, again.Code, again.Body)
	}
}

// all returns everything that is stored, as an administrator finds it.
func (s *inProcess) all() string {
	var out strings.Builder
	for _, path := range []string{
		"/dav/Workflow/Schedule", "/dav/Workflow/Routes", "/dav/Workflow/Cases", "/dav/Workflow/Archive", "/attachfs", "/dav/Admin/Users", "/dav/Admin/Teams",
		"/dav/Documents/owner", "/dav/Documents/owner/plans", "/dav/Documents/ops", "/dav/Documents/ops/rates", "/dav/Documents/everyone", "/dav/Documents/everyone/news",
	} {
		fmt.Fprintf(&out, "%s\n%s", path, s.must("GET", path+"/.contents", "").Body)
	}
	return out.String()
}

// TestRights makes every request of the table as every actor
// (docs/contract/drive.md#rights-table). Those that change something are made
// on a server of their own; the others share one, and must leave it as it was.
func TestRights(t *testing.T) {
	t.Parallel()
	f := furnishForAll(t)
	type cell struct {
		*right
		actor int
	}
	table := allRights(t)
	var changing []cell
	compare := func(t *testing.T, s *inProcess, c cell) bool {
		t.Helper()
		w := s.ask(actors()[c.actor], c.right, f.names)
		s.undone(actors()[c.actor], c.right, f.names, w)
		if w.Code != c.want[c.actor] {
			t.Errorf("%v as %s: got %d, want %d: %.300s", c.right, actors()[c.actor], w.Code, c.want[c.actor], w.Body)
			return c.changes(w.Code)
		}
		return false
	}
	rest := make([]cell, 0, len(table)*len(actors()))
	for i := range table {
		for actor := range actors() {
			if c := (cell{&table[i], actor}); c.changes(c.want[actor]) {
				changing = append(changing, c)
			} else {
				rest = append(rest, c)
			}
		}
	}
	t.Logf("%d requests, %d of which change something", len(rest)+len(changing), len(changing))
	t.Run("unchanged", func(t *testing.T) {
		t.Parallel()
		for len(rest) > 0 {
			f.open(t, func(s *inProcess) {
				before, spoilt := s.all(), false
				for len(rest) > 0 && !spoilt {
					spoilt = compare(t, s, rest[0])
					rest = rest[1:]
				}
				if diff := gocmp.Diff(before, s.all()); diff != "" && !spoilt {
					t.Errorf("what was refused has changed something: %s", diff)
				}
			})
		}
	})
	for _, c := range changing {
		t.Run(fmt.Sprintf("%d/%s/%s", c.line, c.method, actors()[c.actor]), func(t *testing.T) {
			t.Parallel()
			f.open(t, func(s *inProcess) { compare(t, s, c) })
		})
	}
}

// TestAbsentAndInvisible: what the stranger may not see is answered like what
// does not exist, to the letter (docs/contract/drive.md#errors).
func TestAbsentAndInvisible(t *testing.T) {
	t.Parallel()
	f := furnishForAll(t)
	stranger := slices.Index(actors(), "stranger")
	visible := map[string]bool{"{common}": true}
	var asked []right
	for _, r := range allRights(t) {
		for name := range f.names {
			if !visible[name] && strings.Contains(r.path+r.body, name) {
				asked = append(asked, r)
				break
			}
		}
	}
	t.Logf("%d requests", len(asked))
	for len(asked) > 0 {
		f.open(t, func(s *inProcess) {
			for spoilt := false; len(asked) > 0 && !spoilt; asked = asked[1:] {
				r := &asked[0]
				got, want := s.ask("stranger", r, f.names), s.ask("stranger", r, f.nowhere)
				spoilt = r.changes(got.Code) || r.changes(want.Code)
				if r.method == "PUT" && r.want[stranger] == http.StatusConflict {
					// The names of routes are one namespace (docs/contract/drive.md#identity-and-given-name): the
					// one place where a name that is in use is told.
					if got.Code != http.StatusConflict || want.Code != http.StatusCreated && want.Code != http.StatusForbidden {
						t.Errorf("%v: %d, and %d where the name is free", r, got.Code, want.Code)
					}
					continue
				}
				if diff := gocmp.Diff(told(want, r, f.nowhere), told(got, r, f.names)); diff != "" {
					t.Errorf("%v: invisible (+) differs from absent (-):\n%s", r, diff)
				}
			}
		})
	}
}

// told is what an answer tells, but for the time, the request's id, and the
// names that were asked for or given.
func told(w *httptest.ResponseRecorder, r *right, names map[string]string) string {
	var out bytes.Buffer
	fmt.Fprintln(&out, w.Code)
	header := w.Header().Clone()
	header.Del("Date")
	header.Del("X-Request-Id")
	_ = header.Write(&out) // to memory
	body := w.Body.Bytes()
	var problem map[string]any
	if json.Unmarshal(body, &problem) == nil && problem["instance"] != nil {
		delete(problem, "instance")
		body, _ = json.Marshal(problem) // of what was just read
	}
	out.Write(body)
	text := out.String()
	for name, value := range names {
		if strings.Contains(r.path+r.body, name) {
			text = regexp.MustCompile(`\b`+regexp.QuoteMeta(value)+`\b`).ReplaceAllLiteralString(text, "{}")
		}
	}
	return regexp.MustCompile(`[0-9a-f]{32}|"[0-9a-f]+"|"fd-[a-z2-7]+"|/calendar/[a-z2-7]+`).ReplaceAllLiteralString(text, "{}")
}
