package engine

import "flowdrive/engine/change"

// What use cases take and return. Package change says what each is.
type (
	Request        = change.Request
	Condition      = change.Condition
	Version        = change.Version
	IdempotencyKey = change.IdempotencyKey
	Outcome        = change.Outcome
	Ref            = change.Ref
	Resource       = change.Resource
	Filter         = change.Filter
	Content        = change.Content
	DocumentPath   = change.DocumentPath
	Taken          = change.Taken
	Clock          = change.Clock
)
