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
