package files

import (
	"strings"

	"flowdrive/engine/contents"
	"flowdrive/store"
)

// ChecksumSpace and ChecksumName name the property by which sync programs ask for the
// checksum that a document was stored with.
const (
	ChecksumSpace = "http://owncloud.org/ns"
	ChecksumName  = "checksums"
)

// keepTold keeps what the sender of a document told of it. The checksum of what was
// there before goes with that.
func keepTold(tx store.Tx, d *store.Document, up contents.Upload) error {
	if !up.Modified.IsZero() {
		d.Modified = up.Modified
		if err := tx.Write().Documents().SetModified(d.ID, d.Modified); err != nil {
			return err
		}
	}
	if up.Checksum == "" && !strings.Contains(string(d.Properties), ChecksumSpace) {
		return nil
	}
	told := store.Property{Space: ChecksumSpace, Name: ChecksumName}
	if up.Checksum != "" {
		told.XML = `<oc:checksums xmlns:oc="` + ChecksumSpace + `"><oc:checksum>` + up.Checksum + `</oc:checksum></oc:checksums>`
	}
	after, _, err := patched(d.Properties, []store.Property{told})
	if err != nil {
		return err
	}
	d.Properties = after
	return tx.Write().Documents().SetProperties(d.ID, after)
}
