package web

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// TestFirstRun: an administrator of a new server is shown three steps, each ticked off once
// it is done, until there are several cases.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "admin")
	g.must(t, "admin", 204, "PUT", "/dav/Admin/Teams/core.json", `{"members": []}`)
	ticks := func() string {
		t.Helper()
		body := b.get(t, "/tasks").body
		out := ""
		for _, step := range []string{"Say who takes part", "Start a case", "Open Tasks as one of them"} {
			switch {
			case strings.Contains(body, step+`<span class="vh">: done</span>`):
				out += "✓"
			case strings.Contains(body, "<h3>"+step):
				out += "·"
			}
		}
		return out
	}
	g.tryPages(t, []pageToTry{{"first-run", "admin", "/tasks", 200}})
	for _, step := range []struct {
		what, want string
		do         func()
	}{
		{"nothing", "···", func() {}},
		{"somebody is asked", "✓··", func() {
			g.must(t, "admin", 204, "PUT", "/dav/Admin/Teams/core.json", `{"members": ["ann"]}`)
		}},
		{"a case", "✓✓·", func() {
			b.post(t, "/routes/bug/start", "do", "start", "key", "one", "title", "The printer is on fire")
		}},
		{"somebody has come", "✓✓✓", func() { g.browse(t, "ann") }},
		{"another case", "", func() {
			b.post(t, "/routes/bug/start", "do", "start", "key", "two", "title", "And the toaster")
		}},
	} {
		step.do()
		if got := ticks(); got != step.want {
			t.Errorf("%s: the steps are %q, want %q", step.what, got, step.want)
		}
	}
	if body := g.browse(t, "sam").get(t, "/tasks").body; strings.Contains(body, "Say who takes part") {
		t.Error("who administers nothing is shown the steps")
	}
}

// startWith sends the form that starts a case of expense with a file, and fields around it.
func (b *browser) startWith(t *testing.T, name string, content []byte, fields ...string) *answer {
	t.Helper()
	return b.postFile(t, "/routes/expense/start", name, content, fields, "priority", "3")
}

// postFile sends a form with fields, a file, and fields after it.
func (b *browser) postFile(t *testing.T, path, name string, content []byte, fields []string, after ...string) *answer {
	t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	write := func(fields []string) {
		for i := 0; i+1 < len(fields); i += 2 {
			if err := m.WriteField(fields[i], fields[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(fields)
	part, err := m.CreateFormFile(inputField, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(content); err != nil {
		t.Fatal(err)
	}
	write(after)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", b.rig.http.URL+path, &body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
	return send(t, b.client, r)
}

// TestStartWithFile: a file of the start form becomes the input, byte by byte; the form sent
// twice starts one case; after a refusal the file need not be chosen again.
func TestStartWithFile(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	content := []byte("\x00\xff\r\n<b>receipt</b>\r\n")
	wrong := b.startWith(t, "taxi & bus.bin", content, "do", "start", "key", "one", "title", "Taxi", "x.amount", "twelve")
	if wrong.status != 422 || !strings.Contains(wrong.body, `id="start-x.amount-fault"`) || !strings.Contains(wrong.body, "taxi &amp; bus.bin is uploaded") {
		t.Fatalf("a word for a number: %d %s", wrong.status, wrong.body)
	}
	_, rest, _ := strings.Cut(wrong.body, `name="attachmentUUID" value="`)
	uuid, _, _ := strings.Cut(rest, `"`)
	kept := b.post(t, "/routes/expense/start", "do", "start", "key", "two", "title", "Taxi", "x.amount", "12", "attachmentUUID", uuid, "attachmentName", "taxi & bus.bin")
	// A browser sends the field of the file as well, empty, and before that of the attachment.
	sent := b.postFile(t, "/routes/expense/start", "", nil, []string{"do", "start", "key", "again", "title", "Taxi", "x.amount", "12"}, "attachmentUUID", uuid, "attachmentName", "taxi & bus.bin")
	twice := make([]string, 2)
	for i := range twice {
		twice[i] = b.startWith(t, "bus.bin", content, "do", "start", "key", "three", "title", "Bus", "x.amount", "2").header.Get("Location")
	}
	if twice[0] != twice[1] || !strings.HasPrefix(twice[0], "/cases/") {
		t.Errorf("sent twice it leads to %q", twice)
	}
	for _, at := range []string{kept.header.Get("Location"), sent.header.Get("Location"), twice[0]} {
		path := "/dav/Workflow/Cases/" + strings.TrimPrefix(at, "/cases/")
		if got := g.must(t, "ann", 200, "GET", path+"/Labels/InputMessage", "").body; got != string(content) {
			t.Errorf("%s: the input is %q, want %q", at, got, content)
		}
	}
	if stored := g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/"+strings.TrimPrefix(twice[0], "/cases/")+".json", "").body; !strings.Contains(stored, `"priority": 3`) {
		t.Errorf("a field after the file is lost: %s", stored)
	}
	for _, bad := range []struct {
		name   string
		fields []string
		status int
	}{
		{strings.Repeat("x", 300) + ".bin", []string{"do", "start", "title", "Long"}, 422},
		{"a.bin", []string{"do", "start", "attachmentUUID", "nonsense", "title", strings.Repeat("x", mostForm)}, 413},
		{"a.bin", []string{"do", "none"}, 400},
	} {
		if got := b.startWith(t, bad.name, content, bad.fields...); got.status != bad.status {
			t.Errorf("%.20s %.40s: got %d, want %d: %s", bad.name, fmt.Sprint(bad.fields), got.status, bad.status, got.body)
		}
	}
	if got := b.post(t, "/routes/expense/start", "do", "start", "key", "four", "title", "Taxi", "x.amount", "12", "attachmentUUID", strings.Repeat("0", 32)); got.status != 422 || !strings.Contains(got.body, "attachmentUUID-fault") {
		t.Errorf("an attachment that is not there: %d %s", got.status, got.body)
	}
}
