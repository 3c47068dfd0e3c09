package engine_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

func noon() time.Time { return time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC) }

func atNoon(w *world) { w.clock.Set(noon()) }

// overStore puts something between engine and store.
func overStore(wrap func(store.Store) store.Store) func(*world) {
	return func(w *world) { w.wrap = wrap }
}

// overBlobs puts something between engine and contents.
func overBlobs(wrap func(engine.Blobs) engine.Blobs) func(*world) {
	return func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Blobs = wrap(cfg.Blobs) }
	}
}

func withQuota(bytes int64) func(*world) {
	return func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Limits.Quota = bytes }
	}
}

func (u user) putAttachment(given engine.NewAttachment, text string, options ...option) (store.UUID, error) {
	u.Helper()
	if given.Name == "" {
		given.Name = "x"
	}
	given.Size = int64(len(text))
	out, err := u.Attachments.PutAttachment(u.Context(), u.request(options), given, strings.NewReader(text))
	if err != nil {
		return store.UUID{}, err
	}
	uuid, _ := store.ParseUUID(out.Name)
	return uuid, nil
}

func (u user) upload(given engine.NewAttachment, text string) store.UUID {
	u.Helper()
	return try(u.putAttachment(given, text)).must(u.world, "PUT of an attachment")
}

func (u user) deleteAttachment(uuid store.UUID) error {
	return u.Attachments.DeleteAttachment(u.Context(), u.request(nil), uuid)
}

func (u user) seesAttachment(uuid store.UUID) bool {
	u.Helper()
	_, err := u.Attachments.Attachment(u.Context(), u.by(), uuid)
	if err != nil && !errs.Is(err, errs.NotFound) {
		u.Fatal(err)
	}
	return err == nil
}

// everyNight is an entry of the route auto at 23:00, with what the rest of the
// document says.
func everyNight(rest string) string {
	return `{"route": "auto", "type": "cron", "hour": 23, "minute": 0, ` + rest + `}`
}

func attached(uuid store.UUID) string { return `"attachmentUUID": "` + uuid.String() + `"` }

// input returns the input of a case with its media type, as "type: bytes".
func (w *world) input(id int64) string {
	w.Helper()
	c := try(w.Cases.Message(w.Context(), w.as("admin").by(), id, store.UUID{}, engine.OwnInput)).must(w, "GET of an input")
	return c.MediaType + ": " + w.readAll(c.Body)
}

func (w *world) caseIDs() (ids []int64) {
	w.Helper()
	w.view(func(r store.Reader) error {
		all, err := r.Cases().List(store.CaseFilter{})
		for i := range all {
			ids = append(ids, all[i].ID)
		}
		return err
	})
	return ids
}

func (w *world) readAll(body io.ReadCloser) string {
	w.Helper()
	data, err := io.ReadAll(body)
	if err != nil {
		w.Error(err)
	}
	if err := body.Close(); err != nil {
		w.Error(err)
	}
	return string(data)
}

func (w *world) collect() {
	w.Helper()
	if err := w.Collect(w.Context()); err != nil {
		w.Errorf("collect: %v", err)
	}
}

// files returns the names of the contents that are on disk, and how many
// files there are that have no name.
func (w *world) files() (names map[string]bool, spooled int) {
	w.Helper()
	names = map[string]bool{}
	err := filepath.WalkDir(filepath.Join(w.dir, "contents"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case filepath.Base(path) == "pin": // by which a backup keeps contents
		case filepath.Base(filepath.Dir(path)) == "spool":
			spooled++
		default:
			names[d.Name()] = true
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return names, spooled
}

// sound checks that every attachment there is has its content, and that once
// the collector was there no other content is.
func (w *world) sound(what string) {
	w.Helper()
	admin := w.as("admin").by()
	want := map[string]bool{}
	for _, r := range try(w.Attachments.Attachments(w.Context(), admin, engine.Filter{})).must(w, "the list of attachments") {
		uuid, _ := store.ParseUUID(r.Name)
		a, err := w.Attachments.OpenAttachment(w.Context(), admin, uuid)
		if err != nil {
			w.Errorf("%s: %v", what, err)
			continue
		}
		want[fmt.Sprintf("%x", a.SHA256)] = true
		if text := w.readAll(a.Body); digest(text) != a.SHA256 {
			w.Errorf("%s: another content: %.20q", what, text)
		}
	}
	w.collect()
	got, spooled := w.files()
	if spooled != 0 {
		w.Errorf("%s: %d files without a name", what, spooled)
	}
	for name := range got {
		if !want[name] {
			w.Errorf("%s: nothing refers to %s", what, name)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%s: %d contents on disk, %d referred to", what, len(got), len(want))
	}
}

func digest(text string) store.Digest { return sha256.Sum256([]byte(text)) }

func hexOf(text string) string { return fmt.Sprintf("%x", digest(text)) }

// kind checks the kind of an error, "" for none.
func (w *world) kind(what string, err error, want errs.Kind) {
	w.Helper()
	if got := errs.KindOf(err); got != want {
		w.Errorf("%s: %q (%v), want %q", what, got, err, want)
	}
}
