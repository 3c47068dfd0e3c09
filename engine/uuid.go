package engine

import (
	"strconv"

	"flowdrive/store"

	"github.com/google/uuid"
)

// messageUUID is the UUID of a message: of version 5, from the case, the
// label and the version of the message, so that equal decisions name equal
// messages.
func messageUUID(guid store.UUID, label string, version int64) store.UUID {
	return store.UUID(uuid.NewSHA1(uuid.UUID(guid), []byte(label+"\x00"+strconv.FormatInt(version, 10))))
}
