package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

func documentPagesToTry() []pageToTry {
	return []pageToTry{
		{"documents", "ann", "/documents/core", 200},
		{"documents-slash", "ann", "/documents/core/", 200},
		{"documents-mine", "sam", "/documents/sam", 200},
		{"documents-everyone", "ann", "/documents/everyone", 200},
		{"documents-admin", "admin", "/documents/core", 200},
		{"documents-new-folder", "ann", "/documents/core?do=folder", 200},
		{"documents-rename", "ann", "/documents/core?do=rename&name=rates.csv", 200},
		{"documents-delete-folder", "ann", "/documents/core?do=delete&name=2012", 200},
		{"documents-file", "ann", "/documents/core/rates.csv", 200},
		{"documents-image", "ann", "/documents/core/2012/badge.png", 200},
		{"documents-history", "ann", "/documents/core/.history", 200},
		{"documents-history-of", "ann", "/documents/core/.history?of=gone.txt", 200},
		{"documents-after", "ann", "/documents/core?after=zzz", 400},
		{"documents-of-others", "sam", "/documents/core", 404},
		{"documents-history-of-others", "sam", "/documents/core/.history", 404},
		{"documents-absent", "ann", "/documents/core/none", 404},
		{"attachments", "ann", "/attachments", 200},
		{"attachments-none", "sam", "/attachments", 200},
		{"attachments-after", "ann", "/attachments?after=zzz", 400},
	}
}

// badge returns a small picture: a ring.
func badge(tb testing.TB) string {
	tb.Helper()
	const ring = "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwAgMAAAAqbBEUAAAACVBMVEUAAAA0SLj///+sc/+UAAAAAXRSTlMAQObYZgAAAJJJREFUeNqskrEVgzAMREPBCOzDCBSIIiOwj0dI4ZsyT1Jk" +
		"+5yoiyr+O3EgnR5ftYmc8byIiOxdaJIJIa0Oh4F8aujyvjXgmGELOIf3zWGEpcPucFcHNbuAYnYKN1AN1BkAzHuGS6H8gqfC61+Qfyf5NxqBhqOxaSH53ni9eQoUFsXIAVP0dBR8LnRIrd4BAAD//4yUp/mYVHogAAAAAElFTkSuQmCC"
	data, err := base64.StdEncoding.DecodeString(ring)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// furnishDocuments fills the documents of the team core.
func (g *rig) furnishDocuments(tb testing.TB) {
	tb.Helper()
	const core = "/dav/Documents/core/"
	g.must(tb, "ann", 201, "PUT", core+"rates.csv", "EUR,1.2963\n")
	g.must(tb, "bob", 204, "PUT", core+"rates.csv", "EUR,1.2963\nGBP,1.5901\n")
	g.must(tb, "bob", 201, "PUT", core+"%3Cimg%20src=x%3E%20&%20%22quotes%22.txt", "<script>alert(1)</script>")
	g.must(tb, "cy", 201, "MKCOL", core+"2012", "")
	g.must(tb, "cy", 201, "PUT", core+"2012/badge.png", badge(tb))
	g.must(tb, "cy", 201, "PUT", core+"gone.txt", "here for a moment")
	g.must(tb, "cy", 204, "DELETE", core+"gone.txt", "")
	g.must(tb, "ann", 201, "PUT", "/attachfs/offer.pdf", "%PDF")
	g.must(tb, "ann", 201, "PUT", "/dav/Account/AppPasswords/laptop.json", "")
}

// TestDocumentForms: what a form does is done on the drive, and what the drive refuses is
// told at its field.
func TestDocumentForms(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "sam", 201, "PUT", "/dav/Documents/sam/own.txt", "x")
	for _, test := range []struct {
		name, user, path string
		fields           []string
		status           int
		says             string // the notice or, of a refusal, its summary
		there, gone      string // below core/ afterwards
	}{
		{"folder", "ann", "/documents/core?do=folder", []string{"do", "folder", "folder", "März & <b>"}, 303, "The folder is made: März & <b>", "M%C3%A4rz%20&%20%3Cb%3E/", ""},
		{"folder without a name", "ann", "/documents/core", []string{"do", "folder", "folder", " "}, 422, "A folder needs a name.", "", ""},
		{"folder that exists", "ann", "/documents/core", []string{"do", "folder", "folder", "2012"}, 405, "", "2012/", ""},
		{"illegal name", "ann", "/documents/core", []string{"do", "folder", "folder", "a\tb"}, 422, "", "", ""},
		{"rename", "ann", "/documents/core?do=rename&name=rates.csv", []string{"do", "rename", "name", "rates.csv", "to", "tables.csv"}, 303, "rates.csv has another name: tables.csv", "tables.csv", "rates.csv"},
		{"rename to one that exists", "ann", "/documents/core", []string{"do", "rename", "name", "tables.csv", "to", "2012"}, 412, "", "tables.csv", ""},
		{"move", "bob", "/documents/core", []string{"do", "move", "name", "tables.csv", "to", "/core/2012/"}, 303, "tables.csv is moved", "2012/tables.csv", "tables.csv"},
		{"move to nowhere", "bob", "/documents/core/2012", []string{"do", "move", "name", "tables.csv", "to", "core/2013"}, 409, "", "2012/tables.csv", ""},
		{"copy", "bob", "/documents/core/2012", []string{"do", "copy", "name", "tables.csv", "to", "core"}, 303, "tables.csv is copied", "tables.csv", ""},
		{"delete", "bob", "/documents/core", []string{"do", "delete", "name", "tables.csv"}, 303, "tables.csv is deleted.", "", "tables.csv"},
		{"delete what is not there", "bob", "/documents/core", []string{"do", "delete", "name", "tables.csv"}, 404, "", "", ""},
		{"administrators read", "admin", "/documents/core", []string{"do", "delete", "name", "2012"}, 403, "Only members of core", "2012/", ""},
		{"of others", "sam", "/documents/core", []string{"do", "delete", "name", "2012"}, 404, "", "2012/", ""},
		{"restore", "bob", "/documents/core/.history", []string{"do", "restore", "name", "20121109T123456Z gone@cy.txt", "to", "gone.txt"}, 303, "Brought back: gone.txt", "gone.txt", ""},
		{"purge", "bob", "/documents/core/.history", []string{"do", "purge", "name", "20121109T123456Z gone@cy.txt"}, 303, "The old version is deleted.", "gone.txt", ".history/20121109T123456Z%20gone@cy.txt"},
		{"without a name", "bob", "/documents/core", []string{"do", "delete"}, 400, "", "", ""},
		{"unlock", "bob", "/documents/core", []string{"do", "unlock", "name", "gone.txt"}, 403, "", "gone.txt", ""},
		{"unlock one's own", "sam", "/documents/sam", []string{"do", "unlock", "name", "own.txt"}, 303, "The lock on own.txt is broken.", "", ""},
	} {
		b := g.browse(t, test.user)
		got := b.post(t, test.path, test.fields...)
		if got.status != test.status {
			t.Errorf("%s: got %d %s, want %d", test.name, got.status, textOf(got.body, "refused"), test.status)
			continue
		}
		told := textOf(got.body, "refused")
		if got.status == 303 {
			told = textOf(b.get(t, got.header.Get("Location")).body, "notice")
		}
		if !strings.Contains(told, test.says) || told == "" && got.status != 404 && got.status != 400 {
			t.Errorf("%s: the page says %q, want %q", test.name, told, test.says)
		}
		if test.there != "" {
			g.must(t, "ann", 200, "GET", "/dav/Documents/core/"+test.there, "")
		}
		if test.gone != "" {
			g.must(t, "ann", 404, "GET", "/dav/Documents/core/"+test.gone, "")
		}
	}
}

// upload sends files by the form of a page, without script.
func (b *browser) upload(tb testing.TB, path, as string, files ...string) *answer {
	tb.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if err := w.WriteField("as", as); err != nil {
		tb.Fatal(err)
	}
	for i := 0; i+1 < len(files); i += 2 {
		part, err := w.CreateFormFile("file", files[i])
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := part.Write([]byte(files[i+1])); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, b.rig.http.URL+path, &body)
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
	return send(tb, b.client, r)
}

// TestUploadWithoutScript: a name that is taken is asked about, replaced, or numbered, and
// nothing is overwritten before that.
func TestUploadWithoutScript(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	content := func(name string) string {
		return g.must(t, "ann", 200, "GET", "/dav/Documents/core/"+name, "").body
	}
	got := b.upload(t, "/documents/core", "", "new.txt", "one", "rates.csv", "mine")
	if said := textOf(got.body, "refused"); got.status != 409 || !strings.Contains(said, "rates.csv: the name is taken.") {
		t.Errorf("a taken name: %d %q", got.status, said)
	}
	if said := textOf(got.body, "notice"); said != "Stored: new.txt" || content("new.txt") != "one" || strings.Contains(content("rates.csv"), "mine") {
		t.Errorf("beside a taken name: %q, %q", said, content("new.txt"))
	}
	for _, fault := range faultsOf(got.body) {
		t.Error(fault)
	}
	if got = b.upload(t, "/documents/core", "both", "rates.csv", "mine"); got.status != 303 || content("rates%20(2).csv") != "mine" {
		t.Errorf("both: %d", got.status)
	}
	if got = b.upload(t, "/documents/core", "replace", "rates.csv", "other"); got.status != 303 || content("rates.csv") != "other" {
		t.Errorf("replaced: %d", got.status)
	}
	if got = b.upload(t, "/documents/everyone", "", "x.txt", "x"); got.status != 403 || !strings.Contains(textOf(got.body, "main"), "Only administrators") {
		t.Errorf("into the documents of everyone: %d %s", got.status, textOf(got.body, "main"))
	}
	if got = g.browse(t, "sam").upload(t, "/documents/core", "", "x.txt", "x"); got.status != 404 {
		t.Errorf("into the documents of others: %d", got.status)
	}
	if got = b.upload(t, "/documents/core", ""); got.status != 303 {
		t.Errorf("no file: %d", got.status)
	}
}

// TestUploadByScript: a PUT to the page is one to the drive, and is answered as that is.
func TestUploadByScript(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	put := func(user, path, condition, origin string) *answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, g.http.URL+path, strings.NewReader("sent"))
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "fd", Value: g.browse(t, user).token})
		if condition != "" {
			r.Header.Set("If-None-Match", condition)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}
		return send(t, http.DefaultClient, r)
	}
	for _, test := range []struct {
		user, path, condition, origin string
		status                        int
	}{
		{"ann", "/documents/core/a%20b.txt", "*", "", 201},
		{"ann", "/documents/core/a%20b.txt", "*", "", 412},
		{"ann", "/documents/core/a%20b.txt", "", "", 204},
		{"ann", "/documents/core/none/a.txt", "*", "", 409},
		{"ann", "/documents/everyone/a.txt", "*", "", 403},
		{"sam", "/documents/core/a.txt", "*", "", 404},
		{"ann", "/documents/core/b.txt", "*", "https://evil.example", 403},
		{"ann", "/documents/core", "*", "", 405},
		{"ann", "/attachments", "*", "", 405},
	} {
		if got := put(test.user, test.path, test.condition, test.origin); got.status != test.status {
			t.Errorf("PUT %s by %s: got %d %.200s, want %d", test.path, test.user, got.status, got.body, test.status)
		}
	}
	g.must(t, "ann", 404, "GET", "/dav/Documents/core/b.txt", "")
	if got := g.must(t, "ann", 200, "GET", "/dav/Documents/core/a%20b.txt", "").body; got != "sent" {
		t.Errorf("stored is %q", got)
	}
}

// TestDocumentListPages: every document is on one page, folders first.
func TestDocumentListPages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for i := range documentRows + 20 {
		g.must(t, "ann", 201, "PUT", fmt.Sprintf("/dav/Documents/ann/file%d.txt", i), "x")
	}
	g.must(t, "ann", 201, "MKCOL", "/dav/Documents/ann/zzz", "")
	b := g.browse(t, "ann")
	first := b.get(t, "/documents/ann")
	if n := strings.Count(first.body, `<tr id="d`); n != documentRows || !strings.Contains(first.body[:strings.Index(first.body, "file0.txt")], "zzz") {
		t.Errorf("the first page has %d rows", n)
	}
	_, link, _ := strings.Cut(first.header.Get("Link"), ", <")
	for _, l := range first.header.Values("Link") {
		if strings.Contains(l, `rel="next"`) {
			link = strings.TrimPrefix(l[:strings.IndexByte(l, '>')], "<")
		}
	}
	second := b.get(t, link)
	if n := strings.Count(second.body, `<tr id="d`); n != 21 {
		t.Errorf("the second page at %q has %d rows, want 21", link, n)
	}
}
