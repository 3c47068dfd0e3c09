package davfs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/webdav"

	"flowdrive/attach"
	"flowdrive/davfs"
	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store/sqlite"
)

// The drive is served by the handler of golang.org/x/net/webdav, and a program
// stores a file on it itself.
func ExampleFileSystem() {
	if err := withEngine(func(ctx context.Context, e *engine.Engine) error {
		drive := davfs.NewFileSystem(davfs.Config{
			Engine: davfs.EngineOf(e), Clock: clock.Real{}, Status: func(errs.Kind) int { return http.StatusForbidden },
			Principal: func(context.Context) identity.Principal { return e.Accounts.Principal(e.Accounts.PartyID("admin")) },
		})
		file, err := drive.OpenFile(ctx, "/dav/Documents/admin/rates.csv", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(file, "EUR,1.2963"); err != nil {
			return err
		}
		if err := file.Close(); err != nil { // this is when it is stored
			return err
		}
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, locks := drive.Begin(r)
			(&webdav.Handler{FileSystem: drive, LockSystem: locks}).ServeHTTP(w, r)
		})
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/dav/Documents/admin/rates.csv", nil))
		fmt.Print(w.Code, " ", w.Body)
		entry := strings.NewReader(`{"route": "none", "type": "interval", "days": 1}`)
		w = httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPut, "/dav/Workflow/Schedule/a.json", entry))
		fmt.Println(w.Code)
		return nil
	}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 200 EUR,1.2963
	// 405
}

// withEngine lets f use an engine over a database in a temporary folder.
func withEngine(f func(ctx context.Context, e *engine.Engine) error) (err error) {
	folder, err := os.MkdirTemp("", "drive")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db, err := sqlite.Open(ctx, filepath.Join(folder, "flowdrive.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	blobs, err := attach.Open(filepath.Join(folder, "contents"))
	if err != nil {
		return errors.Join(err, db.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended, db.Close())
	}()
	e := engine.New(engine.Config{Store: db, Blobs: blobs, Clock: clock.Real{}})
	if _, err := e.Found(ctx, clock.Real{}.Now(), "", nil); err != nil {
		return err
	}
	if err := e.Load(ctx); err != nil {
		return err
	}
	return f(ctx, e)
}
