package engine

import (
	"context"
	"time"
)

// Outside is the world beyond the server: where mails, calls of services and
// commands go. It is asked after the commit of what asks for them, at least
// once, and never holds a case up (design: routes, section 5).
type Outside interface {
	// Deliver does one piece of work. ctx bounds it. What it returns is the
	// answer, nil for none. An error means that it is to be tried again, unless
	// it is a *Final; a *Later says when.
	Deliver(ctx context.Context, d *Delivery) (*Reply, error)

	// These say, to the author of a route, why a step that it is stored with
	// would be refused: the detail of a fault. They return "" where it would
	// not be.
	RefusesURL(url string) string
	RefusesAddress(address string) string // an e-mail address that is no user's
	RefusesCommand(name string) string
	RefusesSecret(name string) string
}

// Delivery is one piece of work outside; one of its pointers is set.
type Delivery struct {
	Key     string // idempotency key: the same at every attempt, and no other delivery's
	Attempt int    // 1, 2, …
	Mail    *Mail
	HTTP    *HTTPCall
	Exec    *Command
	Call    *Callback
}

// Mail is a mail to be sent to each of its addresses.
type Mail struct {
	To      []string `json:"to"` // addresses, without names
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	Thread  string   `json:"thread,omitempty"` // what the mail is about: mails with the same one belong together
}

// HTTPCall is a request to a service.
type HTTPCall struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	Header    map[string]string `json:"header,omitempty"`
	MediaType string            `json:"type,omitempty"` // of Body
	Body      []byte            `json:"body,omitempty"`
	Secret    string            `json:"secret,omitempty"` // name of the secret that signs it, "" for none
}

// Command is a command that an administrator allowed by its name.
type Command struct {
	Name  string   `json:"name"`
	Args  []string `json:"args,omitempty"`
	Input []byte   `json:"input,omitempty"`
}

// Callback is a function that whoever embeds the engine registered by its
// name.
type Callback struct {
	Name  string `json:"name"`
	Value []byte `json:"value,omitempty"` // JSON
}

// Reply is what the outside answered.
type Reply struct {
	MediaType string
	Content   []byte
}

// Final is an error that no repetition mends.
type Final struct{ Reason string }

func (f *Final) Error() string { return f.Reason }

// Later is an error after which the outside asks not to be tried again before
// a while.
type Later struct {
	After time.Duration
	Err   error
}

func (l *Later) Error() string { return l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }
