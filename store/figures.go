package store

import "time"

// Figures say how much there is, and how much of it waits, for monitoring
// (docs/reference/metrics.md).
type Figures struct {
	Cases map[string]int64 // open ones by state; drafts are queued

	// Warned and Escalated count open cases with warnings of any kind, and with tasks that
	// the engine failed to perform. Overdue counts cases in which something is overdue, of
	// which people are told.
	Warned, Escalated, Overdue int64

	// Pending counts what is still to be delivered; Oldest is when the first of it was
	// asked for, zero for none. Undelivered counts what is given up and waits for
	// somebody.
	Pending, Undelivered int64
	Oldest               time.Time

	// Due is the earliest instant of anything that becomes due by itself, zero for
	// none. If it is past, the sweeper is behind.
	Due time.Time

	Holds  int64 // that keep cases from starting
	Late   int64 // schedule entries whose instant is past
	Stored int64 // bytes of contents and of large forms, as quotas count them
}
