package change

import (
	"crypto/sha256"
	"fmt"
)

// SourceETag returns the entity tag, quoted, of a document that is given back
// as it was stored: 128 bits of its SHA-256.
func SourceETag(source []byte) string {
	sum := sha256.Sum256(source)
	return fmt.Sprintf("\"%x\"", sum[:16])
}
