package engine_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// path splits a path at its slashes; what it begins with is a context.
func path(text string) engine.DocumentPath { return strings.Split(text, "/") }

func (u user) putDocument(at, text string, options ...option) (*engine.Outcome, error) {
	return u.Files.PutDocument(u.Context(), u.request(options), path(at), contents.Upload{Size: -1, Body: strings.NewReader(text)})
}

func (u user) mustPutDocument(at, text string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putDocument(at, text, options...)).must(u.world, "PUT of the document "+at)
}

func (u user) makeFolder(at string, options ...option) error {
	_, err := u.Files.MakeFolder(u.Context(), u.request(options), path(at))
	return err
}

func (u user) mustMakeFolder(at string) {
	u.Helper()
	if err := u.makeFolder(at); err != nil {
		u.Fatalf("MKCOL of %s: %v", at, err)
	}
}

func (u user) deleteDocument(at string, options ...option) error {
	return u.Files.DeleteDocument(u.Context(), u.request(options), path(at))
}

func (u user) document(at string) (*store.Document, error) {
	return u.Files.Document(u.Context(), u.by(), path(at))
}

func (u user) mustDocument(at string) *store.Document {
	u.Helper()
	return try(u.document(at)).must(u.world, "the document "+at)
}

// readDocument returns a document with its media type, as "type: bytes".
func (u user) readDocument(at string) string {
	u.Helper()
	d := try(u.Files.OpenDocument(u.Context(), u.by(), path(at))).must(u.world, "GET of the document "+at)
	return d.MediaType + ": " + u.readAll(d.Body)
}

// members returns the names in a folder.
func (u user) members(at string) []string {
	u.Helper()
	out := []string{}
	for _, d := range u.listing(at, files.Members(false)).Below {
		out = append(out, d.Name)
	}
	slices.Sort(out)
	return out
}

func (u user) listing(at string, o store.Under) *files.Listing {
	u.Helper()
	return try(u.Files.DocumentListing(u.Context(), u.by(), path(at), o)).must(u.world, "the listing of "+at)
}

func (u user) used() int64 {
	u.Helper()
	return try(u.Files.Quota(u.Context(), u.by())).must(u.world, "the quota").Used
}

// large is a text that does not stay in its row.
func large(text string) string { return strings.Repeat(text, 10_000) }

func TestPutDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	etags := map[string]bool{}
	rootETag := sam.mustDocument("sam").ETag()
	for i, text := range []string{"a;1\n", "", large("x"), "a;1\n", large("y"), large("y")} {
		w.advance(time.Minute)
		out := sam.mustPutDocument("sam/rates.csv", text)
		if out.Created != (i == 0) || out.Name != "/dav/Documents/sam/rates.csv" {
			t.Errorf("PUT %d: created %v, name %q", i, out.Created, out.Name)
		}
		d := sam.mustDocument("sam/rates.csv")
		if d.ETag() != out.ETag || d.Size != int64(len(text)) || !d.Modified.Equal(w.clock.Now()) || !d.Created.Equal(instant(start).Add(time.Minute)) {
			t.Errorf("PUT %d: %+v, ETag of the answer %s", i, d, out.ETag)
		}
		same(t, "the content", sam.readDocument("sam/rates.csv"), "text/csv: "+text)
		etags[out.ETag] = true
		if next := sam.mustDocument("sam").ETag(); next == rootETag {
			t.Errorf("PUT %d: the folder's ETag stays %s", i, next)
		} else {
			rootETag = next
		}
		if !sam.mustDocument("sam").Modified.Equal(w.clock.Now()) {
			t.Errorf("PUT %d: the folder was modified %s", i, sam.mustDocument("sam").Modified)
		}
	}
	if len(etags) != 4 {
		t.Errorf("%d ETags for 4 contents", len(etags))
	}
	w.collect()
	if names, spooled := w.files(); len(names) != 1 || !names[hexOf(large("y"))] || spooled != 0 {
		t.Errorf("on disk are %v, and %d without a name", names, spooled)
	}
	out := try(w.Files.PutDocument(t.Context(), sam.request(nil), path("sam/rates.csv"), contents.Upload{
		MediaType: "text/plain; charset=utf-8", Size: 1, Body: strings.NewReader("z"),
	})).must(w, "PUT with a type")
	same(t, "the type that was given", sam.readDocument("sam/rates.csv"), "text/plain; charset=utf-8: z")
	same(t, "a form", names(w.Files.Documents(t.Context(), sam.by(), path("sam"), engine.Filter{})), "rates.csv")
	resource := try(w.Files.Documents(t.Context(), sam.by(), path("sam"), engine.Filter{})).must(w, "the forms")[0]
	w.form(resource.Form).wants("name", `"rates.csv"`, "kind", `"file"`, "type", `"text/plain; charset=utf-8"`, "size", "1",
		"sha256", `"`+hexOf("z")+`"`, "author", `"sam"`, "etag", `"\"`+strings.Trim(out.ETag, `"`)+`\""`)
}

func TestDocumentNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	for _, name := range []string{
		"a", "A", ".hidden", "~$lock.docx", "a:b*?\"<>|@\\", "con", " blank ", "dot.", "%41", "名前", strings.Repeat("long", 200), "Rejected",
	} {
		sam.mustPutDocument("sam/"+name, name)
		same(t, name, sam.readDocument("sam/" + name)[len(sam.mustDocument("sam/"+name).MediaType)+2:], name)
	}
	for _, name := range []string{"", ".", "..", "a\x00b", "line\nbreak", "\u0085", "\ufffe", "bad\xff"} {
		at := engine.DocumentPath{"sam", name}
		_, err := w.Files.PutDocument(t.Context(), sam.request(nil), at, contents.Upload{Size: -1, Body: strings.NewReader("x")})
		w.kind(fmt.Sprintf("PUT of %q", name), err, errs.NameNotAllowed)
		_, err = w.Files.MakeFolder(t.Context(), sam.request(nil), at)
		w.kind(fmt.Sprintf("MKCOL of %q", name), err, errs.NameNotAllowed)
		_, err = w.Files.Document(t.Context(), sam.by(), at)
		w.kind(fmt.Sprintf("GET of %q", name), err, errs.NotFound)
	}
	_, err := w.Files.PutDocument(t.Context(), sam.request(nil), engine.DocumentPath{"sam", "a/b"}, contents.Upload{Body: strings.NewReader("x")})
	w.kind("PUT of a name with a slash", err, errs.NameNotAllowed)
	// NFD is accepted and stored as NFC; both find it.
	sam.mustPutDocument("sam/cafe\u0301.txt", "x")
	if !slices.Contains(sam.members("sam"), "caf\u00e9.txt") {
		t.Errorf("the members are %q", sam.members("sam"))
	}
	same(t, "found by its NFC", sam.readDocument("sam/caf\u00e9.txt"), "text/plain: x")
	same(t, "found by its NFD", sam.readDocument("SAM/cafe\u0301.txt"), "text/plain: x")
}

func TestDocumentsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustMakeFolder("sam/reports")
	sam.mustPutDocument("sam/file", "x")
	etag := sam.mustDocument("sam/file").ETag()
	put := func(at string, options ...option) error {
		_, err := sam.putDocument(at, "y", options...)
		return err
	}
	for _, tt := range []struct {
		what string
		err  error
		want errs.Kind
	}{
		{"PUT over a folder", put("sam/reports"), errs.Method},
		{"PUT over a root", put("sam"), errs.Method},
		{"PUT without a folder [RFC 4918, section 9.7.1]", put("sam/gone/file"), errs.MissingParent},
		{"PUT below a file", put("sam/file/below"), errs.MissingParent},
		{"PUT far below a file", put("sam/file/far/below"), errs.MissingParent},
		{"PUT of what exists with If-None-Match: *", put("sam/file", ifNew()), errs.Precondition},
		{"PUT of what does not with If-Match", put("sam/new", ifMatch(etag)), errs.Precondition},
		{"PUT of another version", put("sam/file", ifMatch(`"else"`)), errs.Precondition},
		{"MKCOL of a folder [RFC 4918, section 9.3.1]", sam.makeFolder("sam/reports"), errs.Method},
		{"MKCOL of a file", sam.makeFolder("sam/file"), errs.Method},
		{"MKCOL of a root", sam.makeFolder("sam"), errs.Method},
		{"MKCOL of a new root", sam.makeFolder("new"), errs.NotFound},
		{"MKCOL without a folder", sam.makeFolder("sam/gone/folder"), errs.MissingParent},
		{"MKCOL below a file", sam.makeFolder("sam/file/folder"), errs.MissingParent},
		{"MKCOL with If-Match", sam.makeFolder("sam/new", ifMatch(etag)), errs.Precondition},
		{"DELETE of nothing", sam.deleteDocument("sam/gone"), errs.NotFound},
		{"DELETE below a file", sam.deleteDocument("sam/file/below"), errs.NotFound},
		{"DELETE of another version", sam.deleteDocument("sam/file", ifMatch(`"else"`)), errs.Precondition},
		{"DELETE of a folder that changed", sam.deleteDocument("sam/reports", ifMatch(`"else"`)), errs.Precondition},
		{"DELETE of a root", sam.deleteDocument("sam"), errs.NotDeletable},
	} {
		w.kind(tt.what, tt.err, tt.want)
	}
	same(t, "what is there", sam.members("sam"), []string{"file", "reports"})
	same(t, "the file", sam.readDocument("sam/file"), "application/octet-stream: x")
	w.kind("PUT of this version", put("sam/file", ifMatch(etag)), "")
	w.kind("PUT of a new file with If-None-Match: *", put("sam/new", ifNew()), "")
	w.kind("DELETE of a folder by its ETag", sam.deleteDocument("sam/reports", ifMatch(sam.mustDocument("sam/reports").ETag())), "")
}

// TestDocumentRights is the line of the rights table about Documents/
// (docs/contract/drive.md#rights-table). sam and ann are in core, bob is not.
func TestDocumentRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam := w.as("admin"), w.as("sam")
	for _, root := range []string{"sam", "core", "everyone"} {
		owner := sam
		if root == "everyone" {
			owner = admin
		}
		owner.mustMakeFolder(root + "/folder")
		owner.mustPutDocument(root+"/folder/file", "x")
	}
	const reads, writes, absent = "reads", "writes", ""
	for _, tt := range []struct{ user, root, may string }{
		{"sam", "sam", writes},
		{"ann", "sam", absent},
		{"bob", "sam", absent},
		{"admin", "sam", reads},
		{"sam", "core", writes},
		{"ann", "core", writes},
		{"bob", "core", absent},
		{"admin", "core", reads},
		{"sam", "everyone", reads},
		{"bob", "everyone", reads},
		{"admin", "everyone", writes},
		{"sam", "nobody", absent},
		{"admin", "nobody", absent},
	} {
		u, what := w.as(tt.user), tt.user+" in "+tt.root
		read, write := errs.NotFound, errs.NotFound
		switch tt.may {
		case reads:
			read, write = "", errs.NotAllowed
		case writes:
			read, write = "", ""
		}
		file := path(tt.root + "/folder/file")
		_, err := w.Files.Document(t.Context(), u.by(), file)
		w.kind(what+": stat", err, read)
		_, err = w.Files.OpenDocument(t.Context(), u.by(), file)
		w.kind(what+": GET", err, read)
		_, err = w.Files.DocumentListing(t.Context(), u.by(), file[:2], files.Members(true))
		w.kind(what+": list", err, read)
		_, err = w.Files.DocumentListing(t.Context(), u.by(), file[:1], files.Tree(10, true))
		w.kind(what+": tree", err, read)
		_, err = w.Files.Documents(t.Context(), u.by(), file[:2], engine.Filter{})
		w.kind(what+": .contents", err, read)
		_, err = u.putDocument(tt.root+"/folder/file", "y")
		w.kind(what+": PUT", err, write)
		_, err = u.putDocument(tt.root+"/folder/new", "y")
		w.kind(what+": PUT of a new file", err, write)
		w.kind(what+": MKCOL", u.makeFolder(tt.root+"/folder/sub-"+tt.user), write)
		victim := "/folder/file"
		if tt.may == writes {
			victim = "/folder/new"
		}
		w.kind(what+": DELETE", u.deleteDocument(tt.root+victim), write)
	}
	// Nothing tells what is not for one to see from what is not there.
	bob := w.as("bob")
	for _, at := range []string{"%s/folder/file", "%s/folder", "%s/gone", "%s"} {
		_, hidden := bob.document(fmt.Sprintf(at, "sam"))
		_, missing := bob.document(fmt.Sprintf(at, "nobody"))
		same(t, "the words about "+at, hidden.Error(), missing.Error())
		_, hidden = bob.putDocument(fmt.Sprintf(at, "sam"), "x")
		_, missing = bob.putDocument(fmt.Sprintf(at, "nobody"), "x")
		same(t, "the words of a PUT to "+at, hidden.Error(), missing.Error())
	}
	for name, want := range map[string]string{"sam": "core everyone sam staff", "bob": "bob everyone ops", "admin": "admin everyone"} {
		same(t, "the roots that "+name+" mounts", documentNames(try(w.Files.DocumentRoots(t.Context(), w.as(name).by(), true)).must(w, "roots")), want)
	}
	same(t, "the roots that an administrator finds", documentNames(try(w.Files.DocumentRoots(t.Context(), admin.by(), false)).must(w, "roots")),
		"admin ann bob core eve everyone ops sam staff")
}

func documentNames(all []store.Document) string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].Name
	}
	return strings.Join(out, " ")
}

// breaking is a body that breaks off after so many bytes.
type breaking struct{ left int }

var errBreak = errors.New("the connection is gone")

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errBreak
	}
	n := min(len(p), b.left)
	for i := range n {
		p[i] = 'x'
	}
	b.left -= n
	return n, nil
}

// TestBodyBreaksOff: wherever it does, nothing is there afterwards, in lists
// or on disk, and what was there is as before.
func TestBodyBreaksOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/stays", large("stays"))
	root := sam.mustDocument("sam")
	used := sam.used()
	for _, n := range []int{0, 1, 4095, 4096, 4097, 4098, 32 << 10, 1 << 20} {
		for _, at := range []string{"sam/new", "sam/stays"} {
			_, err := w.Files.PutDocument(t.Context(), sam.request(nil), path(at), contents.Upload{Size: 1 << 30, Body: &breaking{n}})
			if !errors.Is(err, errBreak) {
				t.Errorf("after %d bytes: %v", n, err)
			}
		}
		same(t, "the members", sam.members("sam"), []string{"stays"})
		if names, spooled := w.files(); len(names) != 1 || spooled != 0 {
			t.Errorf("after %d bytes: on disk are %v, and %d without a name", n, names, spooled)
		}
	}
	same(t, "what was there", sam.readDocument("sam/stays"), "application/octet-stream: "+large("stays"))
	if now := sam.mustDocument("sam"); now.ETag() != root.ETag() || sam.used() != used {
		t.Errorf("the folder's ETag was %s and is %s; %d bytes were used, and are %d", root.ETag(), now.ETag(), used, sam.used())
	}
}

// TestRefusedBodyIsNotRead: what is known to fail fails before the body.
func TestRefusedBodyIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(1000))
	sam := w.as("sam")
	sam.mustMakeFolder("sam/folder")
	for at, want := range map[string]errs.Kind{
		"sam/folder": errs.Method, "sam/gone/x": errs.MissingParent, "everyone/x": errs.NotAllowed, "bob/x": errs.NotFound, "sam/x": errs.Full,
	} {
		body := &breaking{5000}
		_, err := w.Files.PutDocument(t.Context(), sam.request(nil), path(at), contents.Upload{Size: 5000, Body: body})
		w.kind(at, err, want)
		if body.left != 5000 {
			t.Errorf("%s: %d bytes were read", at, 5000-body.left)
		}
	}
}

// TestSamePathAtOnce: of writers to one path one creates, none is lost, and
// one version is there in the end.
func TestSamePathAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	by := sam.by()
	var mu sync.Mutex
	var wait sync.WaitGroup
	created, fresh := 0, 0
	for i := range 16 {
		wait.Go(func() {
			body := large(fmt.Sprintf("%02d", i))
			out, err := w.Files.PutDocument(t.Context(), engine.Request{By: by, Now: w.clock.Now()}, path("sam/one"), contents.Upload{Size: -1, Body: strings.NewReader(body)})
			if err != nil {
				t.Error(err)
				return
			}
			_, err = w.Files.PutDocument(t.Context(), sam.request([]option{ifNew()}), path("sam/other"), contents.Upload{Size: -1, Body: strings.NewReader(body)})
			mu.Lock()
			defer mu.Unlock()
			if out.Created {
				created++
			}
			if err == nil {
				fresh++
			} else if !errs.Is(err, errs.Precondition) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if created != 1 || fresh != 1 {
		t.Errorf("%d writers created the one, %d the other; want one each", created, fresh)
	}
	w.collect()
	if names, spooled := w.files(); len(names) > 2 || len(names) < 1 || spooled != 0 {
		t.Errorf("on disk are %v, and %d without a name", names, spooled)
	}
	for _, at := range []string{"sam/one", "sam/other"} {
		if got := sam.readDocument(at); len(got) != len("application/octet-stream: ")+20_000 {
			t.Errorf("%s has %d bytes", at, len(got))
		}
	}
}

// TestDocumentOnce: the same key stores once.
func TestDocumentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a", "1", withKey("k", "/a", "1"))
	_, err := sam.putDocument("sam/a", "1", withKey("k", "/a", "1"))
	w.kind("the second", err, errs.NameTaken)
	answer := try(w.Replay(t.Context(), sam.by(), *keyOf("k", "/a", "1"))).must(w, "the answer")
	same(t, "the answer", string(answer), "/dav/Documents/sam/a")
}

// TestDocumentDryRun: every check is made, and nothing is stored.
func TestDocumentDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(50_000))
	sam := w.as("sam")
	sam.mustPutDocument("sam/a.csv", "stays")
	before := sam.mustDocument("sam").ETag()
	dry := func(req *engine.Request) { req.DryRun = true }
	for at, text := range map[string]string{"sam/a.csv": "small", "sam/b.csv": large("x")} {
		out := try(sam.putDocument(at, text, dry)).must(w, "a dry run")
		w.form(out.Form).wants("name", `"`+path(at)[1]+`"`, "size", fmt.Sprint(len(text)), "sha256", `"`+hexOf(text)+`"`)
	}
	_, err := sam.putDocument("sam/c.csv", strings.Repeat("x", 50_001), dry)
	w.kind("beyond the quota", err, errs.Full)
	_, err = sam.putDocument("sam/gone/c.csv", "x", dry)
	w.kind("without a folder", err, errs.MissingParent)
	same(t, "the members", sam.members("sam"), []string{"a.csv"})
	same(t, "the file", sam.readDocument("sam/a.csv"), "text/csv: stays")
	w.collect()
	if names, spooled := w.files(); len(names)+spooled != 0 || sam.mustDocument("sam").ETag() != before || sam.used() != 5 {
		t.Errorf("something was stored: %v, %d, %d bytes", names, spooled, sam.used())
	}
}

// TestDocumentPages: .contents is in order of creation, whole and by pages,
// with and without a filter.
func TestDocumentPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	var want, odd []string
	for i := range 23 {
		name := fmt.Sprintf("%d-%d", 100-i, i%2)
		want = append(want, name)
		if i%2 == 1 {
			odd = append(odd, name)
		}
		sam.mustPutDocument("sam/"+name, "x")
	}
	for _, limit := range []int{0, 1, 5, 22, 23, 24} {
		for query, all := range map[string][]string{"": want, "-1": odd, "nothing": nil} {
			var got []string
			for f := (engine.Filter{Limit: limit, Query: query}); ; {
				page := try(w.Files.Documents(t.Context(), sam.by(), path("sam"), f)).must(w, "a page")
				for i := range page {
					got = append(got, page[i].Name)
				}
				if limit == 0 || len(page) < limit {
					break
				}
				f.After = page[len(page)-1].Seq
			}
			same(t, fmt.Sprintf("limit %d, q %q", limit, query), got, all)
		}
	}
	same(t, "the roots", names(w.Files.Documents(t.Context(), sam.by(), nil, engine.Filter{})), "everyone core sam staff")
	same(t, "roots by name", names(w.Files.Documents(t.Context(), sam.by(), nil, engine.Filter{Query: "s", Limit: 1})), "sam")
}

// TestUsersWithDocumentsStay: a user or team whose documents are kept cannot
// be deleted.
func TestUsersWithDocumentsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, bob := w.as("admin"), w.as("bob")
	bob.mustPutDocument("ops/file", "x")
	remove := func(kind identity.Kind, name string) error {
		return w.Accounts.DeleteParty(t.Context(), admin.request(nil), kind, name, "")
	}
	w.kind("a team with documents", remove(identity.Team, "ops"), errs.InUse)
	w.kind("a user who wrote some", remove(identity.User, "bob"), errs.InUse)
	w.kind("DELETE", bob.deleteDocument("ops/file"), "")
	w.kind("the team without", remove(identity.Team, "ops"), "")
	w.kind("a user whom a route names", remove(identity.User, "bob"), errs.InUse)
	_, err := admin.document("ops")
	w.kind("the root of the team", err, errs.NotFound)
}

// TestOpenDocumentWhileReplaced: a reader that has begun reads what it began.
func TestOpenDocumentWhileReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutDocument("sam/a", large("old"))
	d := try(w.Files.OpenDocument(t.Context(), sam.by(), path("sam/a"))).must(w, "GET")
	head := make([]byte, 10)
	if _, err := io.ReadFull(d.Body, head); err != nil {
		t.Fatal(err)
	}
	sam.mustPutDocument("sam/a", large("new"))
	w.collect()
	same(t, "the rest", string(head)+w.readAll(d.Body), large("old"))
	same(t, "what is there now", sam.readDocument("sam/a"), "application/octet-stream: "+large("new"))
	_, err := w.Files.OpenDocument(t.Context(), sam.by(), path("sam"))
	w.kind("GET of a folder's bytes", err, errs.NotFound)
}
