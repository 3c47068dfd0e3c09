package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestLeaveInParts: a user who has many cases leaves them some at a time, so that others write
// in between. What the user starts meanwhile is left as well. If it ends halfway, the user is
// still there, and the same again does the rest.
func TestLeaveInParts(t *testing.T) {
	t.Parallel()
	for name, erase := range map[string]bool{"erased": true, "handed over": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leavesInParts(t, erase)
		})
	}
}

func leavesInParts(t *testing.T, erased bool) {
	t.Helper()
	s := &spy{}
	w := newWorld(t, spied(s))
	admin, ann, bob := w.as("admin"), w.as("ann"), w.as("bob")
	var cases []int64
	for i := range 120 {
		cases = append(cases, ann.startCase(fmt.Sprintf(`{"route": "own", "title": "Of Ann, %d"}`, i)))
	}
	erase := func(successor string) error {
		if !erased {
			return admin.deleteParty(identity.User, "ann", successor)
		}
		return w.Accounts.ErasePerson(t.Context(), admin.request(nil), "ann", successor)
	}
	starters := func() (of map[string]int) {
		of = map[string]int{}
		for _, id := range cases {
			of[admin.caseForm(id).get("starter")]++
		}
		return of
	}

	ann.mustPutDocument("ann/in.csv", "x")
	folder := "bob/ann"
	if erased {
		folder = fmt.Sprintf("bob/erased-%d", ann.by().ID)
	}
	bob.mustPutDocument(folder, "in the way")
	s.seen()
	for _, bad := range []string{"nobody", "ann", "", "bob"} {
		if err := erase(bad); !errs.Is(err, errs.BadParameter) && !errs.Is(err, errs.InUse) {
			t.Errorf("with the successor %q: %v", bad, err)
		}
	}
	if writes := s.seen(); len(writes) > 0 {
		t.Errorf("what is refused has written: %v", writes)
	}
	if err := bob.deleteDocument(folder); err != nil {
		t.Fatal(err)
	}

	units, begun, failed := 0, false, errors.New("interrupted")
	last := 2 // the second unit of cases
	if erased {
		last = 4 // two delete what is kept of what the user has done
	}
	s.first = func() error {
		if begun {
			return nil
		}
		if units++; units == last {
			return failed
		}
		return nil
	}
	if err := erase("bob"); !errors.Is(err, failed) {
		t.Fatalf("if it is interrupted: %v", err)
	}
	s.first = nil
	if of := starters(); of[`"ann"`] == 0 || of[`"bob"`] == 0 {
		t.Errorf("halfway the cases are of %v", of)
	}
	w.form(try(w.Accounts.Party(t.Context(), admin.by(), identity.User, "ann")).must(w, "ann").Form).wants("name", `"ann"`)

	units = 0
	s.first = func() error {
		if !begun {
			units++
			begun = true
			cases = append(cases, ann.startCase(`{"route": "own", "title": "Meanwhile by ann"}`))
			begun = false
		}
		return nil
	}
	if err := erase("bob"); err != nil {
		t.Fatal(err)
	}
	s.first = nil
	if units < 3 {
		t.Errorf("all was written in %d units", units)
	}
	if of := starters(); len(of) != 1 || of[`"bob"`] != len(cases) {
		t.Errorf("at the end %d cases are of %v", len(cases), of)
	}
	for _, id := range []int64{cases[0], cases[len(cases)-1]} {
		form := admin.caseForm(id).text
		if erased && (strings.Contains(strings.ToLower(form), `"ann"`) || strings.Contains(form, "Ann") || !strings.Contains(form, "erased-")) {
			t.Errorf("case %d: %s", id, form)
		}
		if log := admin.logTexts(id); !erased && log[len(log)-1] != "roles: Handed over from ann to bob" {
			t.Errorf("the log of case %d: %v", id, log)
		}
		bob.caseForm(id).wants("starter", `"bob"`, "context", `"bob"`)
	}
}
