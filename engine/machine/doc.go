// Package machine decides what an event does to a case. It is pure: equal
// inputs give byte-equal outputs, and there is no clock, no database, no
// goroutine and no random value in it
// (docs/contract/engine.md#the-machine-is-a-pure-function). It does not know
// how cases are stored or shown over HTTP, only their complete form.
package machine
