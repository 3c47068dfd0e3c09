package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schema"
	"flowdrive/store"
	"flowdrive/store/relational"
)

// testdata/versions has a dump of a database of each version of the schema,
// 1.sql and so on, with rows in every table, and of each but the newest what
// becomes of it by all later migrations, 1.now.sql and so on. -update writes
// what becomes of them, and the dump of the newest version if there is none. A
// dump is never overwritten: users may have databases of that version.
func dumpFile(version int64) string {
	return filepath.Join("testdata", "versions", fmt.Sprintf("%d.sql", version))
}

// TestVersions carries the data of every version that there has been to the
// newest. A migration that is added without a dump of the version before, or
// changed after there is a dump of it, fails here.
func TestVersions(t *testing.T) {
	t.Parallel()
	newest, err := relational.NewestMigration(schema.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dumpFile(newest)); *update && errors.Is(err, fs.ErrNotExist) {
		writeGolden(t, dumpFile(newest), dumpText(t, filledDatabase(t)))
	}
	fresh := schemaOf(t, openRaw(t, freshDatabase(t, newest)))
	for version := int64(1); version <= newest; version++ {
		stored, err := os.ReadFile(dumpFile(version))
		if err != nil {
			t.Fatalf("there is no dump of version %d; with the migrations up to that one, -update writes it: %v", version, err)
		}
		path := filepath.Join(t.TempDir(), "flowdrive.db")
		restore(t, path, string(stored))
		raw := openRaw(t, path)
		if diff := cmp.Diff(schemaOf(t, openRaw(t, freshDatabase(t, version))), schemaOf(t, raw)); diff != "" {
			t.Errorf("the migrations up to %d no longer make what the dump has (-made +dump); they may not change:\n%s", version, diff)
		}
		wantRows(t, raw, version)
		db := open(t, path, Options{})
		start(t, db)
		consistent(t, db)
		raw = openRaw(t, path)
		if diff := cmp.Diff(fresh, schemaOf(t, raw)); diff != "" {
			t.Errorf("version %d has become another schema than a new database has (-new +got):\n%s", version, diff)
		}
		golden := strings.TrimSuffix(dumpFile(version), ".sql") + ".now.sql"
		switch {
		case version == newest:
			golden = dumpFile(version)
		case *update:
			writeGolden(t, golden, dumpText(t, path))
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatalf("-update writes what version %d has become; read it: %v", version, err)
		}
		if diff := cmp.Diff(withoutGoose(string(want)), withoutGoose(dumpText(t, path))); diff != "" {
			t.Errorf("what version %d has become (-%s +got):\n%s", version, golden, diff)
		}
	}
}

func writeGolden(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// freshDatabase returns the file of an empty database of the version.
func freshDatabase(t *testing.T, version int64) string {
	t.Helper()
	names, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	upTo := fstest.MapFS{}
	for _, name := range names {
		number, err := goose.NumericComponent(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := fs.ReadFile(schema.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		if number <= version {
			upTo[name] = &fstest.MapFile{Data: data}
		}
	}
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	db, err := Open(t.Context(), path, Options{migrations: upTo})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantRows wants rows in every table of a dump.
func wantRows(t *testing.T, raw rawDB, version int64) {
	t.Helper()
	for _, name := range tablesOf(t, raw) {
		if n := raw.strings(t, `SELECT count(*) FROM `+name); n[0] == "0" {
			t.Errorf("the dump of version %d has nothing in the table %s", version, name)
		}
	}
}

// filledDatabase returns the file of a database of the newest version with rows
// in every table.
func filledDatabase(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop := start(t, db)
	sam, ann, team := addUser(t, db, "sam"), addUser(t, db, "ann"), identity.ID(db.NextID())
	route := newRoute(db, "Bug", sam, sam)
	route.Brief = []byte(`{"title":"Bug"}`)
	open, child, ended := newCase(db, sam, route.ID), newCase(db, ann, route.ID), newCase(db, sam, route.ID)
	entry := newEntry(1, sam)
	mustUpdate(t, db, func(tx store.Tx) error {
		return errors.Join(fillAccounts(tx.Write(), sam, ann, team), fillSchedule(tx.Write(), route, entry),
			fillCases(tx, open, child, ended, entry), fillDrive(tx.Write(), sam, open), fillRest(tx.Write(), sam, open))
	})
	stop()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fillAccounts(w store.Writer, sam, ann, team identity.ID) error {
	of := func(kind store.SecretKind) error {
		return w.Parties().InsertSecret(kind, &store.Secret{UserID: sam, Label: "Phone", SHA256: digest(string(kind)), Created: noon(), LastUsed: noon()})
	}
	return errors.Join(
		w.Parties().Put(&store.Party{
			Party: identity.Party{
				ID: ann, Name: "ann", Kind: identity.User, FullName: "Ann", Email: "ann@example.org", Admin: true,
				Deputy: identity.Deputy{User: "sam", From: noon(), To: noon().Add(time.Hour)},
			},
			Quota:    5 << 20,
			Password: "$argon2id$", Quiet: true, Watch: []string{"Bug"}, Zone: "Europe/Berlin", Revision: 2,
			Mail: store.MailWishes{Kinds: []string{"task"}, Digest: "07:30", Quiet: &store.QuietHours{From: "20:00", To: "07:00"}}, Created: noon(), Modified: noon(),
		}),
		w.Parties().Put(&store.Party{
			Party:   identity.Party{ID: team, Name: "all", Kind: identity.Team, Members: []identity.Name{"sam", "ann"}, Admins: []identity.Name{"ann"}},
			Created: noon(), Modified: noon(),
		}),
		of(store.AppPassword), of(store.CalendarLink),
		w.Answers().Put(&store.Answer{User: sam, Key: "k", Request: digest("r"), URL: digest("u"), Answer: []byte("{}"), Created: noon()}),
		w.Audit().Append(noon(), []byte(`{"what":"log-in"}`+"\n")),
		w.Settings().Put("key", "value"),
		w.Outbox().HeldMails().Insert(&store.HeldMail{UserID: sam, Due: noon(), Digest: true, Created: noon(), Mail: []byte(`{}`)}),
		w.Parties().InsertSession(&store.Session{UserID: sam, SHA256: [32]byte{7}, Agent: "Mozilla/5.0", Lasting: true, Created: noon(), LastUsed: noon()}),
		w.Outbox().Letters().Insert(&store.Letter{Name: "2012-11-09 12.34.56 sam@example.org.eml", Created: noon(), Size: 2, Content: []byte("x\n")}),
	)
}

func fillSchedule(w store.Writer, route *store.Route, entry *store.Entry) error {
	entry.RouteID, entry.Attachment, entry.Paused = route.ID, store.UUID{0: 0xa7, 15: 1}, noon()
	return errors.Join(
		w.Routes().Put(route), w.Entries().Insert(entry),
		w.Entries().InsertOccurrence(&store.Occurrence{
			Entry: entry.UUID, ContextID: entry.ContextID, Instant: noon(), Outcome: "skipped", Reason: "paused", FiredAt: noon(),
		}),
		w.Names().Put(&store.GivenName{Folder: store.FolderSchedule, Author: entry.AuthorID, Name: "n.json", Entry: entry.UUID, Source: []byte("{}"), ETag: `"e"`, Modified: noon()}),
		w.Queue().PutHold(&store.Hold{Name: "all", Engine: true, Reason: "Maintenance.", Author: "ann", Revision: 1, Created: noon(), Modified: noon()}),
		w.History().Insert(&store.HistoryEntry{Folder: store.FolderSchedule, AuthorID: entry.AuthorID, Name: "n.json", Replaced: noon(), ETag: `"d"`, Source: []byte("{}")}),
		w.History().PutTombstone(&store.Tombstone{User: entry.AuthorID, Folder: store.FolderSchedule, Name: "gone.json", Deleted: noon(), Kept: []byte(`{}`)}, time.Time{}),
		w.Entries().PutEnded(&store.EndedEntry{
			UUID: store.UUID{0: 0xe1, 15: 1}, ContextID: entry.ContextID, Author: entry.AuthorID, Name: "once.json", Actor: "sam", Ended: noon(), Form: []byte("{}"),
		}),
	)
}

func fillCases(tx store.Tx, open, child, ended *store.Case, entry *store.Entry) error {
	w := tx.Write()
	open.State, open.Status, open.Due, open.Entry, open.Named = "active", "open", noon(), entry.UUID, true
	open.Tasks = []store.TaskShare{{Party: open.StarterID, Lists: 1}, {Lists: 2}}
	child.Parent, child.ParentRow, child.Group, child.Busy, child.Waits = open.ID, 3, "g", true, true
	ended.State, ended.Retires = string(machine.Completed), noon()
	return errors.Join(
		w.Cases().Insert(open), w.Cases().Insert(child), w.Cases().Insert(ended),
		w.Cases().Archive(ended.ID, 201211, time.Time{}, noon()),
		w.Cases().AppendLog(open.ID, 1, []byte(`[{"text":"Begun"}]`)),
		w.Cases().PutPlan(open.ID, 3, []byte(`{}`)), w.Cases().PutPurge(4711, noon()),
		w.Cases().InsertDone(&store.DoneTask{User: open.StarterID, Time: noon(), CaseID: open.ID, Seq: 1, Action: "begin", Form: []byte("{}")}),
		w.Routes().PutMeaning(&store.Meaning{RouteID: open.RouteID, Kind: store.PartyMeant, Folded: "eve", Upto: 1, MeantID: int64(open.StarterID)}),
		w.Cases().PutLinks(open.ID, []store.CaseLink{{CaseID: open.ID, Relation: "follows", Target: ended.ID}}),
		w.Cases().Messages().Put(&store.Message{
			UUID: store.UUID{1: 1}, CaseID: open.ID, Label: store.LabelInput, AuthorID: open.StarterID, MediaType: "text/csv", Size: 1,
			SHA256: digest("x"), Content: []byte("x"), Version: 1, Created: noon(), Modified: noon(),
		}),
		w.Names().Put(&store.GivenName{Folder: store.FolderCases, Author: open.StarterID, Name: "Chairs.yaml", CaseID: open.ID, Source: []byte("a: 1\n"), ETag: `"c"`, Modified: noon()}),
		w.Names().PutAlias(&store.Alias{Author: open.StarterID, RouteID: open.RouteID, Name: "x.csv", CaseID: open.ID}),
		w.Troubles().Insert(&store.Trouble{CaseID: open.ID, Name: "start", Due: noon(), Data: []byte(`{}`)}),
		w.Troubles().Insert(&store.Trouble{Entry: entry.UUID, Name: "firing", Due: noon(), Data: []byte(`{}`)}),
		w.Routes().Hooks().Put(&store.Hook{RouteID: open.RouteID, Name: "Pushes", Author: 1, SHA256: store.Digest{1}, Settings: []byte(`{}`), Fault: "none", Revision: 1, Created: noon(), Modified: noon()}),
		w.Routes().Scenarios().Put(&store.Scenario{
			RouteID: open.RouteID, AuthorID: 1, Route: "Bug", YAML: true, Source: []byte("steps: [check: true]\n"), ETag: `"s"`, Title: "A story",
			Played: noon(), Version: 1, Steps: 1, Expectations: 2, Created: noon(), Modified: noon(),
		}),
		w.Routes().Scenarios().Put(&store.Scenario{AuthorID: 1, Route: "Later", Source: []byte("{}"), ETag: `"t"`, Created: noon(), Modified: noon()}),
		w.Outbox().Insert(&store.OutboxRow{Key: "1.1.1", CaseID: open.ID, Seq: 1, Step: 1, Lane: "mail", Request: []byte(`{}`), Due: noon(), Created: noon()}),
		w.Outbox().PutJournal(&store.Journal{CaseID: open.ID, Seq: 1, Step: 1, Name: "run.1-1", Created: noon(), Modified: noon(), Form: []byte(`{}`)}),
	)
}

func fillDrive(w store.Writer, sam identity.ID, open *store.Case) error {
	attachment := newAttachment(1, sam, "attached")
	attachment.CaseID = open.ID
	folder := newFolder(1, sam, "Plans") // in the root of sam
	file := newFile(0, sam, "a.txt", "text")
	file.Properties = `[{"s":"urn:x","n":"p","x":"<p xmlns=\"urn:x\"/>"}]`
	insertFile := func() error {
		file.ParentID = folder.ID
		if err := w.Documents().Insert(file); err != nil {
			return err
		}
		before := store.Version{
			Document: *file, Place: store.VersionPlace{Context: sam, Folder: folder.Name}, Shown: "20121109T120000Z " + file.Name,
			Replaced: noon(), Replacer: sam, Owner: sam,
		}
		return w.Documents().Versions().KeepCopy(&before)
	}
	return errors.Join(
		w.Blobs().Note(attachment.SHA256), w.Attachments().Insert(attachment), w.Documents().Insert(folder), insertFile(),
		w.Scratch().Put(&store.Scratch{
			Author: sam, Place: store.ScratchPlace{Folder: "/dav/x", Name: "~a.tmp"}, Kind: store.SideFile, MediaType: "text/plain",
			Size: 1, SHA256: digest("s"), Content: []byte("s"), Created: noon(), Modified: noon(), Expires: noon().Add(time.Hour),
		}),
	)
}

func fillRest(w store.Writer, sam identity.ID, open *store.Case) error {
	return w.Locks().Insert(&store.Lock{
		Token: store.UUID{1}, On: store.LockKey(fmt.Sprintf("case/%d", open.ID)), HolderID: sam, Owner: "<me/>", Root: "/dav/x",
		Lasts: time.Hour, Expires: noon().Add(time.Hour),
	})
}

// TestBuildsBeforeTheFirstRelease wants their databases to be refused with a
// reason.
func TestBuildsBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	restore(t, path, `
		CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER, is_applied INTEGER, tstamp TEXT);
		INSERT INTO goose_db_version VALUES (1, 18, 1, '');
		CREATE TABLE cases (id INTEGER PRIMARY KEY);`)
	_, err := Open(t.Context(), path, Options{})
	if !errs.Is(err, errs.Unavailable) || !strings.Contains(err.Error(), "before its first release") {
		t.Errorf("error %v", err)
	}
}
