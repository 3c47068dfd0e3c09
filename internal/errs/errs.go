// Package errs is the vocabulary of failure: the one error type that crosses
// package boundaries, and the faults of a document. It knows the kinds of
// problem that the drive's contract names, not how a face (HTTP, command
// line) presents them.
package errs

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what sort of problem an error is. Its text is the slug of the
// problem type on the wire ("urn:flowdrive:problem:<slug>").
type Kind string

// The kinds of the drive's contract, in the order of its table of statuses.
const (
	NotParseable        Kind = "not-parseable"
	BadParameter        Kind = "bad-parameter"
	ContentRange        Kind = "content-range"
	LogIn               Kind = "log-in"
	TooMany             Kind = "too-many"
	NotAllowed          Kind = "not-allowed"
	ReadOnly            Kind = "read-only"
	NotMovable          Kind = "not-movable"
	NotDeletable        Kind = "not-deletable"
	NotLockable         Kind = "not-lockable"
	ContextNotAvailable Kind = "context-not-available"
	RoleNotAssignable   Kind = "role-not-assignable"
	FourEyes            Kind = "four-eyes"
	FiniteDepth         Kind = "propfind-finite-depth"
	NotFound            Kind = "not-found"
	Method              Kind = "method"
	TooSlow             Kind = "too-slow"
	ActionNotEnabled    Kind = "action-not-enabled"
	CaseNotOpen         Kind = "case-not-open"
	AmbiguousMove       Kind = "ambiguous-move"
	InUse               Kind = "in-use"
	NameTaken           Kind = "name-taken"
	EndlessLoop         Kind = "endless-automatic-loop"
	RouteFault          Kind = "route-fault"
	Migrate             Kind = "migrate"
	MissingParent       Kind = "missing-parent"
	Precondition        Kind = "precondition"
	TooLarge            Kind = "too-large"
	MediaType           Kind = "media-type"
	Locked              Kind = "locked"
	Invalid             Kind = "invalid"
	ScenarioBroken      Kind = "scenario-broken"
	EmptyDocument       Kind = "empty-document"
	NameNotAllowed      Kind = "name-not-allowed"
	IdempotencyMismatch Kind = "idempotency-mismatch"
	NotBuilt            Kind = "not-built"
	Misdirected         Kind = "misdirected"
	OtherServer         Kind = "other-server"
	Unavailable         Kind = "unavailable"
	Full                Kind = "full"

	// Internal is a defect of ours or of the machine below: never a client's
	// doing. A face logs it and tells the client nothing but its request id.
	Internal Kind = "internal"
)

// Error is a failure with its kind. Detail is a sentence for the person who
// made the request and says what to do about it; it never holds a secret or
// anything the caller may not see.
type Error struct {
	Kind   Kind
	Detail string
	Faults []Fault        // what is wrong with a document, all of it
	Extra  map[string]any // further members of the problem document
	Err    error          // the cause, for the log only
}

// unstored stands in details of what cannot be done at the moment: who wanted to change something
// is to know that nothing was.
const unstored = "Nothing was stored; try again"

// ForReader returns the error as it is told to who only reads: to them nothing is said of what
// was stored.
func (e *Error) ForReader() *Error {
	before, after, has := strings.Cut(e.Detail, unstored)
	if !has {
		return e
	}
	told := *e
	told.Detail = before + "Try again" + after
	return &told
}

// Error returns the detail, followed by the faults that it does not say, a
// line each.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Detail)
	if e.Detail == "" {
		b.WriteString(string(e.Kind))
	}
	for _, f := range e.Untold() {
		b.WriteString("\n  ")
		b.WriteString(f.String())
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Untold returns the faults that the detail does not tell: all, unless there is
// only one and the detail ends with it.
func (e *Error) Untold() []Fault {
	if len(e.Faults) == 1 && strings.HasSuffix(e.Detail, e.Faults[0].String()) {
		return nil
	}
	return e.Faults
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of the kind; the format makes its detail.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// ExtraRetryAfter is the key of Extra with an int: the seconds until what answered 429 or
// 503 may pass.
const ExtraRetryAfter = "retryAfter"

// NewTooMany returns an error of the kind TooMany. Its detail is the sentence what, without a
// full stop, and when to try again: a person does not see the header Retry-After.
func NewTooMany(wait time.Duration, what string) *Error {
	seconds := int((wait + time.Second - 1) / time.Second)
	when := fmt.Sprintf("%d seconds", seconds)
	if seconds == 1 {
		when = "a second"
	}
	return &Error{Kind: TooMany, Detail: what + "; try again in " + when + ".", Extra: map[string]any{ExtraRetryAfter: seconds}}
}

// Wrap returns an internal error: op failed because of err.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: Internal, Detail: op, Err: err}
}

// KindOf returns the kind of err; Internal for an error that has none, and
// "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
