package main

import (
	"database/sql" //nolint:depguard // it looks for a name in every row, and no row type has all
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flowdrive/engine/audit"
	"flowdrive/store"

	"github.com/google/go-cmp/cmp"
)

// TestErasePerson has somebody leave traces everywhere, erases the person, and looks for
// the name, the full name and the address in every row of the database. They may stand only
// where docs/operate/erasing.md says.
func TestErasePerson(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		const who = "zsamira"
		words := []string{who, "Samira Zobel", "s.zobel@example.org"}
		s.passwords[who] = "a password of hers"
		s.must("PUT", "/dav/Admin/Users/zsamira.json", `{"password": "a password of hers", "fullName": "Samira Zobel", "email": "S.Zobel@example.org"}`)
		must := func(user, method, path, body string, header ...string) string {
			t.Helper()
			w := s.as(user, method, path, body, header...)
			if w.Code >= http.StatusMultipleChoices {
				t.Fatalf("%s %s %s: %d %s", user, method, path, w.Code, w.Body)
			}
			return w.Header().Get("Location")
		}
		must("admin", "PUT", "/dav/Admin/Teams/desk.json", `{"members": ["zsamira", "ann"], "admins": ["zsamira"]}`)
		must("sam", "PUT", "/dav/Account/me.json", `{"deputy": {"user": "zsamira", "from": "2012-11-01T00:00:00Z", "to": "2012-12-01T00:00:00Z"}}`)
		must("admin", "PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: ["user:zsamira"]}, helper: {assign: ["user:ann"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  remark: {title: Remark, always: true, allowed: [everyone]}
  help: {title: Help, in: [open], role: helper}
  finish: {title: Finish, in: [open], role: clerk, to: done}
`)
		start := func(user, document string) string {
			return strings.TrimSuffix(must(user, "PUT", "/dav/Workflow/Cases/new.json", document), ".json")
		}
		own := start(who, `{"route": "desk", "title": "Leave of zsamira", "stakeholders": ["zsamira", "sam"]}`)
		must(who, "PUT", own+"/Actions/remark.json", `{"comment": "So says Samira Zobel, s.zobel@example.org."}`)
		must(who, "PUT", own+"/Actions/finish.json", `{}`)
		others := start("sam", `{"route": "desk", "title": "For ZSamira and zsamira.x, of zsamira."}`)
		must("ann", "PUT", others+"/Actions/help.json", `{"do": "accept"}`)
		must("ann", "PUT", others+"/Actions/help.json", `{"do": "delegate", "to": "zsamira"}`)
		must("sam", "PUT", others+".json", `{"stakeholders": ["zsamira"]}`)
		must("sam", "PUT", others+"/Actions/remark.json", `{"comment": "zsamira knows, not zsamira-2"}`)
		must(who, "PUT", "/dav/Workflow/Schedule/weekly.json", `{"type": "interval", "route": "desk", "days": 7, "start": "2012-11-20T08:00:00Z"}`)
		must(who, "PUT", "/dav/Workflow/Schedule/short.json", `{"type": "interval", "route": "desk", "days": 7, "start": "2012-11-20T08:00:00Z"}`)
		must(who, "DELETE", "/dav/Workflow/Schedule/short.json", "")
		must(who, "PUT", "/dav/Documents/zsamira/plan.txt", "a plan")
		must(who, "PUT", "/dav/Documents/zsamira/plan.txt", "another plan")
		must(who, "PUT", "/dav/Account/AppPasswords/phone.json", `{}`)
		must(who, "PUT", "/dav/Account/CalendarLinks/phone.json", `{}`)
		must(who, "PUT", "/dav/Workflow/Cases/.hers.swp", "x")
		must("admin", "PUT", "/dav/Admin/Holds/night.json", `{"group": "night"}`)
		s.must("POST", "/clock", `{"advance": "P12D"}`, "Content-Type", "application/json")

		before := mentions(t, s, words)
		for _, place := range []string{"case_log.entries", "cases.form", "done_tasks.form", "ended_entries.form", "parties.full_name"} {
			if before[place] == 0 {
				t.Errorf("there is nothing in %s to be erased: %v", place, before)
			}
		}
		if w := s.as("admin", "DELETE", "/dav/Admin/Users/zsamira.json?erase", ""); w.Code != http.StatusConflict {
			t.Errorf("erased without a successor: %d %s", w.Code, w.Body)
		}
		if got := mentions(t, s, words); got["case_log.entries"] != before["case_log.entries"] {
			t.Errorf("a refused one: %s", cmp.Diff(before, got))
		}
		must("admin", "DELETE", "/dav/Admin/Users/zsamira.json?erase&handOver=ann", "")

		left := mentions(t, s, words)
		listed := []string{
			"audit.line", "routes.source", "routes.form", "route_versions.source", "route_versions.form", "meanings.folded",
			"messages.content", "letters.name", "letters.content", // those that a sandbox keeps
		}
		for _, place := range slices.Sorted(maps.Keys(left)) {
			if !slices.Contains(listed, place) {
				t.Errorf("%s still has it %d times", place, left[place])
			}
		}
		if text := s.as("ann", "GET", others+"/log.txt", "").Body.String(); !strings.Contains(text, "knows, not zsamira-2") || !strings.Contains(text, "to erased-") {
			t.Errorf("the log: %s", text)
		}
		var report audit.Report
		if err := s.app.db.View(t.Context(), func(r store.Reader) (err error) {
			report, err = audit.Verify(r.Audit(), nil)
			return err
		}); err != nil || report.Broken != "" || report.Lines == 0 {
			t.Errorf("the audit log: %+v, %v", report, err)
		}
		if w := s.as(who, "GET", "/dav/", ""); w.Code != http.StatusUnauthorized {
			t.Errorf("who was erased logs in: %d", w.Code)
		}
		if w := s.as("ann", "GET", own+".json", ""); !strings.Contains(w.Body.String(), `"title": "Leave of erased-`) {
			t.Errorf("her case: %d %s", w.Code, w.Body)
		}
	})
}

// mentions returns how many rows of each column of the database have one of the words, in
// any case, but for those of words that are longer.
func mentions(t *testing.T, s *inProcess, words []string) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.app.settings.data, databaseName)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables []string
	names, err := db.QueryContext(t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	found := map[string]int{}
	for _, table := range tables {
		countMentions(t, db, table, words, found)
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func countMentions(t *testing.T, db *sql.DB, table string, words []string, found map[string]int) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT * FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]sql.RawBytes, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	longer := strings.NewReplacer("zsamira-2", "", "zsamira.x", "")
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, value := range values {
			text := longer.Replace(strings.ToLower(string(value)))
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, strings.ToLower(word)) }) {
				found[table+"."+columns[i]]++
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
