package davfs

import (
	"crypto/md5"  //nolint:gosec // compared with what a client has computed, protects nothing
	"crypto/sha1" //nolint:gosec // the same
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"hash"
	"hash/adler32"
	"net/http"
	"strconv"
	"strings"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Sync programs find what has changed by its time and its checksum, where the size is the
// same. They tell both with what they send, in the ways of ownCloud and of Windows
// (docs/contract/labels-attachments.md#times-and-checksums).

// bodyDigest compares a body with a checksum that its sender gave.
type bodyDigest struct {
	name string
	hash hash.Hash
	want string
}

// newDigest returns the hash of that name, nil for one that is not known.
func newDigest(name string) hash.Hash {
	switch strings.ToUpper(name) {
	case "SHA1":
		return sha1.New() //nolint:gosec // see the import
	case "MD5":
		return md5.New() //nolint:gosec // see the import
	case "SHA256":
		return sha256.New()
	case "ADLER32":
		return adler32.New()
	}
	return nil
}

// readTold reads what the header of a PUT tells of the document. What cannot be read is
// passed over.
func (u *upload) readTold(h http.Header) {
	u.modified = readTime(h.Get("X-OC-Mtime"))
	var known []string
	for checksum := range strings.FieldsSeq(h.Get("OC-Checksum")) {
		name, value, _ := strings.Cut(checksum, ":")
		if digest := newDigest(name); digest != nil && hex.DecodedLen(len(value)) == digest.Size() && len(known) < 4 {
			u.compare = append(u.compare, bodyDigest{name, digest, strings.ToLower(value)})
			known = append(known, strings.ToUpper(name)+":"+strings.ToLower(value))
		}
	}
	u.checksum = strings.Join(known, " ")
}

// compareDigests answers errs.BadParameter if a body that was read to its end is another
// than its sender has computed.
func compareDigests(all []bodyDigest) error {
	for _, d := range all {
		if got := hex.EncodeToString(d.hash.Sum(nil)); got != d.want {
			return errs.New(errs.BadParameter, "The %s of the body is %s, not %s as OC-Checksum says; it was changed on its way, and nothing was stored. Send it again.", strings.ToUpper(d.name), got, d.want)
		}
	}
	return nil
}

// lastTime is the last time that a document can have.
var lastTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// readTime reads a time as clients write it: seconds since 1970, a date of HTTP, or one
// of RFC 3339. It is zero if the text is none, or out of all bounds.
func readTime(text string) time.Time {
	text = strings.TrimSpace(text)
	t, err := http.ParseTime(text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	if whole, _, _ := strings.Cut(text, "."); err != nil {
		var seconds int64
		seconds, err = strconv.ParseInt(whole, 10, 64)
		if t = time.Unix(seconds, 0); seconds <= 0 || seconds > lastTime.Unix() {
			return time.Time{}
		}
	}
	if err != nil || t.Unix() <= 0 || t.After(lastTime) {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// setsModified reports whether a property is one by which clients say when a document was
// changed last, and whether it is kept as a property too.
func setsModified(name xml.Name) (sets, kept bool) {
	switch name {
	case xml.Name{Space: dav.Space, Local: "lastmodified"}, xml.Name{Space: dav.Space, Local: "getlastmodified"}:
		return true, false
	case xml.Name{Space: "urn:schemas-microsoft-com:", Local: "Win32LastModifiedTime"}:
		return true, true
	}
	return false, false
}

// modifiedBy returns the time that a change of a property sets, zero for none.
func modifiedBy(c dav.PropChange) time.Time {
	if sets, _ := setsModified(c.Name); !sets || c.Remove {
		return time.Time{}
	}
	text, _ := c.Value.Text()
	return readTime(text)
}

// documentPatch returns the changes of properties as a document takes them.
func documentPatch(changes []dav.PropChange) files.Patch {
	p := files.Patch{Properties: deadProperties(changes)}
	for i, c := range changes {
		if at := modifiedBy(c); !at.IsZero() {
			p.Modified = at
		}
		if sets, kept := setsModified(c.Name); sets && !kept {
			p.Properties[i] = store.Property{Space: c.Name.Space, Name: c.Name.Local}
		}
	}
	return p
}

// isChecksum reports whether a property is the checksum that the drive has compared.
func isChecksum(name xml.Name) bool {
	return name == xml.Name{Space: files.ChecksumSpace, Local: files.ChecksumName}
}
