package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/quota"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Moving the cases of a route to its new version
// (docs/contract/routes.md#migration). Before the route is stored it is checked
// that every status still exists; if not, the whole request is refused. The
// cases follow in batches, so that other requests do not wait for long. The
// rest of the work is stored with the route, so that it survives a crash.

const (
	mostMoved     = 1000 // cases that a report lists as moved
	migrateBatch  = 100  // cases in one unit
	mostStranded  = 1000 // cases that a refusal lists
	mostUnmoved   = 1000 // faults that a report lists
	keyMigrations = "migrations"
)

// migration is one that has not come to its end.
type migration struct {
	RouteID int64  `json:"route"`
	Version int64  `json:"version"`
	After   int64  `json:"after"` // id of the last case that was seen to
	By      string `json:"by"`
}

// Unmoved is a case that could not be moved to another version of its route,
// and stays as it was.
type Unmoved struct {
	Case   int64  `json:"case"`
	Detail string `json:"detail"`
}

// migrationReport is what became of the cases.
type migrationReport struct {
	Version int64     `json:"version"`
	Moved   int64     `json:"moved"`
	Failed  int64     `json:"failed"`
	Faults  []Unmoved `json:"faults"` // the first of them
	Cases   []int64   `json:"cases"`  // the first of those that moved

	spent *uint64 // has added what expressions cost; nil: nobody asks
}

func (r *migrationReport) fault(id int64, err error) {
	detail := "It could not be read or stored; see the server's log."
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind != errs.Internal {
		detail = e.Error()
	}
	if r.Failed++; len(r.Faults) < mostUnmoved {
		r.Faults = append(r.Faults, Unmoved{Case: id, Detail: detail})
	}
}

// form returns a route's complete form with the report as its last member.
func (r *migrationReport) form(route []byte) ([]byte, error) {
	if r.Faults == nil {
		r.Faults = []Unmoved{}
	}
	if r.Cases == nil {
		r.Cases = []int64{}
	}
	report, err := json.Marshal(r)
	if err != nil {
		return nil, errs.Wrap("write the report of a migration", err)
	}
	return document.WithMember(route, "migration", report), nil
}

// MigrateRoute stores a route as PutRoute does, and moves its cases to that
// version: all that are not canceled, closed or failed. The outcome has a
// report if some could not be moved, and for a dry run; who asks for the form is always
// told what became of the cases. Errors: those of
// PutRoute; errs.Migrate if cases are in states that the new version does not
// have.
func (e *Routes) MigrateRoute(ctx context.Context, req Request, name string, yaml bool, body []byte) (*Outcome, error) {
	var out *Outcome
	var next *routeChange
	report := &migrationReport{}
	err := e.Change(ctx, func(r store.Reader) (_ change.Decision, err error) {
		if next, err = e.readRoute(r, req, name, yaml, body); err != nil {
			return nil, err
		}
		if err := stranded(r, next); err != nil {
			return nil, err
		}
		if req.DryRun {
			*report = migrationReport{Version: next.stored.Version}
			if err := e.rehearse(r, req, next, report); err != nil {
				return nil, err
			}
		}
		return func(tx store.Tx) (err error) {
			if err := putMigration(tx, migration{RouteID: next.stored.ID, Version: next.stored.Version, By: string(req.By.Name)}); err != nil {
				return err
			}
			out, err = e.writeRoute(ctx, tx, req, next)
			return err
		}, nil
	})
	if err != nil {
		return nil, err
	}
	if !req.DryRun {
		report.Version = next.stored.Version
		if err := e.migrate(change.Committed(ctx), next.stored.ID, report); err != nil {
			e.left.rouse() // the route is stored, and the rest follows
			return nil, err
		}
		e.runDueNow(ctx)
	}
	form := out.Form
	if out.Told != nil {
		form = out.Told // with what is told of the request
	}
	if out.Told, err = report.form(form); err != nil {
		return out, err
	}
	if out.Report != nil {
		form = out.Report // with what was played
	}
	if req.DryRun || report.Failed > 0 {
		out.Report, err = report.form(form)
	}
	if err != nil || req.DryRun || req.Key == nil {
		return out, err
	}
	// The answer that was stored with the route did not know of it yet.
	return out, e.Update(change.Committed(ctx), func(tx store.Tx) error {
		return tx.Write().Answers().Amend(req.By.ID, req.Key.Key, req.Answer(out))
	})
}

// stranded refuses a version that does not have the status of a case.
func stranded(r store.Reader, c *routeChange) error {
	names := make([]string, len(c.compiled.States))
	for i := range names {
		names[i] = c.compiled.States[i].Name
	}
	cases, err := r.Routes().Stranded(c.stored.ID, names, mostStranded)
	if err != nil || len(cases) == 0 {
		return err
	}
	const shown = 10
	var some []string
	for _, s := range cases[:min(len(cases), shown)] {
		some = append(some, fmt.Sprintf("%d (%s)", s.Case, s.Status))
	}
	if more := len(cases) - shown; more > 0 {
		some = append(some, fmt.Sprintf("and %d more", more))
	}
	refusal := errs.New(errs.Migrate, "Nothing was stored: these cases are in states that the route no longer has: %s. Keep those states, or move the cases on first.", strings.Join(some, ", "))
	refusal.Extra = map[string]any{"cases": cases}
	return refusal
}

// movesWithRoute reports whether a case in that state of its life moves.
func movesWithRoute(life machine.Life) bool {
	switch life {
	case machine.Queued, machine.Active, machine.Suspended, machine.Completed, machine.Failed:
		return true
	default:
		return false
	}
}

// rehearse decides on every case as the migration would, and stores nothing.
func (e *Routes) rehearse(r store.Reader, req Request, c *routeChange, report *migrationReport) error {
	info := &usedRoute{*access.RouteOf(&c.stored, c.compiled, req.By.ID), c.compiled}
	for after := int64(0); ; {
		rows, err := r.Cases().List(store.CaseFilter{RouteID: c.stored.ID, After: after, Limit: migrateBatch})
		if err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			after = rows[i].ID
			if _, err := e.decideMigration(r, req, &rows[i], info, report); err != nil {
				return err
			}
		}
	}
}

// decideMigration decides on one case. It returns nil if the case does not
// move; the reason is reported.
func (e *Routes) decideMigration(r store.Reader, req Request, row *store.Case, info *usedRoute, report *migrationReport) (*caseChange, error) {
	if !movesWithRoute(machine.Life(row.State)) {
		return nil, nil
	}
	row, err := r.Cases().Get(row.ID)
	if err != nil {
		return nil, err
	}
	h, err := e.decider.loadRow(r, identity.Principal{}, row, nil)
	if err == nil && (h.core.RouteVersion >= info.Version || h.core.Life == machine.Failed) {
		return nil, nil
	}
	var change *caseChange
	if err == nil {
		event := machine.Migrate{Actor: machine.Actor{Name: string(req.By.Name)}, Version: info.Version, From: h.route.Compiled}
		h.route, h.spent = info, report.spent
		change, err = e.decider.decideOn(h, event, req)
	}
	switch {
	case err == nil:
		if report.Moved++; len(report.Cases) < mostMoved {
			report.Cases = append(report.Cases, row.ID)
		}
		return change, nil
	case quota.Unserved(err):
		return nil, err
	case errs.Is(err, errs.Internal):
		e.log.Error().Err(err).Int64("case", row.ID).Msg("migration: could not move a case to another version of its route")
	}
	report.fault(row.ID, err)
	return nil, nil
}

// migrate carries the migration of a route on to its end.
func (e *Routes) migrate(ctx context.Context, routeID int64, report *migrationReport) error {
	for more := true; more; {
		var batch migrationReport
		err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
			batch = migrationReport{}
			more, err = e.migrateSome(tx, routeID, e.Clock.Now(), &batch)
			return err
		})
		if err != nil {
			return err
		}
		report.Moved, report.Failed = report.Moved+batch.Moved, report.Failed+batch.Failed
		report.Faults = append(report.Faults, batch.Faults[:min(len(batch.Faults), mostUnmoved-len(report.Faults))]...)
		report.Cases = append(report.Cases, batch.Cases[:min(len(batch.Cases), mostMoved-len(report.Cases))]...)
	}
	return nil
}

// migrateSome moves the next cases of a route, in one unit with the note of
// how far it came.
func (e *Routes) migrateSome(tx store.Tx, routeID int64, now time.Time, report *migrationReport) (more bool, err error) {
	all, err := readMigrations(tx.Settings())
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(all, func(m migration) bool { return m.RouteID == routeID })
	if i < 0 {
		return false, nil // another unit has done it
	}
	m := &all[i]
	compiled, err := e.versions.get(tx, m.RouteID, m.Version)
	if err != nil {
		return false, err
	}
	info := &usedRoute{access.Route{ID: m.RouteID, Version: m.Version}, compiled}
	rows, err := tx.Cases().List(store.CaseFilter{RouteID: m.RouteID, After: m.After, Limit: migrateBatch})
	if err != nil {
		return false, err
	}
	req := Request{By: identity.Principal{Name: identity.Name(m.By)}, Now: now}
	var spent spending
	report.spent = spent.by(0)
	more = len(rows) == migrateBatch
	for j := range rows {
		if !spent.allows(0) {
			more = true
			break
		}
		m.After = rows[j].ID
		change, err := e.decideMigration(tx, req, &rows[j], info, report)
		if err != nil {
			return false, err
		}
		if change == nil {
			continue
		}
		if err := e.decider.write(tx, change); err != nil {
			return false, err
		}
	}
	tx.AfterCommit(e.sweeper.noteQueued) // a group may have lost a case that was busy
	if !more {
		all = slices.Delete(all, i, i+1)
	}
	return more, putMigrations(tx, all)
}

// finishMigrations carries on what is left. One that fails does not keep the others from it.
func (e *Routes) finishMigrations(ctx context.Context) error {
	var all []migration
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		all, err = readMigrations(r.Settings())
		return err
	})
	for i := range all {
		err = errors.Join(err, e.migrate(ctx, all[i].RouteID, &migrationReport{}))
	}
	return err
}

func readMigrations(r store.SettingReader) ([]migration, error) {
	text, err := r.Get(keyMigrations)
	if err != nil || text == "" {
		return nil, err
	}
	var all []migration
	return all, errs.Wrap("read what is left of migrations", json.Unmarshal([]byte(text), &all))
}

// putMigration notes that the cases of a route are to be moved.
func putMigration(tx store.Tx, m migration) error {
	all, err := readMigrations(tx.Settings())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(other migration) bool { return other.RouteID == m.RouteID })
	return putMigrations(tx, append(all, m))
}

func putMigrations(tx store.Tx, all []migration) error {
	if len(all) == 0 {
		return tx.Write().Settings().Put(keyMigrations, "")
	}
	text, err := json.Marshal(all)
	if err != nil {
		return errs.Wrap("note what is left of migrations", err)
	}
	return tx.Write().Settings().Put(keyMigrations, string(text))
}
