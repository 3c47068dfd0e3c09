package web

import (
	"context"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/status"
	"flowdrive/internal/identity"
)

// ScheduleQueries are what the pages of the schedule read.
type ScheduleQueries interface {
	// EntryViews returns a page of the schedule entries that by sees, and how things
	// stand with all of them.
	EntryViews(ctx context.Context, by identity.Principal, q engine.EntryQuery) (*engine.EntryPage, error)
	// EntryDetail returns an entry with what became of its last instants, or of those
	// before an instant; more says that there are others before.
	EntryDetail(ctx context.Context, by identity.Principal, uuid string, before time.Time, limit int) (v *engine.EntryView, more bool, err error)
	// EarliestDue returns when something of anybody is due next, the zero time for never.
	EarliestDue(ctx context.Context) (time.Time, error)
	// Late returns what is late or has failed, as far as by has a part in it.
	Late(ctx context.Context, by identity.Principal) (*status.Late, error)
	// Forecast returns what happens to a case if nobody does anything.
	Forecast(ctx context.Context, by identity.Principal, id int64) (machine.Forecast, error)
	// ForeseeEntry returns what comes of an entry as a dry run has answered it.
	ForeseeEntry(ctx context.Context, by identity.Principal, form []byte) (*engine.ForeseenEntry, error)
}

// EntryViews implements ScheduleQueries.
func (q queries) EntryViews(ctx context.Context, by identity.Principal, query engine.EntryQuery) (*engine.EntryPage, error) {
	return q.engine.Schedules.EntryViews(ctx, by, query)
}

// EntryDetail implements ScheduleQueries.
func (q queries) EntryDetail(ctx context.Context, by identity.Principal, uuid string, before time.Time, limit int) (v *engine.EntryView, more bool, err error) {
	return q.engine.Schedules.EntryDetail(ctx, by, uuid, before, limit)
}

// EarliestDue implements ScheduleQueries.
func (q queries) EarliestDue(ctx context.Context) (time.Time, error) {
	return q.engine.EarliestDue(ctx)
}

// Late implements ScheduleQueries.
func (q queries) Late(ctx context.Context, by identity.Principal) (*status.Late, error) {
	return q.engine.Status.Late(ctx, by)
}

// Forecast implements ScheduleQueries.
func (q queries) Forecast(ctx context.Context, by identity.Principal, id int64) (machine.Forecast, error) {
	return q.engine.Cases.Forecast(ctx, by, id)
}

// ForeseeEntry implements ScheduleQueries.
func (q queries) ForeseeEntry(ctx context.Context, by identity.Principal, form []byte) (*engine.ForeseenEntry, error) {
	return q.engine.Schedules.ForeseeEntry(ctx, by, form)
}
