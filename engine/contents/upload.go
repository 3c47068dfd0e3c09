package contents

import (
	"io"
	"time"
)

// Upload is a content on its way in.
type Upload struct {
	MediaType string // "": by the name
	Size      int64  // as announced, -1 if it was not
	Body      io.Reader

	// What sync programs tell of a document, which find by it what has changed.
	Modified time.Time // when it was changed last; zero: now
	Checksum string    // of the body, which was compared; "" for none
}
