package relational

import (
	"time"

	"flowdrive/store"
)

var attachmentTable = table[store.Attachment]{"attachments", "attachment", func(a *store.Attachment, to []column) []column {
	return append(to, []column{
		{"id", selected, &a.Seq},
		{"uuid", fixed, bits(a.UUID[:])},
		{"context_id", fixed, (*int64)(&a.ContextID)},
		{"author_id", fixed, (*int64)(&a.AuthorID)},
		{"case_id", fixed, number{&a.CaseID}},
		{"name", fixed, &a.Name},
		{"media_type", fixed, &a.MediaType},
		{"size", fixed, &a.Size},
		{"sha256", fixed, bits(a.SHA256[:])},
		{"lifetime", fixed, &a.Lifetime},
		{"expires", fixed, millis{&a.Expires}},
		{"created", fixed, millis{&a.Created}},
	}...)
}}

var (
	insertAttachment = attachmentTable.insert()
	selectAttachment = `SELECT ` + attachmentTable.list("") + ` FROM attachments WHERE uuid = ?1`

	// ?1 is a chunk of ids; what has expired by ?2 is left out.
	selectAttachments = `SELECT ` + attachmentTable.list("") + ` FROM attachments
		WHERE id IN (SELECT value FROM json_each(?1)) AND (expires IS NULL OR expires > ?2)
		ORDER BY id`
)

const (
	allAttachments     = `SELECT id FROM attachments WHERE id > ?2 AND ?1 = 0 ORDER BY id LIMIT ?3`
	unboundAttachments = `SELECT id FROM attachments WHERE context_id = ?1 AND case_id IS NULL AND id > ?2 ORDER BY id LIMIT ?3`
	attachmentsOfCase  = `SELECT id FROM attachments WHERE case_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`
	attachmentsOfRoute = `SELECT id FROM attachments a WHERE case_id IS NOT NULL AND id > ?2
		AND EXISTS (SELECT 1 FROM cases WHERE cases.id = a.case_id AND route_id = ?1) ORDER BY id LIMIT ?3`
	attachmentsSeenByOne = `SELECT id FROM attachments a WHERE case_id IS NOT NULL AND id > ?2
		AND (EXISTS (SELECT 1 FROM case_access c WHERE c.party_id = ?1 AND c.case_id = a.case_id)
			OR EXISTS (SELECT 1 FROM archive_access c WHERE c.party_id = ?1 AND c.case_id = a.case_id)) ORDER BY id LIMIT ?3`

	selectAttachmentUse = `SELECT EXISTS (SELECT 1 FROM entries WHERE attachment = ?1)`

	updateAttachmentExpiry = `UPDATE attachments SET expires = ?2 WHERE uuid = ?1`
	updateAttachmentName   = `UPDATE attachments SET name = ?2 WHERE uuid = ?1`
	deleteAttachment       = `DELETE FROM attachments WHERE uuid = ?1`
)

// Get returns the attachment, also one that has expired.
func (r attachmentReader) Get(uuid store.UUID) (*store.Attachment, error) {
	return attachmentTable.one(r.c, selectAttachment, uuid[:])
}

// List returns the attachments that the filter selects, in the order
// in which they were created.
func (r attachmentReader) List(f store.AttachmentFilter) (all []store.Attachment, err error) {
	all, err = walk[store.Attachment]{&attachmentTable, attachmentSources(f), selectAttachments, []any{f.Now.UnixMilli()}}.rows(r.reader, f.After, f.Limit)
	return all, Failure("read the attachments", err)
}

func attachmentSources(f store.AttachmentFilter) []source {
	switch {
	case f.CaseID != 0:
		return []source{{query: attachmentsOfCase, key: f.CaseID}}
	case f.Access == nil:
		return []source{{query: allAttachments}}
	}
	sources := sourcesOf(unboundAttachments, f.Access)
	if f.Unbound {
		return sources
	}
	sources = append(sources, sourcesOf(attachmentsSeenByOne, f.Access)...)
	return append(sources, sourcesOf(attachmentsOfRoute, f.Routes)...)
}

// InUse reports whether a schedule entry names the attachment.
func (r attachmentReader) InUse(uuid store.UUID) (used bool, err error) {
	_, err = r.c.Row(selectAttachmentUse, uuid[:]).Scan(&used)
	return used, Failure("read what uses an attachment", err)
}

// Insert stores a new attachment and sets its Seq. Its content must
// be known; see NoteBlob.
func (t attachmentWriter) Insert(a *store.Attachment) error {
	err := insertAttachment.added(t.c, a, &a.Seq)
	return Failure("store an attachment", err)
}

// SetExpiry changes when an attachment expires; zero for not at all.
func (t attachmentWriter) SetExpiry(uuid store.UUID, expires time.Time) error {
	n, err := t.c.Change(updateAttachmentExpiry, uuid[:], at(expires))
	return found(n, err, "attachment")
}

// SetName changes the name of an attachment.
func (t attachmentWriter) SetName(uuid store.UUID, name string) error {
	n, err := t.c.Change(updateAttachmentName, uuid[:], name)
	return found(n, err, "attachment")
}

// Delete deletes an attachment.
func (t attachmentWriter) Delete(uuid store.UUID) error {
	n, err := t.c.Change(deleteAttachment, uuid[:])
	return found(n, err, "attachment")
}
