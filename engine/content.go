package engine

import (
	"bytes"
	"crypto/sha256"
	"io"

	"flowdrive/engine/contents"
	"flowdrive/store"
)

// Spooled is a content that was read and not kept yet.
type Spooled = contents.Spooled

const (
	// inlineContent is how large a content may be to stay in the database.
	inlineContent = 4 << 10
	// maxContent bounds a content (docs/contract/drive.md#limits).
	maxContent = 4 << 30
)

// content is a message's content on its way into the store.
type content struct {
	mediaType string
	inline    []byte
	spooled   Spooled     // one that was just read
	file      *storedFile // one that a row refers to

	// holds returns change.ErrStale if the row of the content has gone. If it
	// is nil there is nothing to check. Every unit that refers to the content
	// calls it again (see package contents).
	holds func(store.Tx) error
}

// storedFile is a content that is a file already.
type storedFile struct {
	sum  store.Digest
	size int64
}

func (c *content) size() int64 {
	switch {
	case c.spooled != nil:
		return c.spooled.Size()
	case c.file != nil:
		return c.file.size
	}
	return int64(len(c.inline))
}

func (c *content) sum() store.Digest {
	switch {
	case c.spooled != nil:
		return c.spooled.Sum()
	case c.file != nil:
		return c.file.sum
	}
	return digestOf(c.inline)
}

// readContent reads a body: a small one into memory, a large one into a
// file, never more of it at once than a buffer holds.
func (e *base) readContent(req Request, mediaType string, body io.Reader) (*content, error) {
	// Not io.ReadFull: it says of a body that ends what a body says that was
	// cut short.
	head, err := io.ReadAll(io.LimitReader(body, inlineContent+1))
	if err != nil {
		return nil, err
	}
	if len(head) <= inlineContent {
		return &content{mediaType: mediaType, inline: head}, nil
	}
	spooled, err := e.spool(req, io.MultiReader(bytes.NewReader(head), body), maxContent)
	if err != nil {
		return nil, err
	}
	return &content{mediaType: mediaType, spooled: spooled}, nil
}

// message returns the content as the message of a case.
func (c *content) message(caseID int64, guid store.UUID, label string) *store.Message {
	m := &store.Message{
		CaseID: caseID, Label: label, MediaType: c.mediaType, Size: c.size(), SHA256: c.sum(),
		InFile: c.spooled != nil || c.file != nil, Content: c.inline, Version: 1,
	}
	m.UUID = messageUUID(guid, label, m.Version)
	return m
}

// openMessage returns the stored message that find finds with its content,
// to be read and closed.
func (e *base) openMessage(find func() (*store.Message, error)) (*Content, error) {
	var c *Content
	err := e.contents.Reading(func() error {
		m, err := find()
		if err != nil {
			return err
		}
		c = &Content{Message: *m}
		if !m.InFile {
			c.Body = inMemory{bytes.NewReader(m.Content)}
			return nil
		}
		c.Body, err = e.contents.Open(m.SHA256)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

func digestOf(data []byte) store.Digest { return sha256.Sum256(data) }

// shortDigest is the part of a digest that ETags carry: 128 bits.
func shortDigest(d store.Digest) []byte { return d[:16] }
