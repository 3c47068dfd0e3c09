package document

import (
	"bytes"

	"flowdrive/internal/errs"
)

// Parse reads a document that a client has sent, in YAML or in JSON. It has at most
// 200,000 values (docs/contract/drive.md#limits). One in which nothing stands is
// errs.EmptyDocument, here and not before anything is asked: whether the caller
// may know of the place comes first (docs/contract/drive.md#order-of-checks).
func Parse(source []byte, yaml bool) (*Node, error) {
	if len(bytes.TrimSpace(source)) == 0 {
		return nil, errs.New(errs.EmptyDocument, "The document is empty; nothing was changed.")
	}
	if yaml {
		return ParseYAML(source)
	}
	return parseJSON(source, maxMarks)
}
