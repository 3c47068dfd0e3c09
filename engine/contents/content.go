package contents

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/google/uuid"

	"flowdrive/store"
)

const (
	// inlineSize is how large a content may be to stay in the database, in bytes.
	inlineSize = 4 << 10
	// MaxSize bounds a content, in bytes (docs/contract/drive.md#limits).
	MaxSize = 4 << 30
)

// Content is a content on its way into the store. At most one of Inline,
// Spooled and File is set; if none is, the content is empty.
type Content struct {
	Name      string // of the file that it was, "" if it was none
	MediaType string
	Inline    []byte
	Spooled   Spooled // that was just read
	File      *File   // that a row refers to already

	// Holds returns an error if the row of File has gone. If it is nil there is
	// nothing to check. Before a unit refers to the content, it calls Holds
	// again.
	Holds func(store.Tx) error
}

// File is a content that is a file already.
type File struct {
	Sum  store.Digest
	Size int64 // in bytes
}

// Size returns how long the content is, in bytes.
func (c *Content) Size() int64 {
	switch {
	case c.Spooled != nil:
		return c.Spooled.Size()
	case c.File != nil:
		return c.File.Size
	}
	return int64(len(c.Inline))
}

// Sum returns the SHA-256 of the content.
func (c *Content) Sum() store.Digest {
	switch {
	case c.Spooled != nil:
		return c.Spooled.Sum()
	case c.File != nil:
		return c.File.Sum
	}
	return store.DigestOf(c.Inline)
}

// InFile reports whether the content is in a file rather than in its row.
func (c *Content) InFile() bool { return c.Spooled != nil || c.File != nil }

// Message returns the content as the first version of a message of a case.
func (c *Content) Message(caseID int64, guid store.UUID, label string) *store.Message {
	m := &store.Message{
		CaseID: caseID, Label: label, MediaType: c.MediaType, Size: c.Size(), SHA256: c.Sum(),
		InFile: c.InFile(), Content: c.Inline, Version: 1,
	}
	m.UUID = messageUUID(guid, label, m.Version)
	return m
}

// messageUUID is the UUID of a message: of version 5, from the case, the
// label and the version of the message, so that equal decisions name equal
// messages.
func messageUUID(guid store.UUID, label string, version int64) store.UUID {
	return store.UUID(uuid.NewSHA1(uuid.UUID(guid), []byte(label+"\x00"+strconv.FormatInt(version, 10))))
}

// Read reads a body to its end, at most MaxSize bytes: a small one into
// memory, a large one into a file. It never holds more of it in memory than a
// buffer. More bytes are errs.TooLarge; an error of the body is returned as it
// is. In a dry run only the size and the digest of a large one are taken.
func (k *Keeper) Read(mediaType string, body io.Reader, dryRun bool) (*Content, error) {
	// Not io.ReadFull: its error for a body that ends is also what a body
	// returns that was cut short.
	head, err := io.ReadAll(io.LimitReader(body, inlineSize+1))
	if err != nil {
		return nil, err
	}
	if len(head) <= inlineSize {
		return &Content{MediaType: mediaType, Inline: head}, nil
	}
	spooled, err := k.Spool(io.MultiReader(bytes.NewReader(head), body), MaxSize, dryRun)
	if err != nil {
		return nil, err
	}
	return &Content{MediaType: mediaType, Spooled: spooled}, nil
}

// StoringContent is Storing for a content that need not be a spooled one.
func (k *Keeper) StoringContent(ctx context.Context, c *Content, f func() error) error {
	if c.Spooled == nil {
		return f()
	}
	return k.Storing(ctx, c.Spooled, f)
}

// Message is a message with its content, to be read and closed.
type Message struct {
	store.Message
	Body io.ReadSeekCloser
}

// OpenMessage opens the message that find finds. find may be called more than
// once; its errors are returned as they are.
func (k *Keeper) OpenMessage(find func() (*store.Message, error)) (*Message, error) {
	var out *Message
	err := k.Reading(func() error {
		m, err := find()
		if err != nil {
			return err
		}
		body, err := k.OpenRow(m.InFile, m.SHA256, m.Content)
		out = &Message{Message: *m, Body: body}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// OpenRow opens the content of a row: the file with the digest if it is in a
// file, as Open does, else inline.
func (k *Keeper) OpenRow(inFile bool, sum store.Digest, inline []byte) (io.ReadSeekCloser, error) {
	if !inFile {
		if err := k.checkInline(sum, inline); err != nil {
			return nil, err
		}
		return InMemory(inline), nil
	}
	return k.Open(sum)
}

// InMemory returns a content that is held in memory as one that can be read
// and closed.
func InMemory(data []byte) io.ReadSeekCloser { return inMemory{bytes.NewReader(data)} }

type inMemory struct{ *bytes.Reader }

// Close implements io.Closer.
func (inMemory) Close() error { return nil }
