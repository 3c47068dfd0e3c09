package audit

import (
	"errors"
	"io"
)

// Text is the text of a day as it was when it was opened. It is used for one
// request.
type Text struct {
	read func(from int64) ([]byte, error)
	size int64
	at   int64
	part []byte // of the text, from at
}

// NewText returns the text of a day. read returns the part of it that begins at
// from.
func NewText(size int64, read func(from int64) ([]byte, error)) *Text {
	return &Text{read: read, size: size}
}

// Read implements io.Reader.
func (t *Text) Read(p []byte) (int, error) {
	if t.at >= t.size {
		return 0, io.EOF
	}
	if len(t.part) == 0 {
		part, err := t.read(t.at)
		if err != nil {
			return 0, err
		}
		if len(part) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		t.part = part[:min(int64(len(part)), t.size-t.at)]
	}
	n := copy(p, t.part)
	t.part, t.at = t.part[n:], t.at+int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (t *Text) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += t.at
	case io.SeekEnd:
		offset += t.size
	}
	if offset < 0 {
		return 0, errors.New("audit: a negative position in the audit log")
	}
	t.at, t.part = offset, nil
	return offset, nil
}

// Close implements io.Closer.
func (t *Text) Close() error { return nil }
