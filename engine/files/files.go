// Package files has the use cases of documents, and of their versions. It asks nothing
// of cases, routes or schedule entries.
package files

import (
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine/account"
	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/expiry"
	"flowdrive/engine/quota"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Files are the use cases of documents and of their versions.
type Files struct {
	*change.Maker
	accounts  *account.Accounts
	audit     *audit.Log
	contents  *contents.Keeper
	quota     quota.Bytes
	arriving  *quota.Arriving
	most      int64 // documents and folders of one author
	retention Retention
	log       zerolog.Logger
	publish   func(store.Tx, Published) error
	uses      func(r store.Reader, by identity.Principal, at change.DocumentPath) (change.Uses, error)

	documents documentCache
	expiry    *expiry.Loop
}

// Config is what Files are made of.
type Config struct {
	Maker     *change.Maker
	Accounts  *account.Accounts
	Audit     *audit.Log
	Contents  *contents.Keeper
	Quota     quota.Bytes
	Versions  Retention       // of what was overwritten and deleted
	MostFiles int64           // documents and folders that one user may have
	Arriving  *quota.Arriving // what users are sending, here and elsewhere
	Log       zerolog.Logger

	// Publish says what became of a document, once the unit is durable, and has what
	// needs the document look at it again.
	Publish func(store.Tx, Published) error
	// Uses returns what needs a document, or one below a folder.
	Uses func(r store.Reader, by identity.Principal, at change.DocumentPath) (change.Uses, error)
}

// New returns files over a store.
func New(cfg Config) *Files {
	return &Files{
		Maker: cfg.Maker, accounts: cfg.Accounts, audit: cfg.Audit, contents: cfg.Contents, quota: cfg.Quota, retention: cfg.Versions,
		arriving: cfg.Arriving, most: cfg.MostFiles,
		log: cfg.Log, publish: cfg.Publish, uses: cfg.Uses, expiry: expiry.New(),
	}
}

// Published is what became of a document or folder.
type Published struct {
	Change   Change
	Path     change.DocumentPath
	Root     identity.ID // the context below whose root it is
	Document *store.Document
	Time     time.Time
}

// Change is what became of something.
type Change string

// The changes of documents.
const (
	Created Change = "created"
	Changed Change = "changed"
	Deleted Change = "deleted"
)

func (e *Files) publishDocument(tx store.Tx, at *Place, d *store.Document, c Change, now time.Time) error {
	return e.publish(tx, Published{c, at.Path, at.Root.ID, d, now})
}
