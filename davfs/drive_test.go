package davfs

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/pgtest"
	"flowdrive/server"
)

// transcripts is where the transcripts are.
const transcripts = "../testdata/drive"

var update = flag.Bool("update", false, "rewrite what the transcripts in testdata expect")

// TestTranscripts plays ../testdata/drive/*.txt: what docs/contract/drive.md
// says, as requests and answers. ../testdata/README.md has their form.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(transcripts + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if name := filepath.Base(file); pgtest.Wanted() && (name == "account.txt" || name == "documents.txt") {
				t.Skip("PostgreSQL numbers a row of its own after one that was refused, and these show the numbers")
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// play plays a transcript and returns it with the answers that were given.
func play(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	d, known := newTestDrive(t), newNames()
	var request []string
	etag, answering := "", false
	for line := range strings.Lines(script) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case answering:
			if answering = text != ""; !answering {
				out.WriteString("\n")
			}
		case text == "----":
			rec := d.do(t, known.readAll(request), etag)
			if tag := rec.Header().Get("Etag"); tag != "" {
				etag = tag
			}
			out.WriteString(line + known.write(transcribe(t, rec)))
			request, answering = nil, true
		case text == "", strings.HasPrefix(text, "#"):
			out.WriteString(line)
		default:
			request = append(request, text)
			out.WriteString(line)
		}
	}
	return out.String()
}

// requestsOf returns the lines of each request of a transcript.
func requestsOf(script string) (requests [][]string) {
	for part := range strings.SplitSeq(script, "\n\n") {
		part, _, isRequest := strings.Cut(part, "\n----\n")
		if !isRequest {
			continue
		}
		var lines []string
		for line := range strings.SplitSeq(part, "\n") {
			if line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		requests = append(requests, lines)
	}
	return requests
}

// request makes an HTTP request of the lines of a transcript.
func (d *testDrive) request(t *testing.T, lines []string, etag string) *http.Request {
	t.Helper()
	words := strings.Fields(lines[0])
	if len(words) != 3 {
		t.Fatalf("a request has a user, a method and a path: %q", lines[0])
	}
	var body []string
	header := http.Header{}
	for _, line := range lines[1:] {
		if text, isBody := strings.CutPrefix(line, "> "); isBody {
			if start, isRoute := strings.CutPrefix(text, "@route"); isRoute {
				text = routeOf(strings.Fields(start)...)
			}
			body = append(body, text)
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		header.Add(name, strings.ReplaceAll(strings.TrimSpace(value), "@etag", etag))
	}
	text := strings.Join(body, "\n")
	if n, repeated := strings.CutPrefix(text, "*"); repeated {
		if count, err := strconv.Atoi(n); err == nil {
			text = `"` + strings.Repeat("x", count-2) + `"`
		}
	}
	r := httptest.NewRequest(words[1], words[2], strings.NewReader(text))
	if announced := header.Get("Content-Length"); announced != "" {
		r.ContentLength, _ = strconv.ParseInt(announced, 10, 64)
	}
	r.Header = header
	return d.as(words[0], r.WithContext(t.Context()))
}

// as makes the request in the name of the user. Who does not say otherwise is
// a script.
func (d *testDrive) as(user string, r *http.Request) *http.Request {
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "curl/8.5.0")
	}
	return r.WithContext(server.WithPrincipal(r.Context(), d.principal(user)))
}

func (d *testDrive) do(t *testing.T, lines []string, etag string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, d.request(t, lines, etag))
	// The documented spelling of a header is not the canonical one.
	for name, values := range maps.Clone(rec.Header()) {
		delete(rec.Header(), name)
		rec.Header()[http.CanonicalHeaderKey(name)] = values
	}
	return rec
}

// ask is do for a request in one line.
func (d *testDrive) ask(t *testing.T, line string, more ...string) *httptest.ResponseRecorder {
	t.Helper()
	return d.do(t, append([]string{line}, more...), "")
}

// transcribe writes an answer as transcripts have it.
func transcribe(t *testing.T, rec *httptest.ResponseRecorder) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, rec.Code)
	for _, name := range slices.Sorted(maps.Keys(rec.Header())) {
		switch name {
		case "Cache-Control", "Content-Length", "Date", "Accept-Ranges":
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(rec.Header()[name], " ; "))
	}
	body := rec.Body.String()
	if rec.Code == http.StatusMultiStatus {
		body = outline(t, body)
	}
	for line := range strings.Lines(unindented(t, body)) {
		fmt.Fprintf(&b, "| %s\n", strings.TrimRight(line, "\n"))
	}
	return b.String()
}

// unindented writes complete forms as a line each.
func unindented(t *testing.T, body string) string {
	t.Helper()
	compact := func(form []byte) string {
		var line bytes.Buffer
		if err := json.Compact(&line, form); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		return line.String()
	}
	switch {
	case strings.HasPrefix(body, "{\n  ") && string(document.Indent([]byte(body))) == body:
		return compact([]byte(body)) + "\n"
	case strings.HasPrefix(body, "[\n{\n  "):
		var forms []json.RawMessage
		if err := json.Unmarshal([]byte(body), &forms); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		lines := make([]string, len(forms))
		for i, form := range forms {
			lines[i] = compact(form)
		}
		return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	}
	return body
}

// outline writes a multistatus answer a property a line, in order of name:
// the library's order is that of a map.
func outline(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Responses []struct {
			Href  string `xml:"href"`
			Stats []struct {
				Status string `xml:"status"`
				Prop   struct {
					Props []struct {
						XMLName xml.Name
						Inner   string `xml:",innerxml"`
					} `xml:",any"`
				} `xml:"prop"`
			} `xml:"propstat"`
		} `xml:"response"`
	}
	if err := xml.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("the answer is not XML: %v\n%s", err, body)
	}
	var b strings.Builder
	for _, r := range answer.Responses {
		fmt.Fprintln(&b, r.Href)
		for _, stat := range r.Stats {
			var lines []string
			for _, p := range stat.Prop.Props {
				lines = append(lines, fmt.Sprintf("  %s %s = %s", strings.Fields(stat.Status)[1], p.XMLName.Local, p.Inner))
			}
			slices.Sort(lines)
			fmt.Fprintln(&b, strings.Join(lines, "\n"))
		}
	}
	return b.String()
}

// writeProblem is terser than the server's problem documents: a line with the
// slug and the detail.
func writeProblem(w http.ResponseWriter, _ *http.Request, err error) {
	kind, detail := errs.KindOf(err), err.Error()
	if e, ok := errors.AsType[*errs.Error](err); ok && len(e.Faults) == 0 {
		detail = e.Detail
	}
	w.WriteHeader(server.Status(kind))
	if _, err := io.WriteString(w, string(kind)+": "+detail+"\n"); err != nil {
		panic(err)
	}
}
