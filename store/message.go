package store

import (
	"time"

	"flowdrive/internal/identity"
)

// LabelInput is the label of the message that a case is started with.
const LabelInput = "InputMessage"

// Message is a message of a case. Content is held here while it is small;
// else Blob names the file that holds it.
type Message struct {
	UUID      UUID
	CaseID    int64
	Label     string
	AuthorID  identity.ID // whose quota it counts against
	MediaType string
	Size      int64
	SHA256    Digest
	InFile    bool   // the content is the blob SHA256
	Content   []byte // when not InFile
	Version   int64
	Created   time.Time
	Modified  time.Time
}

// MessageReader reads the messages of cases.
type MessageReader interface {
	Get(caseID int64, uuid UUID) (*Message, error)
	GetByLabel(caseID int64, label string) (*Message, error)
	List(caseID int64) ([]Message, error) // in order of creation, without Content
}

// MessageWriter writes the messages of cases.
type MessageWriter interface {
	// Put creates a message or replaces the one of that case and label.
	Put(m *Message) error
}
