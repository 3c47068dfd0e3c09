package main

import (
	"context"
	"fmt"
	"time"

	"flowdrive/engine"
	"flowdrive/server"
	"flowdrive/store/backup"
)

// From so long on a part of the server is not well.
const (
	sweeperLate = time.Minute // what is due by itself waits
	outboxLate  = time.Hour   // the oldest delivery waits
)

// parts says how the parts of the server are of which people would not notice at once
// that they do not work: what is due, what goes out, and backups.
func (a *app) parts(ctx context.Context) []server.Part {
	late := func(since, now time.Time, most time.Duration, what string) string {
		if since.IsZero() || now.Sub(since) <= most {
			return ""
		}
		return fmt.Sprintf("%s for %s", what, now.Sub(since).Truncate(time.Second))
	}
	const unknown = "nobody knows: the database was not counted in time"
	sweeper, outbox, holds := unknown, unknown, unknown
	if read, now, err := a.figures.fresh(); err == nil {
		sweeper = late(read.Due, now, sweeperLate, "something has been due")
		outbox = late(read.Oldest, now, outboxLate, "something has waited to be delivered")
		if holds = ""; read.Holds > 0 {
			holds = fmt.Sprintf("%d keep cases from starting", read.Holds)
		}
	}
	disk := ""
	if wrong := a.disk.wrong.Load(); wrong != nil {
		disk = *wrong
	}
	audit := ""
	if wrong, err := a.engine.Server.Wrong(ctx); err != nil {
		audit = "nobody knows: the database does not answer"
	} else if wrong[engine.ServerAudit] {
		audit = "it is not as it was written"
	}
	parts := []server.Part{{Name: "database"}, {Name: "disk", Says: disk}, {Name: "contents", Says: a.answers.store.says()}, {Name: "sweeper", Says: sweeper}, {Name: "outbox", Says: outbox}, {Name: "backup", Says: a.backups.says()}, {Name: "audit log", Says: audit}, {Name: "holds", Says: holds}}
	if a.provider != nil {
		parts = append(parts, server.Part{Name: "single sign-on", Says: a.answers.provider.says()})
	}
	if a.ldap != nil {
		parts = append(parts, server.Part{Name: "directory", Says: a.answers.directory.says()})
	}
	return parts
}

// says says what is wrong with the backups, "" for nothing.
func (b *backups) says() string {
	switch {
	case b == nil:
		return "the server makes none"
	case b.failed.Load():
		return "the last one was not made"
	case b.overdue.Load():
		return "the last good one is more than two periods old"
	case b.last.Load() == 0:
		return b.lookForFirst()
	}
	return ""
}

// mostLook is how long an answer waits for the folder of the backups.
const mostLook = time.Second

// lookForFirst looks whether somebody has made a backup by hand, and says what is wrong if
// there is none. One look is under way at a time, and an answer does not wait long for it: a
// folder on a network may not answer.
func (b *backups) lookForFirst() string {
	const none = "none yet"
	if !b.looking.CompareAndSwap(false, true) {
		return none
	}
	found := make(chan string, 1)
	go func() {
		defer b.looking.Store(false)
		switch last, err := backup.Latest(b.config); {
		case err != nil:
			found <- none + ": its folder cannot be read"
		case last.IsZero():
			found <- none
		default:
			b.last.CompareAndSwap(0, last.Unix())
			found <- ""
		}
	}()
	timer := time.NewTimer(mostLook)
	defer timer.Stop()
	select {
	case says := <-found:
		return says
	case <-timer.C:
		return none
	}
}
