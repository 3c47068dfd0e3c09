package store

import (
	"fmt"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Party is a user or team as stored.
type Party struct {
	identity.Party
	Password string   // its encoded hash, "" for none
	Quiet    bool     // users: no mails are wanted
	Watch    []string // users: names of the routes that they watch
	Mail     MailWishes
	Zone     string // users: their time zone, "" for that of the server
	Factor   string // users: what they prove besides the password, as JSON, "" for nothing
	Origin   string // users: the directory that vouches for them and their name in it, "" for none
	Pending  PendingAddress
	Quota    int64 // users: how many bytes they may store, 0: as the settings say
	Revision int64
	Created  time.Time
	Modified time.Time
}

// ETag returns the entity tag of the form, quoted.
func (p *Party) ETag() string { return fmt.Sprintf(`"p%d-%d"`, p.ID, p.Revision) }

// Administers reports whether the user is an administrator who may log in.
func (p *Party) Administers() bool {
	return p != nil && p.Kind == identity.User && p.Admin && !p.Disabled
}

// MailTo returns the address at which a user wants to be told of events, ""
// for none.
func (p *Party) MailTo() string {
	if p.Quiet {
		return ""
	}
	return p.Email
}

// NewFolder is a folder of documents that is to be made.
type NewFolder struct {
	Name string
	Now  int64 // in milliseconds since 1970
}

// FolderTaken is the refusal of a folder whose name is in use.
func FolderTaken(name string) error {
	return errs.New(errs.InUse, "There is a document or folder %q already; rename it first.", name)
}

// Wording is where a text about cases and schedule entries stands.
type Wording struct {
	Place string // the table
	Key   []any
}

// PartyReader reads users and teams.
type PartyReader interface {
	List() ([]Party, error)                   // by id
	HasContents(id identity.ID) (bool, error) // documents or attachments
	Started(id identity.ID) ([]int64, error)  // the ids of the cases that the user has started
	// Worded returns the texts about cases and schedule entries in which one of the words
	// stands, in any case. If the cases are not nil, only theirs and those of no case count.
	Worded(words []string, cases []int64) ([]Wording, error)
	AccountReader
}

// PartyWriter writes users and teams.
type PartyWriter interface {
	// Put stores a new party or replaces the one with that id. It returns
	// errs.NameTaken if another party has the name, in any case.
	Put(p *Party) error
	Delete(id identity.ID) error // errs.InUse if anything refers to it
	// HandOver gives the routes, schedule entries, names, attachments and
	// documents of one party to another one, and makes that the starter of its
	// cases. The documents come into a new folder of that name: one in use is
	// errs.InUse. now is in milliseconds since 1970. If the cases are not nil, it has
	// started no others.
	HandOver(from, to identity.ID, folder NewFolder, cases []int64) error
	// HandOverCases makes one party the starter of those cases that another one has started.
	HandOverCases(from, to identity.ID, cases []int64) error
	// Erase forgets what is kept for the user alone, and puts one name in place of another
	// where it says who has ended an entry or made a hold.
	Erase(id identity.ID, from, to string) error
	// ForgetDone deletes some of what is kept of what the user has done, the oldest first,
	// and returns how many there were.
	ForgetDone(id identity.ID, most int) (int64, error)
	// Reword has texts written again. One that there is no more is passed over.
	Reword(texts []Wording, reword func(text []byte) []byte) error
	AccountWriter
}
