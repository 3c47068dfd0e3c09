// Package check looks whether a data folder is sound, beside a running server or
// without one: the structure of the database, what must hold between its rows, each
// content's SHA-256, and what is stored of each case and schedule entry
// (docs/contract/storage.md#6-checks).
package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"flowdrive/attach"
	"flowdrive/engine"
	"flowdrive/engine/audit"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
	"flowdrive/store"
	"flowdrive/store/sqlite"
)

// Finding is something that is not as it should be.
type Finding struct {
	Kind string // database, row, content, orphan, case, entry, message, document, scratch or audit
	ID   string
	Path string // on the drive, else below the data folder
	Text string

	Unjudged bool // nothing is known to be wrong: it could not be judged
}

// String returns the finding as one line. A path that is the id is told once.
func (f Finding) String() string {
	if f.ID == f.Path {
		return fmt.Sprintf("%s %s: %s", f.Kind, f.ID, f.Text)
	}
	return fmt.Sprintf("%s %s %s: %s", f.Kind, f.ID, f.Path, f.Text)
}

// Config says what is checked.
type Config struct {
	Data  string       // the data folder; "" if there is a Snapshot
	Place attach.Place // where its contents lie; nil: in the data folder
	Zones schedule.Zones

	// Snapshot returns the path of a new copy of the tables as they are now, in a SQLite
	// file, if what is checked is in another database; nil: it is in the data folder.
	Snapshot func(context.Context) (path string, err error)

	// Repair removes files of contents that nothing knows. No server may have the
	// data folder open.
	Repair bool

	Report   func(Finding) error
	Progress func(done, all int64) // bytes of contents
}

// The parts of a data folder.
const (
	databaseName = "flowdrive.db"
	contentsName = "contents"
)

// Run checks the data folder and reports what it finds. An error says that it could
// not look, or is one of Report.
func Run(ctx context.Context, c Config) (err error) {
	if c.Place == nil {
		c.Place = attach.At(filepath.Join(c.Data, contentsName))
	}
	unpin, err := c.Place.Pin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpin()) }()
	source, err := c.open(ctx)
	if err != nil || source == nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	k := &checker{Config: c, ctx: ctx.Err, source: source}
	for _, part := range []func() error{k.structure, k.inline, k.cases, k.entries, k.contents, k.audit, func() error { return k.orphans(ctx) }} {
		if err := k.noteDamage(part()); err != nil {
			return err
		}
		if k.broken {
			return nil // what else is said of it would say nothing
		}
	}
	return nil
}

// open opens the database. One that is damaged is reported, and nil is returned.
func (c *Config) open(ctx context.Context) (*sqlite.Source, error) {
	at := filepath.Join(c.Data, databaseName)
	if c.Snapshot != nil {
		var err error
		if at, err = c.Snapshot(ctx); err != nil {
			return nil, err
		}
	}
	source, err := sqlite.OpenSource(ctx, at)
	if sqlite.IsDamaged(err) {
		return nil, c.Report(damagedDatabase(err))
	}
	if err != nil {
		return nil, err
	}
	newest, err := sqlite.NewestSchema()
	if err == nil && source.Schema() != newest {
		err = fmt.Errorf("the database has schema version %d, this program checks version %d: check it with the program that used it last, or start this one's server once", source.Schema(), newest)
	}
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return source, nil
}

func damagedDatabase(err error) Finding {
	return Finding{Kind: "database", ID: databaseName, Path: databaseName, Text: "it is damaged: " + sqlite.Cause(err)}
}

// checker checks one data folder.
type checker struct {
	Config
	ctx    func() error // whether to go on
	source *sqlite.Source
	broken bool // the database cannot be read
	all    int64
	done   int64
}

// noteDamage reports an error that says that the database is damaged, and returns
// others.
func (k *checker) noteDamage(err error) error {
	if !sqlite.IsDamaged(err) {
		return err
	}
	k.broken = true
	return k.Report(damagedDatabase(err))
}

// audit checks whether the audit log is as it was written.
func (k *checker) audit() error {
	report, err := audit.Verify(k.source.Reader().Audit(), nil)
	if err != nil || report.Broken == "" {
		return err
	}
	return k.Report(Finding{Kind: "audit", ID: "log", Path: "/dav/Admin/Audit/", Text: "it is not as it was written: " + report.Broken})
}

// structure checks the database as such.
func (k *checker) structure() error {
	return k.source.Check(func(f sqlite.Fault) error {
		kind := "row"
		if f.What == sqlite.DamagedStructure {
			kind, k.broken = "database", true
		}
		return k.Report(Finding{Kind: kind, ID: databaseName, Path: databaseName, Text: f.What + ": " + oneLine(f.Row)})
	})
}

// inline compares the contents that are in the database with their SHA-256.
func (k *checker) inline() error {
	return k.source.Inline(func(i *sqlite.Inline) error {
		if got := store.DigestOf(i.Content); got != i.SHA256 {
			path, err := k.pathOf(i)
			if err != nil {
				return err
			}
			return k.Report(Finding{Kind: i.Kind, ID: fmt.Sprint(i.ID), Path: path, Text: fmt.Sprintf("its content has the SHA-256 %x, not %x", got, i.SHA256)})
		}
		return k.ctx()
	})
}

// pathOf returns the path on the drive of what refers to a content.
func (k *checker) pathOf(i *sqlite.Inline) (string, error) {
	switch i.Kind {
	case "message":
		return fmt.Sprintf("/dav/Workflow/Cases/%d/Messages/%s", i.ID, url.PathEscape(i.Name)), nil
	case "attachment":
		return "/attachfs/view/" + i.Name, nil
	case "document":
		path, err := k.source.DocumentPath(i.ID)
		if err != nil || path == "" {
			return "-", err
		}
		return "/dav/Documents/" + escape(path), nil
	}
	return "-", nil
}

// escape returns a path with what would end a word or a line percent-encoded.
func escape(path string) string { return (&url.URL{Path: path}).EscapedPath() }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cases checks what is stored of each case.
func (k *checker) cases() error {
	sound := engine.NewSoundness(k.Zones)
	return k.source.Cases(func(c *store.Case) error {
		faults, unjudged := sound.Case(k.source.Reader(), c)
		if unjudged != "" {
			faults = append(faults, "not judged "+unjudged)
		}
		for i, text := range faults {
			found := Finding{Kind: "case", ID: fmt.Sprint(c.ID), Path: fmt.Sprintf("/dav/Workflow/Cases/%d.json", c.ID), Text: oneLine(text)}
			found.Unjudged = unjudged != "" && i == len(faults)-1
			if err := k.Report(found); err != nil {
				return err
			}
		}
		return k.ctx()
	})
}

// entries checks what is stored of each schedule entry.
func (k *checker) entries() error {
	sound := engine.NewSoundness(k.Zones)
	return k.source.Entries(func(e *store.Entry) error {
		for _, text := range sound.Entry(e) {
			id := e.UUID.String()
			if err := k.Report(Finding{Kind: "entry", ID: id, Path: "/dav/Workflow/Schedule/" + id + ".json", Text: oneLine(text)}); err != nil {
				return err
			}
		}
		return k.ctx()
	})
}

// contents compares each content that is a file with its SHA-256.
func (k *checker) contents() error {
	count := func(d store.Digest) error {
		size, err := k.Place.Size(d)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		k.all += size
		return k.ctx()
	}
	if err := k.source.Contents(count); err != nil {
		return err
	}
	return k.source.Contents(func(d store.Digest) error {
		text, err := k.content(d)
		if err != nil || text == "" {
			return err
		}
		return k.reportContent(d, text)
	})
}

// content returns what is wrong with a content, "" for nothing.
func (k *checker) content(d store.Digest) (string, error) {
	f, err := k.Place.Open(d)
	if errs.Is(err, errs.NotFound) {
		return "its file " + k.Place.Name(d) + " is not there", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	buffer := make([]byte, 1<<17)
	for {
		n, err := f.Read(buffer)
		_, _ = h.Write(buffer[:n])
		k.done += int64(n)
		k.Progress(k.done, k.all)
		if err := k.ctx(); err != nil {
			return "", err
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Sprintf("its file cannot be read: %v", err), nil
		}
	}
	if got := h.Sum(nil); [32]byte(got) != d {
		return fmt.Sprintf("its file is damaged: the bytes have the SHA-256 %x", got), nil
	}
	return "", nil
}

// reportContent reports a content, once for each thing that refers to it.
func (k *checker) reportContent(d store.Digest, text string) error {
	uses, err := k.source.Uses(d)
	if err != nil {
		return err
	}
	for i := range uses {
		path, err := k.pathOf(&uses[i])
		if err != nil {
			return err
		}
		if err := k.Report(Finding{Kind: "content", ID: hex.EncodeToString(d[:]), Path: path, Text: text}); err != nil {
			return err
		}
	}
	if len(uses) == 0 {
		return k.Report(Finding{Kind: "content", ID: hex.EncodeToString(d[:]), Path: k.Place.Name(d), Text: text})
	}
	return nil
}

// orphans looks for files that nothing knows. A content has its row before it has
// its file, so the rows are read after the files.
func (k *checker) orphans(ctx context.Context) error {
	var found []attach.Found
	err := k.Place.Walk(ctx, func(f attach.Found) error {
		if !f.Own {
			return k.Report(Finding{Kind: "orphan", ID: escape(path.Base(f.Name)), Path: escape(f.Name), Text: "it is not the file of a content, and stays: look what it is, and remove it by hand"})
		}
		known, err := k.source.Knows(f.Sum)
		if !known {
			found = append(found, f)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		return err
	}
	now, err := k.open(ctx)
	if err != nil || now == nil {
		return err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	for _, f := range found {
		known, err := now.Knows(f.Sum)
		if err != nil {
			return err
		}
		if !known {
			if err := k.orphan(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphan reports a file that nothing knows, or removes it.
func (k *checker) orphan(f attach.Found) error {
	text := "nothing refers to this file, and the database does not know it; --repair-orphans removes it"
	if k.Snapshot != nil {
		text = "nothing refers to this content, and the database does not know it; it only takes room"
	}
	if k.Repair {
		if err := k.Place.Delete(f); err != nil {
			return err
		}
		text = "nothing referred to this file, and the database did not know it; it was removed"
	}
	return k.Report(Finding{Kind: "orphan", ID: hex.EncodeToString(f.Sum[:]), Path: f.Name, Text: text})
}
