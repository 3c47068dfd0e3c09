package schedule_test

import (
	"bytes"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/schedule"
)

// FuzzCronField wants no panic, instants that advance, and canonical text
// that is its own canonical text and means the same.
func FuzzCronField(f *testing.F) {
	for _, seed := range []string{"*", "*/20", "5/20", "3, 6", "mon-fri", "last, last fri,2nd tue", "0-59/7,*", "2012-2020/2", "fri-mon", "7"} {
		for field := range 7 {
			f.Add(field, seed)
		}
	}
	f.Fuzz(func(t *testing.T, field int, text string) {
		var fields schedule.CronFields
		list := []*string{&fields.Year, &fields.Month, &fields.Day, &fields.Week, &fields.Weekday, &fields.Hour, &fields.Minute}
		if field < 0 || field >= len(list) {
			return
		}
		*list[field] = text
		s, canonical, faults := schedule.ParseCron(fields)
		if (s == nil) != (len(faults) > 0) {
			t.Fatalf("%+v: got %v and %v", fields, s, faults)
		}
		if s == nil {
			return
		}
		again, same, faults := schedule.ParseCron(canonical)
		if len(faults) > 0 || same != canonical {
			t.Fatalf("%+v: the canonical text %+v becomes %+v, %v", fields, canonical, same, faults)
		}
		advances(t, s, again)
	})
}

// advances fails where an instant of s is not after the one before, or
// where other has another.
func advances(t *testing.T, s, other schedule.Schedule) {
	t.Helper()
	at := friday
	for range 10 {
		next := s.Next(at)
		if want := other.Next(at); next != want {
			t.Fatalf("after %v: %v and %v", at, next, want)
		}
		if next.IsZero() {
			return
		}
		if !next.After(at) {
			t.Fatalf("after %v comes %v", at, next)
		}
		at = next
	}
}

// FuzzCrontab wants the same of crontab lines.
func FuzzCrontab(f *testing.F) {
	for _, seed := range []string{"30 5 * * 1-5", "*/5 9-17 13 jan,dec fri", "@daily", "@every 5m", "TZ=UTC", "CRON_TZ=Europe/Berlin 0 5 * * *", "0 0 29 2 *", "? ? ? ? ?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		s, canonical, fault := schedule.ParseCrontab(spec)
		if (s == nil) != (fault != nil) {
			t.Fatalf("%q: got %v and %v", spec, s, fault)
		}
		if s == nil {
			return
		}
		again, same, fault := schedule.ParseCrontab(canonical)
		if fault != nil || same != canonical {
			t.Fatalf("%q: the canonical text %q becomes %q, %v", spec, canonical, same, fault)
		}
		advances(t, s, again)
	})
}

// FuzzRead wants no panic on any document; of an accepted one that its form
// is stored and read back, is accepted in its own place and gives the same
// form, and that the entry steps.
func FuzzRead(f *testing.F) {
	for _, doc := range sampleDocs {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := document.ParseJSON(data)
		if err != nil {
			return
		}
		var faults document.Faults
		root := document.Root(n, &faults)
		schedule.Command(root)
		if faults.Err() != nil {
			return
		}
		e := schedule.Read(root, friday, nil, zoneNamed)
		if faults.Err() != nil {
			return
		}
		e.UUID = "c658993adcf1410b80035dc134feb564"
		for range 3 {
			form := e.Form()
			if !bytes.HasSuffix(form, []byte("}\n")) || !bytes.Equal(form, document.Indent(form)) {
				t.Fatalf("the form is not indented: %s", form)
			}
			stored, err := schedule.ReadForm(form, zoneNamed)
			if err != nil || !bytes.Equal(stored.Form(), form) {
				t.Fatalf("%v: %s becomes %s", err, form, stored.Form())
			}
			root := document.Root(mustParse(t, form), &faults)
			again := schedule.Read(root, e.Modified, e, zoneNamed)
			if faults.Err() != nil || !bytes.Equal(again.Form(), form) {
				t.Fatalf("%v: %s becomes %s", faults.Err(), form, again.Form())
			}
			if _, ok := e.Due(); !ok || e.Step(e.NextIteration).Ended {
				return
			}
		}
	})
}

// FuzzReadForm wants no panic on whatever is stored, and that what is taken
// is taken again.
func FuzzReadForm(f *testing.F) {
	f.Add([]byte(`{"type":"crontab","spec":"@daily","xattrDict":{"a":1,"b":"\u00fc"},"exclude":["2013-01-01",{"from":"a","to":"b"}],"upcoming":["2012-11-11T23:00:00",null]}`))
	f.Add([]byte(`{"UUID":"{c658993a-dcf1-410b-8003-5dc134feb564}","type":"interval","minutes":2,"interval":120,"date":"2012-11-09T12:34:56","x":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := schedule.ReadForm(data, zoneNamed)
		if err != nil {
			return
		}
		form := e.Form()
		again, err := schedule.ReadForm(form, zoneNamed)
		if err != nil || !bytes.Equal(again.Form(), form) {
			t.Fatalf("%v: %s", err, form)
		}
	})
}
