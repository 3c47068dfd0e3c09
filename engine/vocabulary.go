package engine

import (
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/quota"
)

// What use cases take and return. Packages change, contents and
// quota say what each is.
type (
	Request        = change.Request
	Condition      = change.Condition
	Version        = change.Version
	IdempotencyKey = change.IdempotencyKey
	Outcome        = change.Outcome
	Ref            = change.Ref
	Resource       = change.Resource
	Filter         = change.Filter
	DocumentPath   = change.DocumentPath
	Taken          = change.Taken
	Clock          = change.Clock
	Content        = contents.Message
	Quota          = quota.Usage
)
