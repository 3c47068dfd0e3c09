package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestEraseInParts: a person is erased from many cases some at a time, so that others write
// in between. What the person starts meanwhile is erased as well. If it ends halfway, the user
// is still there, and the same again does the rest.
func TestEraseInParts(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	admin, ann, bob := w.as("admin"), w.as("ann"), w.as("bob")
	var cases []int64
	for i := range 120 {
		cases = append(cases, ann.startCase(fmt.Sprintf(`{"route": "own", "title": "Of Ann, %d"}`, i)))
	}
	erase := func(successor string) error {
		return w.Accounts.ErasePerson(t.Context(), admin.request(nil), "ann", successor)
	}
	starters := func() (of map[string]int) {
		of = map[string]int{}
		for _, id := range cases {
			of[admin.caseForm(id).get("starter")]++
		}
		return of
	}

	s.seen()
	for _, bad := range []string{"nobody", "ann", ""} {
		if err := erase(bad); !errs.Is(err, errs.BadParameter) && !errs.Is(err, errs.InUse) {
			t.Errorf("with the successor %q: %v", bad, err)
		}
	}
	if writes := s.seen(); len(writes) > 0 {
		t.Errorf("what is refused has written: %v", writes)
	}

	units, begun, failed := 0, false, errors.New("interrupted")
	s.first = func() error {
		if begun {
			return nil
		}
		if units++; units == 4 {
			return failed
		}
		return nil
	}
	if err := erase("bob"); !errors.Is(err, failed) {
		t.Fatalf("an erasure that is interrupted: %v", err)
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
		if form := admin.caseForm(id).text; strings.Contains(strings.ToLower(form), `"ann"`) || strings.Contains(form, "Ann") || !strings.Contains(form, "erased-") {
			t.Errorf("case %d: %s", id, form)
		}
		bob.caseForm(id).wants("starter", `"bob"`, "context", `"bob"`)
	}
}
