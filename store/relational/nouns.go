package relational

import "flowdrive/store"

// What reads and writes each noun is a type of its own, over the connection of
// its reader or unit. One value of a pointer, so that none is allocated.
type (
	partyReader      struct{ *reader }
	routeReader      struct{ *reader }
	entryReader      struct{ *reader }
	caseReader       struct{ *reader }
	taskReader       struct{ *reader }
	archiveReader    struct{ *reader }
	messageReader    struct{ *reader }
	queueReader      struct{ *reader }
	nameReader       struct{ *reader }
	attachmentReader struct{ *reader }
	documentReader   struct{ *reader }
	versionReader    struct{ *reader }
	scratchReader    struct{ *reader }
	blobReader       struct{ *reader }
	historyReader    struct{ *reader }
	lockReader       struct{ *reader }
	outboxReader     struct{ *reader }
	answerReader     struct{ *reader }
	settingReader    struct{ *reader }
	hookReader       struct{ *reader }
	scenarioReader   struct{ *reader }
	troubleReader    struct{ *reader }
	heldMailReader   struct{ *reader }
	letterReader     struct{ *reader }
	auditReader      struct{ *reader }
	partyWriter      struct{ *tx }
	routeWriter      struct{ *tx }
	entryWriter      struct{ *tx }
	caseWriter       struct{ *tx }
	messageWriter    struct{ *tx }
	queueWriter      struct{ *tx }
	nameWriter       struct{ *tx }
	attachmentWriter struct{ *tx }
	documentWriter   struct{ *tx }
	versionWriter    struct{ *tx }
	scratchWriter    struct{ *tx }
	blobWriter       struct{ *tx }
	historyWriter    struct{ *tx }
	lockWriter       struct{ *tx }
	outboxWriter     struct{ *tx }
	answerWriter     struct{ *tx }
	settingWriter    struct{ *tx }
	hookWriter       struct{ *tx }
	scenarioWriter   struct{ *tx }
	troubleWriter    struct{ *tx }
	heldMailWriter   struct{ *tx }
	letterWriter     struct{ *tx }
	auditWriter      struct{ *tx }
)

// Parties implements store.Reader.
func (r *reader) Parties() store.PartyReader { return partyReader{r} }

// Routes implements store.Reader.
func (r *reader) Routes() store.RouteReader { return routeReader{r} }

// Entries implements store.Reader.
func (r *reader) Entries() store.EntryReader { return entryReader{r} }

// Cases implements store.Reader.
func (r *reader) Cases() store.CaseReader { return caseReader{r} }

// Tasks implements store.CaseReader.
func (r caseReader) Tasks() store.TaskReader { return taskReader(r) }

// Archived implements store.CaseReader.
func (r caseReader) Archived() store.ArchiveReader { return archiveReader(r) }

// Messages implements store.CaseReader.
func (r caseReader) Messages() store.MessageReader { return messageReader(r) }

// Queue implements store.Reader.
func (r *reader) Queue() store.QueueReader { return queueReader{r} }

// Names implements store.Reader.
func (r *reader) Names() store.NameReader { return nameReader{r} }

// Attachments implements store.Reader.
func (r *reader) Attachments() store.AttachmentReader { return attachmentReader{r} }

// Documents implements store.Reader.
func (r *reader) Documents() store.DocumentReader { return documentReader{r} }

// Versions implements store.DocumentReader.
func (r documentReader) Versions() store.VersionReader { return versionReader(r) }

// Scratch implements store.Reader.
func (r *reader) Scratch() store.ScratchReader { return scratchReader{r} }

// Blobs implements store.Reader.
func (r *reader) Blobs() store.BlobReader { return blobReader{r} }

// History implements store.Reader.
func (r *reader) History() store.HistoryReader { return historyReader{r} }

// Locks implements store.Reader.
func (r *reader) Locks() store.LockReader { return lockReader{r} }

// Outbox implements store.Reader.
func (r *reader) Outbox() store.OutboxReader { return outboxReader{r} }

// Answers implements store.Reader.
func (r *reader) Answers() store.AnswerReader { return answerReader{r} }

// Settings implements store.Reader.
func (r *reader) Settings() store.SettingReader { return settingReader{r} }

// Troubles implements store.Reader.
func (r *reader) Troubles() store.TroubleReader { return troubleReader{r} }

// HeldMails implements store.OutboxReader.
func (r outboxReader) HeldMails() store.HeldMailReader { return heldMailReader(r) }

// Letters implements store.OutboxReader.
func (r outboxReader) Letters() store.LetterReader { return letterReader(r) }

// Hooks implements store.RouteReader.
func (r routeReader) Hooks() store.HookReader { return hookReader(r) }

// Scenarios implements store.RouteReader.
func (r routeReader) Scenarios() store.ScenarioReader { return scenarioReader(r) }

// Audit implements store.Reader.
func (r *reader) Audit() store.AuditReader { return auditReader{r} }

// writer implements store.Writer.
type writer struct{ *tx }

// Write implements store.Tx.
func (t *tx) Write() store.Writer { return writer{t} }

// Parties implements store.Writer.
func (w writer) Parties() store.PartyWriter { return partyWriter(w) }

// Routes implements store.Writer.
func (w writer) Routes() store.RouteWriter { return routeWriter(w) }

// Entries implements store.Writer.
func (w writer) Entries() store.EntryWriter { return entryWriter(w) }

// Cases implements store.Writer.
func (w writer) Cases() store.CaseWriter { return caseWriter(w) }

// Messages implements store.CaseWriter.
func (w caseWriter) Messages() store.MessageWriter { return messageWriter(w) }

// Queue implements store.Writer.
func (w writer) Queue() store.QueueWriter { return queueWriter(w) }

// Names implements store.Writer.
func (w writer) Names() store.NameWriter { return nameWriter(w) }

// Attachments implements store.Writer.
func (w writer) Attachments() store.AttachmentWriter { return attachmentWriter(w) }

// Documents implements store.Writer.
func (w writer) Documents() store.DocumentWriter { return documentWriter(w) }

// Versions implements store.DocumentWriter.
func (w documentWriter) Versions() store.VersionWriter { return versionWriter(w) }

// Scratch implements store.Writer.
func (w writer) Scratch() store.ScratchWriter { return scratchWriter(w) }

// Blobs implements store.Writer.
func (w writer) Blobs() store.BlobWriter { return blobWriter(w) }

// History implements store.Writer.
func (w writer) History() store.HistoryWriter { return historyWriter(w) }

// Locks implements store.Writer.
func (w writer) Locks() store.LockWriter { return lockWriter(w) }

// Outbox implements store.Writer.
func (w writer) Outbox() store.OutboxWriter { return outboxWriter(w) }

// Answers implements store.Writer.
func (w writer) Answers() store.AnswerWriter { return answerWriter(w) }

// Settings implements store.Writer.
func (w writer) Settings() store.SettingWriter { return settingWriter(w) }

// Troubles implements store.Writer.
func (w writer) Troubles() store.TroubleWriter { return troubleWriter(w) }

// HeldMails implements store.OutboxWriter.
func (w outboxWriter) HeldMails() store.HeldMailWriter { return heldMailWriter(w) }

// Letters implements store.OutboxWriter.
func (w outboxWriter) Letters() store.LetterWriter { return letterWriter(w) }

// Hooks implements store.RouteWriter.
func (w routeWriter) Hooks() store.HookWriter { return hookWriter(w) }

// Scenarios implements store.RouteWriter.
func (w routeWriter) Scenarios() store.ScenarioWriter { return scenarioWriter(w) }

// Audit implements store.Writer.
func (w writer) Audit() store.AuditWriter { return auditWriter(w) }
