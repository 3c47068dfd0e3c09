package relational_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	var text strings.Builder
	next := noon().Add(24 * time.Hour)
	mustUpdate(t, db, func(tx store.Tx) error {
		for i := range 100 {
			line := fmt.Sprintf("{\"line\":%d}\n", i)
			text.WriteString(line)
			if err := tx.Write().Audit().Append(noon().Add(time.Duration(i)*time.Second), []byte(line)); err != nil {
				return err
			}
		}
		return tx.Write().Audit().Append(next, []byte("{}\n"))
	})
	whole := text.String()

	first := store.AuditDay{Day: store.AuditDayOf(noon()), Size: int64(len(whole)), First: noon(), Last: noon().Add(99 * time.Second)}
	second := store.AuditDay{Day: first.Day + 1, Size: 3, First: next, Last: next}
	mustView(t, db, func(r store.Reader) error {
		days, err := r.Audit().Days()
		same(t, "days", []store.AuditDay{first, second}, days)
		if err != nil {
			return err
		}
		day, err := r.Audit().Day(first.Day)
		same(t, "a day", &first, day)
		if err != nil {
			return err
		}
		_, err = r.Audit().Day(first.Day - 1)
		kind(t, "a day without a log", err, errs.NotFound)
		for _, offset := range []int{0, 1, 11, 12, 500, len(whole) - 1, len(whole), len(whole) + 7} {
			got, err := r.Audit().Text(first.Day, int64(offset), 1000)
			if want := whole[min(offset, len(whole)):]; err != nil || string(got) != want {
				t.Errorf("from %d: %d bytes, %v; want %d", offset, len(got), err, len(want))
			}
		}
		got, err := r.Audit().Text(first.Day, 3, 2)
		if want := whole[3:22]; err != nil || string(got) != want {
			t.Errorf("two lines from 3: %q, %v; want %q", got, err, want)
		}
		return nil
	})
}

func TestAuditIsEmpty(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	mustView(t, db, func(r store.Reader) error {
		days, err := r.Audit().Days()
		same(t, "days", []store.AuditDay(nil), days)
		return err
	})
}
