package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// XattrFilter selects cases that have an XATTR with that value.
type XattrFilter = change.XattrFilter

// caseTests are the parts of a filter of cases that the store does not know.
type caseTests struct {
	created, modified period
	xattrs            []XattrFilter
	warnings          bool
	query, role       string
}

// period is from one instant until before another; zero ends are open.
type period struct{ from, before time.Time }

func (p period) has(t time.Time) bool {
	return (p.from.IsZero() || !t.Before(p.from)) && (p.before.IsZero() || t.Before(p.before))
}

// testsOf reads the filter. Dates without an offset are those of the user's zone, and
// one without a time of day stands for the whole day. Errors: errs.BadParameter.
func (e *base) testsOf(by identity.Principal, f Filter) (t caseTests, err error) {
	t = caseTests{xattrs: f.Xattrs, warnings: f.Warnings, query: identity.Fold(f.Query), role: f.Role}
	zone := e.zoneOf(by)
	for _, date := range []struct {
		name, text string
		at         *time.Time
		end        bool
	}{
		{"createdFrom", f.CreatedFrom, &t.created.from, false},
		{"createdTo", f.CreatedTo, &t.created.before, true},
		{"modifiedFrom", f.ModifiedFrom, &t.modified.from, false},
		{"modifiedTo", f.ModifiedTo, &t.modified.before, true},
	} {
		if date.text == "" {
			continue
		}
		d, bad := clock.ParseDate(date.text, zone)
		switch {
		case bad != nil:
			return t, errs.New(errs.BadParameter, "The parameter %s: %s.", date.name, bad.Detail)
		case date.end && d.Day:
			year, month, day := d.Time.In(zone).Date()
			*date.at = time.Date(year, month, day+1, 0, 0, 0, 0, zone)
		case date.end:
			*date.at = d.Time.Add(time.Second)
		default:
			*date.at = d.Time
		}
	}
	return t, nil
}

// pass reports whether the case passes.
func (t *caseTests) pass(by identity.Principal, row *store.Case) (bool, error) {
	if !t.created.has(row.Created) || !t.modified.has(row.Modified) {
		return false, nil
	}
	if t.query == "" && t.role == "" && !t.warnings && t.xattrs == nil {
		return true, nil
	}
	var form caseForm
	if err := json.Unmarshal(row.Form, &form); err != nil {
		return false, errs.Wrap(fmt.Sprintf("read the form of case %d", row.ID), err)
	}
	switch {
	case t.query != "" && !strings.Contains(identity.Fold(form.Title), t.query), t.warnings && len(form.Warnings) == 0,
		t.role != "" && !by.InAny(access.Names(form.Roles[t.role])):
		return false, nil
	}
	return !slices.ContainsFunc(t.xattrs, func(x XattrFilter) bool { return !form.has(x) }), nil
}

// has reports whether the case has an XATTR with that value. The key is compared
// without regard to case; a number or boolean as JSON writes it.
func (c *caseForm) has(x XattrFilter) bool {
	for key, raw := range c.Xattrs {
		if identity.Fold(key) != identity.Fold(x.Key) {
			continue
		}
		text := string(raw)
		if strings.HasPrefix(text, `"`) && json.Unmarshal(raw, &text) != nil {
			return false
		}
		return text == x.Value
	}
	return false
}
