// Package client speaks to a Flowdrive server over HTTP.
//
// A [Client] has a method for what people and programs do on the drive: start cases,
// perform actions, look at worklists, keep schedule entries and routes, read and write
// files, and follow what changes.
//
//	c, err := client.New(client.Profile{URL: "https://flow.example.org", User: "ann", Password: secret}, client.Options{})
//	if err != nil { … }
//	started, err := c.Start(ctx, client.NewCase{Route: "bug", Title: "The printer is on fire"})
//
// What has no method of its own is a [Client.Call] of the operations of /openapi.json.
//
// # Errors
//
// What the server refuses is a [*Problem], with the faults of the document at their
// pointers. If no Flowdrive server answers, the error is an [*UnreachableError]: it says
// what to do. Both are found with errors.As or errors.AsType.
//
// # Repetition
//
// A request whose answer was lost is sent again if that is safe: one that only reads, one
// that stores bytes under a name, and one with an Idempotency-Key. What starts a case,
// performs an action or commands a schedule entry has such a key, which the client makes:
// the server does it once. A DELETE, MOVE or COPY is repeated only if the server said that
// it did nothing (429, 503). A repetition waits as long as Retry-After asks, if that is not
// more than ten seconds.
//
// # Time
//
// A method returns when its context ends. There is no other bound on how long a file takes
// to travel; the server has two minutes to begin its answer.
package client
