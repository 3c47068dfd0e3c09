package davfs

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/contents"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// upload is the body of a PUT: read whole into data for a document, or
// streamed from body for a content.
type upload struct {
	mediaType string // as the client gave it, "application/octet-stream" if it gave none
	data      []byte
	body      io.Reader
	query     query
	fault     error // what went wrong while the body was read, our words for it

	// Of a body that was read to its end. checkSum, if it is set, is called before the
	// end is reported; its error is the body's.
	size     int64
	sum      [sha256.Size]byte
	checkSum func(sum [sha256.Size]byte) error

	// Of a document in Documents/, what its sender tells of it.
	modified time.Time
	checksum string
	compare  []bodyDigest

	kept *kept // of a body that is streamed, in case it is refused; nil: nothing

	weigh func(ctx context.Context, bytes int64) error // see Config.Weigh

	r     *http.Request
	begun *bufio.Reader // what was looked into
	limit int64
	read  bool
}

func (d *drive) newUpload(r *http.Request, limit int64) *upload {
	mediaType := r.Header.Get("Content-Type")
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	return &upload{mediaType: mediaType, r: r, limit: limit, weigh: d.Weigh}
}

// content returns the body for the engine. Without a Content-Type the media type
// follows from the name.
func (u *upload) content() contents.Upload {
	up := contents.Upload{MediaType: u.mediaType, Size: u.r.ContentLength, Body: u.body}
	if u.r.Header.Get("Content-Type") == "" {
		up.MediaType = ""
	}
	return up
}

// checkHeaders answers what is wrong with a body before it is read.
func (u *upload) checkHeaders(content bool) error {
	if u.r.ContentLength > u.limit {
		return u.tooLarge()
	}
	if coding := u.r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return errs.New(errs.MediaType, "The body is encoded as %q; send it as it is (RFC 9110, section 8.4).", coding)
	}
	if content {
		if kind, _, err := mime.ParseMediaType(u.mediaType); err != nil || !strings.Contains(kind, "/") {
			return errs.New(errs.MediaType, "The Content-Type %q is not a valid media type.", u.mediaType)
		}
		return nil
	}
	if strings.HasPrefix(strings.ToLower(u.mediaType), "multipart/") {
		return errs.New(errs.MediaType, "A form with files (multipart) is not read. Send the file itself: PUT it to /dav/Workflow/Routes/<route>/<name>, and a case starts with it; or PUT it to /attachfs/<name>, and name the UUID that is answered as attachmentUUID in the document that you send here.")
	}
	if !maybeText(u.mediaType) {
		return errs.New(errs.MediaType, "The Content-Type is %q; a document here is JSON or, for routes, YAML.", u.mediaType)
	}
	return nil
}

// maybeText reports whether a document may come under the media type. Clients
// guess it by the file's name or send what they send for everything, so only
// what can be no text is refused: pictures, sounds, multipart forms.
func maybeText(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "image", "audio", "video", "font", "model", "multipart", "message":
		return false
	}
	return true
}

func (u *upload) tooLarge() error {
	return errs.New(errs.TooLarge, "The body is larger than %d bytes, the most that this address takes.", u.limit)
}

// readAll reads the body into data. A body that is cut short is an error. It changes
// nothing, and is not kept as rejected content either.
func (u *upload) readAll() error {
	u.read = true
	if u.r.ContentLength > u.limit {
		u.fault = u.tooLarge()
		return u.fault
	}
	u.stream(nil)
	data, err := u.weighed()
	switch {
	case u.fault != nil:
		return u.fault
	case err != nil:
		return err
	}
	u.data = data
	return nil
}

// weighed reads the body when there is room in memory for what it may be, and then
// keeps the room for what it is.
func (u *upload) weighed() ([]byte, error) {
	const unannounced = 64 << 10 // that is read of a body before more room is asked for
	ctx, announced := u.r.Context(), u.r.ContentLength
	first := announced
	if announced < 0 {
		first = unannounced
	}
	if err := u.weigh(ctx, document.MostWeight(first)); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(u.body, first+1))
	if err == nil && announced < 0 && int64(len(data)) > first {
		if err := u.weigh(ctx, document.MostWeight(u.limit)); err != nil {
			return nil, err
		}
		var rest []byte
		rest, err = io.ReadAll(u.body)
		data = append(data, rest...)
	}
	if err != nil {
		return nil, err
	}
	return data, u.weigh(ctx, document.Weight(data))
}

// stream makes body ready, which counts what is read and hashes it for the
// key and for checkSum: the digest of a content is known when its last byte is.
func (u *upload) stream(key *engine.IdempotencyKey) {
	b := &bodyReader{upload: u, from: u.r.Body, key: key}
	if u.begun != nil {
		b.from = u.begun
	}
	if key != nil || u.checkSum != nil {
		b.hash = sha256.New()
	}
	u.body = b
}

// empty reports whether a body that is to be streamed has no byte. One that
// is cut short is not empty.
func (u *upload) empty() bool {
	if u.r.ContentLength >= 0 {
		return u.r.ContentLength == 0
	}
	u.begun = bufio.NewReader(u.r.Body)
	_, err := u.begun.Peek(1)
	return errors.Is(err, io.EOF)
}

// kept is the beginning of a body: all of it, unless it is longer than limit.
type kept struct {
	limit int64
	data  []byte
	over  bool
}

// keptWeight returns how many bytes of memory the beginning of a body of that length
// takes, -1 for one that is not announced.
func keptWeight(length, limit int64) int64 {
	const growth = 2 // of the slice
	if length < 0 || length > limit {
		length = limit
	}
	return growth * length
}

func (k *kept) add(p []byte) {
	if k.over = k.over || int64(len(k.data)+len(p)) > k.limit; k.over {
		k.data = nil
		return
	}
	k.data = append(k.data, p...)
}

// refused returns the body of a request that was refused, reading what is left of
// it. whole is false if it is longer than limit, or was not sent.
func (u *upload) refused(limit int64) (body []byte, whole bool) {
	switch {
	case u.fault != nil:
		return nil, !errs.Is(u.fault, errs.TooLarge)
	case u.read:
		return u.data, true
	case u.unread() && (u.r.Header.Get("Expect") != "" || u.r.ContentLength > limit):
		return nil, false
	case u.unread():
		u.kept, u.limit = &kept{limit: limit}, limit
		u.summed()
	case u.kept == nil:
		return nil, false
	}
	if u.r.ContentLength <= limit && u.finish() != nil {
		return nil, !errs.Is(u.fault, errs.TooLarge)
	}
	return u.kept.data, !u.kept.over
}

// unread reports whether nothing was read of the body yet.
func (u *upload) unread() bool {
	b, streamed := u.body.(*bodyReader)
	return u.body == nil || streamed && b.n == 0 && u.kept == nil
}

// finish reads what is left of a streamed body, for its digest.
func (u *upload) finish() error {
	_, err := io.Copy(io.Discard, u.body)
	return err
}

// sumRest reads what is left of a body that is streamed, or is to be, for its digest.
func (u *upload) sumRest() error {
	if u.body == nil {
		u.summed()
	}
	return u.finish()
}

// summed begins to read the body, so that its digest is known at its end.
func (u *upload) summed() {
	u.checkSum = func([sha256.Size]byte) error { return nil }
	u.stream(nil)
}

// bodyReader reads the body of a request to exactly its end.
type bodyReader struct {
	*upload
	from io.Reader
	n    int64
	hash hash.Hash
	key  *engine.IdempotencyKey
}

// Read fails at once for a body beyond the limit, and at the end for one
// that is shorter than was announced.
func (b *bodyReader) Read(p []byte) (int, error) {
	if b.fault != nil {
		return 0, b.fault
	}
	n, err := b.from.Read(p)
	b.n += int64(n)
	if b.n > b.limit {
		return 0, b.fail(b.tooLarge())
	}
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	for _, d := range b.compare {
		d.hash.Write(p[:n])
	}
	if b.kept != nil {
		b.kept.add(p[:n])
	}
	if err == nil {
		return n, nil
	}
	if announced := b.r.ContentLength; !errors.Is(err, io.EOF) || announced >= 0 && b.n < announced {
		return 0, b.fail(cutShort(err, b.n))
	}
	b.size = b.n
	if b.hash != nil {
		b.hash.Sum(b.sum[:0])
	}
	if b.key != nil {
		b.key.Request = b.sum
	}
	if err := compareDigests(b.compare); err != nil {
		return 0, b.fail(err)
	}
	if b.checkSum != nil {
		if err := b.checkSum(b.sum); err != nil {
			return 0, b.fail(err)
		}
	}
	return n, io.EOF
}

func (b *bodyReader) fail(err error) error {
	b.fault = err
	return err
}

// cutShort says that a body is not whole.
func cutShort(err error, n int64) error {
	detail := fmt.Sprintf("The body ended after %d bytes, before its end; nothing was changed. Send it again.", n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		detail = "The body did not arrive in time; nothing was changed. Send it again."
	}
	return &errs.Error{Kind: errs.BadParameter, Detail: detail, Err: err}
}
