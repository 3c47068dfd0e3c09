package davfs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/label"
)

func TestReadDrop(t *testing.T) {
	t.Parallel()
	xattrs := func(pairs ...string) (d label.Dict) {
		for i := 0; i < len(pairs); i += 2 {
			d = append(d, label.XAttr{Key: pairs[i], Value: label.Text(pairs[i+1])})
		}
		return d
	}
	long := strings.Repeat("t", maxTitle)
	tests := []struct {
		raw    string
		want   engine.Drop
		dryRun bool
		kind   errs.Kind
	}{
		{raw: ""},
		{raw: "&&"},
		{
			raw:  "update=2019-04-03&effective=2019-04-03&taskid=1063257439&batchid=v200-04/19",
			want: engine.Drop{Xattrs: xattrs("batchid", "v200-04/19", "effective", "2019-04-03", "taskid", "1063257439", "update", "2019-04-03")},
		},
		{raw: "b&a=&c==x=", want: engine.Drop{Xattrs: xattrs("a", "YES", "b", "YES", "c", "=x=")}},
		{raw: "A+B=1&ab=2&a%20b=3", want: engine.Drop{Xattrs: xattrs("ab", "1")}},
		{raw: "x=$__TODAY__;&y=$__TODAY%2B3D__;&z=a;b", want: engine.Drop{Xattrs: xattrs("x", "$__TODAY__;", "y", "$__TODAY+3D__;", "z", "a;b")}},
		{raw: "a.b=1", want: engine.Drop{Xattrs: xattrs("a.b", "1")}},
		{raw: ".priority=0&.title=&.context=ops", want: engine.Drop{Priority: new(0), Context: "ops"}},
		{raw: ".priority=65535&.title=" + long, want: engine.Drop{Priority: new(65535), Title: long}},
		{raw: "%2Epriority=1", want: engine.Drop{Priority: new(1)}},
		{raw: ".dryRun", dryRun: true},
		{raw: ".dryRun=true", dryRun: true},
		{raw: ".dryRun=1", dryRun: true},
		{raw: ".dryRun=", dryRun: true},
		{raw: ".dryRun=false", kind: errs.BadParameter},
		{raw: ".dryRun=0", kind: errs.BadParameter},
		{raw: ".dryRun=no", kind: errs.BadParameter},
		{raw: ".title=" + long + "t", kind: errs.BadParameter},
		{raw: ".priority=1.5", kind: errs.BadParameter},
		{raw: ".priority=-1", kind: errs.BadParameter},
		{raw: ".Priority=1", kind: errs.BadParameter},
		{raw: ".", kind: errs.BadParameter},
		{raw: ".dryRun&.dryRun", kind: errs.BadParameter},
		{raw: ".startAt=2012-12-01T01:00:00%2B01:00", want: engine.Drop{StartAt: "2012-12-01T01:00:00+01:00"}},
		{raw: ".startAt", kind: errs.BadParameter},
		{raw: ".startAt=2012-12-01", want: engine.Drop{StartAt: "2012-12-01"}},
		{raw: ".startAt=2012-12-01T01:00:00+01:00", want: engine.Drop{StartAt: "2012-12-01T01:00:00 01:00"}},
		{raw: "=x", kind: errs.BadParameter},
		{raw: "a%=x", kind: errs.BadParameter},
		{raw: "a=%FF", kind: errs.BadParameter},
		{raw: "%FF=a", kind: errs.BadParameter},
		{raw: "%C3%A4=a", kind: errs.BadParameter},
		{raw: strings.Repeat("k", label.MaxKey+1), kind: errs.BadParameter},
	}
	for _, tt := range tests {
		got, dryRun, err := readDrop(tt.raw)
		if errs.KindOf(err) != tt.kind {
			t.Errorf("%q: %v, want %q", tt.raw, err, tt.kind)
			continue
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || dryRun != tt.dryRun {
			t.Errorf("%q: dry run %t (-want +got):\n%s", tt.raw, dryRun, diff)
		}
	}
}

func FuzzDrop(f *testing.F) {
	f.Add("update=2019-04-03&batchid=v200&.priority=300&.dryRun")
	f.Add("A+b&a%20B=2;&%2Etitle=x&$__TODAY__;")
	f.Fuzz(func(t *testing.T, raw string) {
		d, _, err := readDrop(raw)
		if err != nil {
			if kind := errs.KindOf(err); kind != errs.BadParameter {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		for i, x := range d.Xattrs {
			if key, err := label.NormalizeKey(x.Key); err != nil || key != x.Key || x.Value.Text == "" || !utf8.ValidString(x.Value.Text) {
				t.Errorf("%q: the XATTR %+v", raw, x)
			}
			if i > 0 && d.Xattrs[i-1].Key >= x.Key {
				t.Errorf("%q: %q stands before %q", raw, d.Xattrs[i-1].Key, x.Key)
			}
		}
		if d.Priority != nil && (*d.Priority < 0 || *d.Priority > maxPriority) || len(d.Title) > maxTitle {
			t.Errorf("%q: %+v", raw, d)
		}
	})
}

func TestNameOfACaseOnABoard(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"":                                "17.json",
		"  ":                              "17.json",
		"TIP 42: sessions":                "17 TIP 42_ sessions.json",
		`a\b/c:d*e?f"g<h>i|j@k`:           "17 a_b_c_d_e_f_g_h_i_j_k.json",
		"line\nand\tcontrol\x00":          "17 line_and_control_.json",
		"broken \xff\uFFFE":               "17 broken __.json",
		"ends with dots…...":              "17 ends with dots…....json",
		"e\u0301":                         "17 \u00e9.json",
		strings.Repeat("x", 100):          "17 " + strings.Repeat("x", 77) + ".json",
		strings.Repeat("x ", 100):         "17" + strings.Repeat(" x", 39) + ".json",
		strings.Repeat("\U0001F525", 100): "17 " + strings.Repeat("\U0001F525", 48) + ".json",
	} {
		if got := (boardCase{ID: 17, Title: title}).name(); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

func FuzzBoardName(f *testing.F) {
	f.Add(int64(1), "TIP 42: sessions")
	f.Add(int64(maxID), "\xff\u0301 .")
	f.Fuzz(func(t *testing.T, id int64, title string) {
		if id < 1 || id > maxID {
			return
		}
		name := boardCase{ID: id, Title: title}.name()
		if err := legalName(name); err != nil {
			t.Errorf("%q makes %q: %v", title, name, err)
		}
		if stem, ext := splitName(name); ext != ".json" || utf8.RuneCountInString(stem) > filename.MaxCharacters {
			t.Errorf("%q makes %q", title, name)
		}
		n, err := stateFolder{}.child(t.Context(), name)
		if file, ok := n.(boardFile); err != nil || !ok || file.id != id {
			t.Errorf("%q makes %q, which is %+v, %v", title, name, n, err)
		}
		task := taskName(&engine.Resource{Name: fmt.Sprintf("%d.submit.12-1", id), Title: title})
		if err := legalName(task); err != nil {
			t.Errorf("%q makes the task %q: %v", title, task, err)
		}
		if of, action, ok := readTaskName(task); !ok || of != id || action != "submit.12-1" {
			t.Errorf("%q makes the task %q, which is %q of %d, %v", title, task, action, of, ok)
		}
	})
}

// TestDropStreams: nothing of a dropped file is read before the right to drop
// it is judged, and a body that breaks off leaves nothing.
func TestDropStreams(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Routes/load.yaml", "> @route")
	d.ask(t, "sam PUT /dav/Workflow/Routes/closed.yaml", `> {access: {start: []}, states: {open: {type: start}}, actions: {report: {trigger: init}}}`)
	for path, want := range map[string]int{
		"/dav/Workflow/Routes/none/x":                 404,
		"/dav/Workflow/Routes/closed/x":               403,
		"/dav/Workflow/Routes/load/Board":             422,
		"/dav/Workflow/Routes/load/x?.prio=1":         400,
		"/dav/Workflow/Routes/load/x?.context=nobody": 403,
	} {
		body := &untouched{t: t, path: path}
		rec := httptest.NewRecorder()
		d.handler.ServeHTTP(rec, d.as("sam", httptest.NewRequestWithContext(t.Context(), http.MethodPut, path, body)))
		if rec.Code != want {
			t.Errorf("%s: %d %s, want %d", path, rec.Code, rec.Body, want)
		}
	}
	rec := d.ask(t, "sam PUT /dav/Workflow/Routes/load/x", "Content-Length: 100", "> short")
	if cases := d.count(t, "Cases"); rec.Code != http.StatusBadRequest || cases != 0 {
		t.Errorf("a body that breaks off: %d, %d cases", rec.Code, cases)
	}
}

// untouched is a body that nobody may read.
type untouched struct {
	t    *testing.T
	path string
}

func (u *untouched) Read([]byte) (int, error) {
	u.t.Errorf("%s: the body was read", u.path)
	return 0, fmt.Errorf("nobody may read this")
}

// TestCompatibilityHeaders: the capitals of compatibility headers go out as they
// are (docs/contract/drive.md#compatibility-headers).
func TestCompatibilityHeaders(t *testing.T) {
	t.Parallel()
	d := newTestDrive(t)
	d.ask(t, "sam PUT /dav/Workflow/Routes/load.yaml", "> @route")
	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, d.request(t, []string{"sam PUT /dav/Workflow/Routes/load/x", "> x"}, ""))
	var b strings.Builder
	if err := rec.Header().Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"X-COILS-WORKFLOW-PROCESS-ID: 18", "X-COILS-WORKFLOW-MESSAGE-UUID: a0000000000000000000000000000001",
		"X-COILS-WORKFLOW-MESSAGE-LABEL: InputMessage", "X-COILS-WORKFLOW-OUTPUT-URL: /dav/Workflow/Routes/load/18/output",
	} {
		if !strings.Contains(newNames().write(b.String()), want+"\r\n") {
			t.Errorf("no %q in %q", want, b.String())
		}
	}
}

// TestIdempotencyEverywhere: whatever creates or performs does it once under
// one key, also where the first answer was lost; the same key with another
// body is a mistake, and another user's key is another.
func TestIdempotencyEverywhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ user, path, body, other string }{
		{"sam", "/dav/Workflow/Schedule/request", `{"route": "bug", "type": "cron", "hour": 22}`, `{"route": "bug", "type": "cron", "hour": 7}`},
		{"sam", "/dav/Workflow/Schedule/nightly.json", `{"route": "bug", "type": "cron", "hour": 22}`, `{"route": "bug", "type": "cron", "hour": 7}`},
		{"sam", "/dav/Workflow/Routes/more.yaml", `@route`, `@route ops`},
		{"sam", "/dav/Workflow/Routes/tip/rates.csv?day=1&.priority=7", `1,2`, `1,3`},
		{"sam", "/dav/Workflow/Cases/new.json", `{"route": "tip"}`, `{"route": "bug"}`},
		{"sam", "/dav/Workflow/Cases/22.json", `{"title": "a"}`, `{"title": "b"}`},
		{"sam", "/dav/Workflow/Cases/22/Actions/resolve.json", `{}`, `{"comment": "x"}`},
		{"sam", "/dav/Workflow/Cases/22/Labels/report", `text`, `other`},
		{"sam", "/attachfs/a.csv", `1,2`, `1,3`},
		{"sam", "/attachfs/22/a.csv", `1,2`, `1,3`},
		{"sam", "/dav/Documents/sam/new.txt", `1,2`, `1,3`},
		{"eva", "/dav/Admin/Teams/crew.json", `{}`, `{"members": []}`},
	} {
		d := newTestDrive(t)
		furnish(t, d)
		put := func(user, body string) *httptest.ResponseRecorder {
			return d.ask(t, user+" PUT "+tt.path, "Idempotency-Key: once", "> "+body)
		}
		first := put(tt.user, tt.body)
		done := d.everything(t)
		second := put(tt.user, tt.body)
		if first.Code >= 300 || first.Header().Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: %d %s", tt.path, first.Code, first.Body)
		}
		if second.Code != first.Code || second.Header().Get("Idempotent-Replayed") != "true" || second.Body.String() != first.Body.String() {
			t.Errorf("%s again: %d %v %s", tt.path, second.Code, second.Header(), second.Body)
		}
		second.Header().Del("Idempotent-Replayed")
		if diff := cmp.Diff(first.Header(), second.Header()); diff != "" {
			t.Errorf("%s again (-first +second):\n%s", tt.path, diff)
		}
		if other := put(tt.user, tt.other); other.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s with another body: %d %s, want 422", tt.path, other.Code, other.Body)
		}
		if now := d.everything(t); now != done {
			t.Errorf("%s: done more than once: %s, then %s", tt.path, done, now)
		}
	}
}
