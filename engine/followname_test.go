package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestRenameInParts: a user whom many cases name has the new name at once, and the cases
// follow some at a time, so that others write in between. Until then the user does in them what
// the user may do, and nobody else gets the earlier name. If it ends halfway, the next start goes on.
func TestRenameInParts(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	admin, ann, sam := w.as("admin"), w.as("ann"), w.as("sam")
	const many = 520
	var cases []int64
	for i := range many {
		cases = append(cases, ann.startCase(fmt.Sprintf(`{"route": "own", "title": "Of ann, %d"}`, i)))
	}
	asked := sam.startCase(`{"route": "ask"}`)
	ann.mustDo(asked, "answer", "accept")
	starters := func() (of map[string]int) {
		of = map[string]int{}
		for _, id := range cases {
			of[admin.caseForm(id).get("starter")]++
		}
		return of
	}
	rename := func(from, to string) error {
		_, err := w.Accounts.RenameParty(t.Context(), admin.request(nil), identity.User, from, to)
		return err
	}

	units, begun := 0, false
	s.first = func() error {
		if begun {
			return nil
		}
		begun = true
		defer func() { begun = false }()
		switch units++; units {
		case 3:
			anna := w.as("anna")
			_, err := admin.putParty(identity.User, "ann", `{}`)
			w.refused(err, errs.NameTaken)
			w.refused(rename("bob", "Ann"), errs.NameTaken)
			same(t, "what anna has accepted", anna.work(engine.WorklistAccepted, engine.Filter{}), fmt.Sprintf("%d.answer", asked))
			anna.mustDo(asked, "answer", "perform")
			cases = append(cases, anna.startCase(`{"route": "own", "title": "Meanwhile"}`))
		case 5:
			return errors.New("interrupted")
		}
		return nil
	}
	if err := rename("ann", "anna"); err != nil {
		t.Fatal(err)
	}
	s.first = nil
	if units != 5 {
		t.Errorf("it was interrupted in unit %d", units)
	}
	if of := starters(); of[`"ann"`] == 0 || of[`"anna"`] < 50 {
		t.Errorf("halfway the cases are of %v", of)
	}
	if w.log.count("it is tried again") != 1 {
		t.Errorf("the log: %v", w.log.lines)
	}

	w.reopen()
	done := make(chan struct{})
	s.before = func(now write) error {
		if now.method == "PutSetting" && now.row == "renamed parties" {
			close(done)
		}
		return nil
	}
	stop := w.running()
	<-done
	w.update(func(store.Tx) error { return nil }) // the unit before it is durable
	stop()
	s.before = nil
	if of := starters(); len(of) != 1 || of[`"anna"`] != many+1 {
		t.Errorf("at the end the cases are of %v", of)
	}
	w.as("admin").mustPutParty(identity.User, "ann", `{}`)
	w.as("anna").caseForm(cases[0]).wants("starter", `"anna"`, "context", `"anna"`)
}

// TestRenameGoesOn: cases that could not follow a new name, as on a full disk, follow without a
// restart once they can. Administrators are told if that takes long, and when it is over.
func TestRenameGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		s := &spy{}
		w, stop := realTime(t, spied(s), func(w *world) {
			w.config = func(c *engine.Config) { c.Outside, c.Channels = room, engine.Channels{Mail: true} }
		})
		defer stop()
		admin, ann := w.as("admin"), w.as("ann")
		admin.mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		for range 520 {
			ann.startCase(`{"route": "own"}`)
		}
		synctest.Wait()
		told := func() string {
			room.mu.Lock()
			defer room.mu.Unlock()
			var lines []string
			for _, line := range room.told {
				if strings.Contains(line, "changes of many cases") {
					lines = append(lines, line)
				}
			}
			room.told = nil
			return strings.Join(lines, "\n")
		}
		broken := true
		var mu sync.Mutex
		s.before = func(now write) error {
			mu.Lock()
			defer mu.Unlock()
			if row, is := now.row.(*store.Case); is && broken && row != nil {
				return errs.New(errs.Full, "The server's disk is full.")
			}
			return nil
		}
		if _, err := w.Accounts.RenameParty(t.Context(), admin.request(nil), identity.User, "ann", "anna"); err != nil {
			t.Fatal(err)
		}
		await(30 * time.Second)
		same(t, "told at once", told(), "")
		await(time.Minute)
		same(t, "told after a minute", told(), "root@example.org: Failed: changes of many cases: a user or team was renamed, and not all cases have been written again with the new name")
		await(3 * time.Hour)
		same(t, "told again", told(), "")
		mu.Lock()
		broken = false
		mu.Unlock()
		await(11 * time.Minute)
		same(t, "told that it is over", told(), "root@example.org: Mended: changes of many cases")
		if left := w.Accounts.Table().Renamed(); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
		same(t, "lines of the log", fmt.Sprint(w.log.count("something that is done in many steps was interrupted"), w.log.count("what was interrupted is done")), "1 1")
	})
}

// TestDeleteWhileCasesFollow: a user whom not all cases name by the new name yet is not deleted
// as one whom nothing names.
func TestDeleteWhileCasesFollow(t *testing.T) {
	t.Parallel()
	s := &spy{}
	w := newWorld(t, spied(s))
	admin, eve := w.as("admin"), w.as("eve")
	const many = 520
	for range many {
		eve.startCase(`{"route": "ask"}`)
	}
	units := 0
	s.first = func() error {
		if units++; units == 2 {
			return errors.New("interrupted")
		}
		return nil
	}
	if _, err := w.Accounts.RenameParty(t.Context(), admin.request(nil), identity.User, "eve", "evelyn"); err != nil {
		t.Fatal(err)
	}
	s.first = nil
	if err := admin.deleteParty(identity.User, "evelyn", ""); len(usedBy(err)) == 0 {
		t.Errorf("evelyn, of whom there are %d cases: %v", many, err)
	}
	if err := admin.deleteParty(identity.User, "evelyn", "bob"); err != nil {
		t.Fatal(err)
	}
}
