package engine_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// keepingVersions lets a world keep what is overwritten and deleted in Documents/, within
// a quota, 0 for the default.
func keepingVersions(quota int64) func(*world) {
	return func(w *world) { w.config = func(cfg *engine.Config) { cfg.Limits = engine.Limits{Quota: quota} } }
}

// versionPath reads "sam/.history/…".
func versionPath(at string) files.VersionPath {
	folder, below, _ := strings.Cut(at+"/", "/"+files.HistoryName+"/")
	p := files.VersionPath{Folder: path(folder)}
	if below != "" {
		p.Below = strings.Split(strings.TrimSuffix(below, "/"), "/")
	}
	return p
}

// versions returns what .history/ of a folder holds, as paths in order.
func (u user) versions(at string) string {
	u.Helper()
	l := try(u.Files.VersionsBelow(u.Context(), u.by(), versionPath(at))).must(u.world, "the listing of "+at)
	var out []string
	for i := range l.Versions {
		name := l.Versions[i].Shown
		if l.Versions[i].Folder {
			name += "(" + u.versions(at+"/"+name) + ")"
		}
		out = append(out, name)
	}
	for _, name := range l.Folders {
		out = append(out, name+"/("+u.versions(at+"/"+name)+")")
	}
	for i := range l.Members {
		name := l.Members[i].Name
		if l.Members[i].Folder {
			name += "(" + u.versions(at+"/"+name) + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func (u user) readVersion(at string) string {
	u.Helper()
	d := try(u.Files.OpenVersion(u.Context(), u.by(), versionPath(at))).must(u.world, "GET of "+at)
	return u.readAll(d.Body)
}

func (u user) takeBack(from, to string, move bool, options ...option) error {
	_, err := u.Files.RestoreVersion(u.Context(), u.request(options), versionPath(from), path(to), files.Transfer{Overwrite: true, Move: move})
	return err
}

// TestSavesKeepVersions saves as programs do: what a document was is found under its
// name, and nothing of what programs keep beside it.
func TestSavesKeepVersions(t *testing.T) {
	t.Parallel()
	put := func(at, text string) func(user) { return func(u user) { u.mustPutDocument("sam/"+at, text) } }
	move := func(from, to string) func(user) {
		return func(u user) {
			_, err := u.moveDocument("sam/"+from, "sam/"+to, files.Transfer{Overwrite: true})
			u.kind("MOVE", err, "")
		}
	}
	copied := func(from, to string) func(user) {
		return func(u user) {
			_, err := u.copyDocument("sam/"+from, "sam/"+to, files.Transfer{Overwrite: true})
			u.kind("COPY", err, "")
		}
	}
	remove := func(at string) func(user) { return func(u user) { u.kind("DELETE", u.deleteDocument("sam/"+at), "") } }
	const old = "20121109T123456Z "
	for _, tt := range []struct {
		what  string
		steps []func(user)
		want  string
	}{
		{"a first PUT", nil, ""},
		{"a PUT", []func(user){put("a.txt", "2")}, old + "a.txt"},
		{"the same again", []func(user){put("a.txt", "1")}, ""},
		{"two PUTs within a second", []func(user){put("a.txt", "2"), put("a.txt", "3")}, old + "a.txt 20121109T123457Z a.txt"},
		{"an empty PUT first", []func(user){put("a.txt", ""), put("a.txt", "2")}, old + "a.txt"},
		{"DELETE", []func(user){remove("a.txt")}, old + "a.txt"},
		{"DELETE of an empty file", []func(user){put("e", ""), remove("e")}, ""},
		{"DELETE, then PUT", []func(user){remove("a.txt"), put("a.txt", "2")}, old + "a.txt"},
		{"MOVE over it", []func(user){put("b", "2"), move("b", "a.txt")}, old + "a.txt"},
		{"COPY over it", []func(user){put("b", "2"), copied("b", "a.txt")}, old + "a.txt"},
		{"MOVE to another name", []func(user){move("a.txt", "b.txt")}, ""},
		{"a temporary file and MOVE", []func(user){put(".a.Xy1", "2"), put(".a.Xy1", "3"), move(".a.Xy1", "a.txt")}, old + "a.txt"},
		{"Word", []func(user){
			put("~WRD0000.tmp", "2"), move("a.txt", "~WRL0001.tmp"), move("~WRD0000.tmp", "a.txt"), remove("~WRL0001.tmp"),
		}, old + "a.txt"},
		{"vim", []func(user){
			put("4913", "x"), remove("4913"), move("a.txt", "a.txt~"), put("a.txt", "2"), remove("a.txt~"), put(".a.txt.swp", "s"), remove(".a.txt.swp"),
		}, old + "a.txt"},
		{"LibreOffice", []func(user){put(".~lock.a.txt#", "lock"), put("a.txt", "2"), remove(".~lock.a.txt#")}, old + "a.txt"},
		{"TextEdit", []func(user){
			func(u user) { u.mustMakeFolder("sam/a.txt.sb-1-x") }, put("a.txt.sb-1-x/a.txt", "2"),
			move("a.txt", "a.txt.sb-1-x/old"), move("a.txt.sb-1-x/a.txt", "a.txt"), remove("a.txt.sb-1-x"),
		}, old + "a.txt"},
		{"a folder of temporary files", []func(user){func(u user) { u.mustMakeFolder("sam/.git") }, put(".git/index", "1"), put(".git/index", "2"), remove(".git")}, ""},
		{"MOVE of a folder over it", []func(user){func(u user) { u.mustMakeFolder("sam/d") }, move("d", "a.txt")}, old + "a.txt"},
	} {
		w := newWorld(t, keepingVersions(0))
		sam := w.as("sam")
		sam.mustPutDocument("sam/a.txt", "1")
		for _, step := range tt.steps {
			step(sam)
		}
		same(t, tt.what, sam.versions("sam/.history"), tt.want)
		if tt.want != "" {
			same(t, tt.what+": what it was", sam.readVersion("sam/.history/"+old+"a.txt"), "1")
		}
	}
}

// TestDeletedFolderComesBack: what is deleted with a folder is one version, that is taken
// back as a whole or file by file; what is deleted one by one is found under its folder.
func TestDeletedFolderComesBack(t *testing.T) {
	t.Parallel()
	const gone = "sam/.history/20121109T123456Z a"
	for _, tt := range []struct {
		what        string
		do          func(user)
		after, left string
	}{
		{"nothing", func(user) {}, "f", "20121109T123456Z a(b(c d) e)"},
		{"MOVE of the folder", func(u user) { u.kind("MOVE", u.takeBack(gone, "sam/a", true), "") }, "a(b(c d) e) f", ""},
		{"COPY of the folder", func(u user) { u.kind("COPY", u.takeBack(gone, "sam/a", false), "") }, "a(b(c d) e) f", "20121109T123456Z a(b(c d) e)"},
		{"MOVE of a file in it", func(u user) { u.kind("MOVE", u.takeBack(gone+"/b/d", "sam/d", true), "") }, "d f", "20121109T123456Z a(b(c) e)"},
		{"COPY of a file in it, over another", func(u user) { u.kind("COPY", u.takeBack(gone+"/b/c", "sam/f", false), "") }, "f", "20121109T123456Z a(b(c d) e) 20121109T123456Z f"},
		{"DELETE of a folder in it", func(u user) { u.deleteVersion(gone+"/b", "") }, "f", "20121109T123456Z a(e)"},
		{"DELETE of a file in it", func(u user) { u.deleteVersion(gone+"/e", "") }, "f", "20121109T123456Z a(b(c d))"},
		{"DELETE", func(u user) { u.deleteVersion(gone, "") }, "f", ""},
		{"DELETE of all", func(u user) { u.deleteVersion("sam/.history", "") }, "f", ""},
		{"into itself", func(u user) { u.kind("MOVE", u.takeBack("sam/.history", "sam/x", true), errs.NotMovable) }, "f", "20121109T123456Z a(b(c d) e)"},
		{"to the name of the history", func(u user) { u.kind("MOVE", u.takeBack(gone, "sam/.history", true), errs.NotAllowed) }, "f", "20121109T123456Z a(b(c d) e)"},
		{"what is not there", func(u user) { u.kind("MOVE", u.takeBack(gone+"/x", "sam/x", true), errs.NotFound) }, "f", "20121109T123456Z a(b(c d) e)"},
	} {
		w := newWorld(t, keepingVersions(0))
		sam := w.as("sam")
		furnishTree(sam, "sam")
		w.kind("DELETE", sam.deleteDocument("sam/a"), "")
		tt.do(sam)
		same(t, tt.what, sam.tree("sam"), tt.after)
		same(t, tt.what+": what is left", sam.versions("sam/.history"), tt.left)
		w.collect()
		if strings.Contains(tt.after, "b(c d)") {
			same(t, tt.what+": a large file", sam.readDocument("sam/a/b/d"), "application/octet-stream: "+large("d"))
		}
	}

	w := newWorld(t, keepingVersions(0))
	sam := w.as("sam")
	furnishTree(sam, "sam")
	for _, at := range []string{"sam/a/b/c", "sam/a/b/d", "sam/a/b", "sam/a/e", "sam/a"} { // rm -r on a mount
		w.kind("DELETE of "+at, sam.deleteDocument(at), "")
	}
	same(t, "one by one", sam.versions("sam/.history"), "a/(20121109T123456Z e b/(20121109T123456Z c 20121109T123456Z d))")
	same(t, "at another address", sam.versions("sam/a/.history"), "20121109T123456Z e b/(20121109T123456Z c 20121109T123456Z d)")
	sam.deleteVersion("sam/.history/a/b", "")
	same(t, "without a folder of them", sam.versions("sam/.history"), "a/(20121109T123456Z e)")
}

func (u user) deleteVersion(at string, want errs.Kind) {
	u.Helper()
	u.kind("DELETE of "+at, u.Files.DeleteVersion(u.Context(), u.request(nil), versionPath(at)), want)
}

// TestLongNamesOfVersions: names that are cut do not meet, so that deleting many of them
// takes no longer than deleting others.
func TestLongNamesOfVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keepingVersions(0))
	sam := w.as("sam")
	for i := range 20 {
		at := "sam/" + strings.Repeat("é", 100) + strings.Repeat("x", i) + ".jpeg"
		sam.mustPutDocument(at, "x")
		w.kind("DELETE", sam.deleteDocument(at), "")
	}
	names := strings.Fields(strings.ReplaceAll(sam.versions("sam/.history"), "Z é", "Zé"))
	for _, name := range names {
		if strings.HasSuffix(name, ".jpeg") == strings.HasPrefix(name, "20121109T123456Z") || len(name) > 200 {
			t.Errorf("%d bytes: %s", len(name), name)
		}
	}
	if len(names) != 40 { // the number is behind a blank
		t.Errorf("%d words", len(names))
	}
}

// TestTakenBackIsTheSame: bytes, times and properties come back.
func TestTakenBackIsTheSame(t *testing.T) {
	t.Parallel()
	for _, move := range []bool{true, false} {
		w := newWorld(t, keepingVersions(0))
		sam := w.as("sam")
		sam.mustPutDocument("core/a", large("a"))
		then := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		_, err := sam.Files.PatchDocument(t.Context(), sam.request(nil), path("core/a"), files.Patch{
			Properties: []store.Property{{Space: "urn:x", Name: "p", XML: `<p xmlns="urn:x"/>`}}, Modified: then,
		})
		w.kind("PROPPATCH", err, "")
		before := *sam.mustDocument("core/a")
		w.advance(time.Hour)
		w.as("ann").mustPutDocument("core/a", "b")
		w.advance(time.Hour)
		same(t, "the versions", sam.versions("core/.history"), "20121109T133456Z a@sam")
		w.kind("take back", sam.takeBack("core/.history/20121109T133456Z a@sam", "core/a", move), "")
		after := *sam.mustDocument("core/a")
		same(t, "the document", []any{after.SHA256, after.Modified, after.Properties, after.MediaType, after.Size}, []any{before.SHA256, then, before.Properties, before.MediaType, before.Size})
		want := "20121109T133456Z a@sam 20121109T143456Z a@ann"
		if move {
			want = "20121109T143456Z a@ann"
		}
		same(t, "what it was meanwhile", sam.versions("core/.history"), want)
		w.collect()
		same(t, "its bytes", sam.readDocument("core/a"), "application/octet-stream: "+large("a"))
	}
}

// TestRightsOnVersions: versions are for those who may read or write the documents of the
// context in which they were, wherever the document is now.
func TestRightsOnVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keepingVersions(0))
	sam, bob, admin := w.as("sam"), w.as("bob"), w.as("admin")
	sam.mustPutDocument("sam/secret", "mine alone")
	sam.mustPutDocument("sam/secret", "for the team")
	_, err := sam.moveDocument("sam/secret", "core/secret", files.Transfer{})
	w.kind("MOVE", err, "")
	same(t, "what the team sees", w.as("ann").versions("core/.history"), "")
	const at = "sam/.history/20121109T123456Z secret"
	same(t, "what sam sees", sam.readVersion(at), "mine alone")
	for _, other := range []user{bob, w.as("ann")} {
		_, err := other.Files.OpenVersion(t.Context(), other.by(), versionPath(at))
		w.kind("GET by another", err, errs.NotFound)
		_, err = other.Files.HasVersions(t.Context(), other.by(), path("sam"))
		w.kind("the listing by another", err, errs.NotFound)
		other.deleteVersion(at, errs.NotFound)
		w.kind("MOVE by another", other.takeBack(at, string(other.by().Name)+"/x", true), errs.NotFound)
	}
	stop := w.running()
	same(t, "what an administrator sees", admin.readVersion(at), "mine alone")
	stop()
	if lines := strings.Join(w.audited("2012-11-09"), "\n"); !strings.Contains(lines, ".history") {
		t.Errorf("it is not audited: %s", lines)
	}
	admin.deleteVersion(at, errs.NotAllowed)
	w.kind("MOVE by an administrator", admin.takeBack(at, "admin/x", true), errs.NotAllowed)
	w.kind("COPY by an administrator", admin.takeBack(at, "admin/x", false), "")

	// A document that an entry needs is not deleted, and no version of it is one.
	_, err = sam.putDocument("sam/.history", "x")
	w.kind("a document in its place", err, errs.NotAllowed)
	w.kind("a folder in its place", sam.makeFolder("sam/.history"), errs.NotAllowed)
	w.kind("a folder of that name below", sam.makeFolder("core/.history"), errs.NotAllowed)
	sam.mustMakeFolder("core/d")
	sam.mustMakeFolder("core/d/.history")
}

// TestVersionsGiveWay: versions count against the quota of their authors, and the oldest
// go before a save is refused.
func TestVersionsGiveWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keepingVersions(10_000))
	sam, ann := w.as("sam"), w.as("ann")
	put := func(u user, at string, size int, announced int64) error {
		w.advance(time.Second)
		_, err := w.Files.PutDocument(t.Context(), u.request(nil), path(at), contents.Upload{Size: announced, Body: bytes.NewReader(bytes.Repeat([]byte{byte(size)}, size))})
		return err
	}
	for _, tt := range []struct {
		what      string
		by        user
		at        string
		size      int
		announced int64
		want      errs.Kind
		versions  string
		sam       int64
	}{
		{"a", sam, "core/a", 4000, 4000, "", "", 4000},
		{"a again", sam, "core/a", 4001, 4001, "", "20121109T123458Z a@sam", 8001},
		{"and again", sam, "core/a", 4002, 4002, "", "20121109T123459Z a@sam", 8003},
		{"by another", ann, "core/a", 10, 10, "", "20121109T123459Z a@sam 20121109T123500Z a@sam", 8003},
		{"another, not announced", sam, "sam/b", 9000, -1, "", "", 9000},
		{"too much", sam, "sam/c", 1001, -1, errs.Full, "", 9000},
		{"too much in its place", sam, "sam/b", 10_001, 10_001, errs.Full, "", 9000},
		{"all in its place", sam, "sam/b", 10_000, 10_000, "", "", 10_000},
	} {
		w.kind(tt.what, put(tt.by, tt.at, tt.size, tt.announced), tt.want)
		same(t, tt.what+": the versions", sam.versions("core/.history"), tt.versions)
		if got := sam.used(); got != tt.sam {
			t.Errorf("%s: sam has %d, want %d", tt.what, got, tt.sam)
		}
	}
	same(t, "what is left", sam.versions("core/.history")+sam.versions("sam/.history"), "")
	if got := sam.used(); got != 10_000 {
		t.Errorf("sam has %d", got)
	}
	// A deleted folder gives way as well.
	w.kind("DELETE", sam.deleteDocument("sam/b"), "")
	sam.mustMakeFolder("sam/d")
	sam.mustPutDocument("sam/d/e", strings.Repeat("e", 9000))
	w.kind("DELETE", sam.deleteDocument("sam/d"), "")
	sam.mustPutDocument("sam/f", strings.Repeat("f", 9000))
	same(t, "with a folder", sam.versions("sam/.history"), "")
	w.collect()
	if got := sam.used(); got != 9000 {
		t.Errorf("sam has %d", got)
	}
	// So they do for what is stored elsewhere.
	w.kind("DELETE", sam.deleteDocument("sam/f"), "")
	try(sam.putAttachment(engine.NewAttachment{Size: 6000}, strings.Repeat("a", 6000))).must(w, "an attachment")
	same(t, "after an attachment", sam.versions("sam/.history"), "")
	sam.mustPutDocument("sam/g", strings.Repeat("g", 3000))
	w.kind("DELETE", sam.deleteDocument("sam/g"), "")
	sam.startCase(`{"route": "ask", "input": "` + strings.Repeat("i", 2000) + `"}`)
	same(t, "after a case", sam.versions("sam/.history"), "")
}

// TestVersionsExpire: after 30 days a version is gone for everybody, its row at the next
// look and its content with it.
func TestVersionsExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keepingVersions(0))
	sam := w.as("sam")
	sam.mustPutDocument("sam/a", large("a"))
	sam.mustPutDocument("sam/a", "b")
	w.collect()
	if names, _ := w.files(); len(names) != 1 {
		t.Errorf("%d contents are kept", len(names))
	}
	w.advance(30*24*time.Hour - time.Second)
	same(t, "a second before", sam.versions("sam/.history"), "20121109T123456Z a")
	w.advance(time.Second)
	same(t, "then", sam.versions("sam/.history"), "")
	_, err := sam.Files.OpenVersion(t.Context(), sam.by(), versionPath("sam/.history/20121109T123456Z a"))
	w.kind("GET", err, errs.NotFound)
	sam.mustPutDocument("sam/a", "c")
	w.collect()
	if names, _ := w.files(); len(names) != 0 {
		t.Errorf("%d contents are kept", len(names))
	}
	if got := sam.used(); got != 2 {
		t.Errorf("sam has %d bytes", got)
	}
}

// TestVersionsOfWhoLeaves: nobody is kept by versions. Those of a user's own documents go;
// those of a team's are the team's then, or the successor's.
func TestVersionsOfWhoLeaves(t *testing.T) {
	t.Parallel()
	for _, handOver := range []bool{false, true} {
		w := newWorld(t, keepingVersions(0))
		admin, ann := w.as("admin"), w.as("ann")
		admin.mustPutParty(identity.User, "tom", `{}`)
		admin.mustPutParty(identity.Team, "crew", `{"members": ["tom", "ann"]}`)
		tom := w.as("tom")
		tom.mustMakeFolder("tom/d")
		for _, at := range []string{"tom/a", "tom/d/e", "crew/a"} {
			tom.mustPutDocument(at, large("1"))
			tom.mustPutDocument(at, large("2"))
		}
		for _, at := range []string{"tom/a", "tom/d"} {
			w.kind("DELETE of "+at, tom.deleteDocument(at), "")
		}
		ann.mustPutDocument("crew/a", "3")
		admin.mustPutParty(identity.Team, "crew", `{"members": ["ann"]}`)
		before := ann.versions("crew/.history")
		to := ""
		if handOver {
			to = "ann"
		}
		w.kind("DELETE of the user", w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "tom", to), "")
		same(t, "the team's", ann.versions("crew/.history"), before)
		w.collect()
		same(t, "what it was", ann.readVersion("crew/.history/20121109T123456Z a@tom"), large("1"))
		if handOver {
			same(t, "the successor's", ann.versions("ann/.history"),
				"tom/(20121109T123456Z a 20121109T123456Z d(e) 20121109T123457Z a d/(20121109T123456Z e))")
		}
	}
}
