package engine

import (
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/quota"
)

// What use cases take and return. Packages change, contents and
// quota say what each is.
type (
	// Request is what every change carries.
	Request = change.Request
	// Condition judges a conditional request.
	Condition = change.Condition
	// Version is what is stored under the URL of a request.
	Version = change.Version
	// IdempotencyKey names a request that may come twice.
	IdempotencyKey = change.IdempotencyKey
	// Outcome is what a change did.
	Outcome = change.Outcome
	// Ref names a schedule entry or case as a path does.
	Ref = change.Ref
	// Resource is a resource of the drive as it is stored.
	Resource = change.Resource
	// Filter selects resources of a folder.
	Filter = change.Filter
	// DocumentPath leads to a document or folder.
	DocumentPath = change.DocumentPath
	// Taken is what a MOVE takes its content from.
	Taken = change.Taken
	// Clock says what time it is.
	Clock = change.Clock
	// Content is a message's content, to be read and closed.
	Content = contents.Message
	// Quota is how much a user has stored and may still store.
	Quota = quota.Usage
)
