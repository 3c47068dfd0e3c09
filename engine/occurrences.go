package engine

import (
	"context"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/status"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Occurrences returns what became of the instants of an entry, newest first,
// also after the entry has ended. Errors: errs.NotFound if by may not see the
// entry.
func (e *Schedules) Occurrences(ctx context.Context, by identity.Principal, uuid store.UUID) (*Resource, error) {
	const most = 10_000
	var rows []store.Occurrence
	var context identity.ID // 0: there is no such entry
	err := e.Store.View(ctx, func(r store.Reader) error {
		stored, err := store.OrNil(r.Entries().Get(uuid))
		if err != nil {
			return err
		}
		if rows, err = r.Entries().Occurrences(uuid, most); err != nil {
			return err
		}
		if stored != nil {
			context = stored.ContextID
		} else if len(rows) > 0 {
			context = rows[0].ContextID
		} else if ended, err := store.OrNil(r.Entries().Ended(uuid)); err != nil {
			return err
		} else if ended != nil && ended.Ended.After(e.Clock.Now().Add(-endedLasts)) {
			context = ended.ContextID
		}
		if context == 0 || !access.SeesEntry(by, context) {
			return change.Absent("schedule entry")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	form := appendOccurrences(nil, rows)
	res := &Resource{Name: uuid.String(), Form: form, FormETag: change.SourceETag(form)}
	if len(rows) > 0 {
		res.Modified, res.Created = rows[0].FiredAt, rows[len(rows)-1].FiredAt
	}
	return res, nil
}

// occurrenceForm is one line of occurrences.json
// (docs/contract/drive.md#occurrences-json).
type occurrenceForm struct {
	Instant    string  `json:"instant"`
	Outcome    string  `json:"outcome"`
	Reason     *string `json:"reason"`
	LagSeconds float64 `json:"lagSeconds"`
	Case       *int64  `json:"case"`
	State      *string `json:"state"`  // of the case now
	Status     *string `json:"status"` // likewise
	FiredAt    string  `json:"firedAt"`
}

func appendOccurrences(dst []byte, rows []store.Occurrence) []byte {
	list := make([]occurrenceForm, len(rows))
	for i := range rows {
		o := &rows[i]
		list[i] = occurrenceForm{
			Instant: o.Instant.UTC().Format(time.RFC3339), Outcome: o.Outcome,
			LagSeconds: status.LagSeconds(o), FiredAt: o.FiredAt.UTC().Format(time.RFC3339),
		}
		if o.Reason != "" {
			list[i].Reason = &o.Reason
		}
		if o.CaseID != 0 {
			list[i].Case = &o.CaseID
		}
		if o.State != "" {
			list[i].State = &o.State
		}
		if o.Status != "" {
			list[i].Status = &o.Status
		}
	}
	return append(dst, document.Line(list)...)
}
