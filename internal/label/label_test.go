package label

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// friday is Friday 9 November 2012 in the afternoon, the day of the
// original's article.
var friday = time.Date(2012, 11, 9, 14, 5, 33, 0, time.UTC)

func values() *Values {
	return &Values{
		Now:          friday,
		Created:      time.Date(2012, 11, 8, 23, 59, 0, 0, time.UTC),
		PID:          1065656529,
		ParentPID:    17,
		GUID:         "5d3c0f6e8a1b4c2d9e7f00112233aabb",
		Task:         "23",
		Email:        "sam@example.org",
		Login:        "sam",
		Route:        "V200TmpxrefrLoad",
		Title:        "Load it",
		ScheduledFor: time.Date(2012, 11, 9, 14, 5, 0, 0, time.UTC),
		Iteration:    3,
	}
}

func TestSubstitute(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		// The original's table, row by row (OpenGroupware Coils).
		{"$__DATE__;", "20121109"},
		{"$__TODAY__;", "2012-11-09"},
		{"$__YESTERDAY__;", "2012-11-08"},
		{"$__TOMORROW__;", "2012-11-10"},
		{"$__WEEKAGO__;", "2012-11-02"},
		{"$__FORTNIGHTAGO__;", "2012-10-26"},
		{"$__MONTHAGO__;", "2012-10-10"},
		{"$__USCIVILIANDATE__;", "11/09/2012"},
		{"$__OMPHALOSDATE__;", "2012-11-09"},
		{"$__MONTHSTART__;", "2012-11-01"},
		{"$__DATETIME__;", "20121109T14:05"},
		{"$__OMPHALOSDATETIME__;", "2012-11-09 14:05"},
		{"$__NOW_Y2__;", "12"},
		{"$__NOW_Y4__;", "2012"},
		{"$__NOW_M2__;", "11"},
		{"$__INITDATE__;", "2012-11-08"},
		{"$__PID__;", "1065656529"},
		{"$__PARENTPID__;", "17"},
		{"$__UUID__;", "{5d3c0f6e-8a1b-4c2d-9e7f-00112233aabb}"},
		{"$__GUID__;", "5d3c0f6e-8a1b-4c2d-9e7f-00112233aabb"},
		{"$__TASK__;", "23"},
		{"$__EMAIL__;", "sam@example.org"},
		{"$__LOGIN__;", "sam"},
		{"$__WEEKOFMONTH__;", "05-11"},
		{"$__ROUTE__;", "V200TmpxrefrLoad"},

		// Ours.
		{"$__MONTHEND__;", "2012-11-30"},
		{"$__LASTMONTHSTART__;", "2012-10-01"},
		{"$__LASTMONTHEND__;", "2012-10-31"},
		{"$__YEARSTART__;", "2012-01-01"},
		{"$__QUARTERSTART__;", "2012-10-01"},
		{"$__WEEKSTART__;", "2012-11-05"},
		{"$__SCHEDULEDFOR__;", "2012-11-09T14:05:00Z"},
		{"$__ITERATION__;", "3"},
		{"$__TITLE__;", "Load it"},

		// Arithmetic.
		{"$__TODAY+3D__;", "2012-11-12"},
		{"$__TODAY-0D__;", "2012-11-09"},
		{"$__TODAY-2W__;", "2012-10-26"},
		{"$__MONTHSTART-1M__;", "2012-10-01"},
		{"$__MONTHEND+3M__;", "2013-02-28"},
		{"$__LASTMONTHEND+16M__;", "2014-02-28"},
		{"$__INITDATE+1Y__;", "2013-11-08"},
		{"$__TOMORROW+1D__; $__WEEKSTART+1W__;", "2012-11-11 2012-11-12"},
		{"$__TODAY+7987Y__;", "9999-11-09"},

		// Where labels stand.
		{"", ""},
		{"no label", "no label"},
		{"a$__DATE__;b$__DATE__;", "a20121109b20121109"},
		{"$__$__DATE__;", "$__20121109"},
		{"$$__DATE__;;", "$20121109;"},
		{"ü$__DATE__;ü", "ü20121109ü"},
		{"$__DATE; $_DATE__; $__DATE_; $__DA TE__; $__", "$__DATE; $_DATE__; $__DATE_; $__DA TE__; $__"},
		{"$__XATTR_load__; $__XATTR_LOAD__; $__XATTR_n__; $__XATTR_a.b-c___;", "fast fast 1.50 underscored"},
	}
	v := values()
	v.XAttrs = Dict{
		{Key: "a.b-c_", Value: Text("underscored")},
		{Key: "load", Value: Text("fast")},
		{Key: "n", Value: Value{Kind: 2, Text: "1.50"}},
	}
	for _, test := range tests {
		got, unknown, _ := Substitute(test.text, v)
		if got != test.want || unknown != nil {
			t.Errorf("Substitute(%q) = %q, unknown %q; want %q", test.text, got, unknown, test.want)
		}
	}
}

func TestSubstituteWithoutValue(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"PID", "PARENTPID", "UUID", "GUID", "TASK", "EMAIL", "LOGIN", "ROUTE", "TITLE",
		"SCHEDULEDFOR", "ITERATION", "INITDATE", "INITDATE+1D",
	} {
		got, unknown, _ := Substitute("<$__"+name+"__;>", &Values{Now: friday})
		if got != "<>" || unknown != nil {
			t.Errorf("%s without a value = %q, unknown %q; want nothing", name, got, unknown)
		}
	}
}

func TestSubstituteUnknown(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"$__FOO__;", "$__today__;", "$____;", "$_____;", "$__XATTR___;", "$__XATTR_absent__;", "$__XATTR_a+1D__;",
		"$__TODAY+__;", "$__TODAY+D__;", "$__TODAY+1__;", "$__TODAY+1d__;", "$__TODAY+1H__;", "$__TODAY+1D+1D__;",
		"$__TODAY+-1D__;", "$__TODAY+12345678D__;", "$__TODAY+7988Y__;", "$__TODAY-2012Y__;", "$__TODAY+1.5D__;",
		"$__DATE+1D__;", "$__PID+1D__;", "$__SCHEDULEDFOR+1D__;", "$__FOO+1D__;", "$__+1D__;",
	} {
		got, unknown, _ := Substitute("a "+label+" b "+label, values())
		if want := "a " + label + " b " + label; got != want {
			t.Errorf("Substitute(%q) = %q; want it unchanged", want, got)
		}
		if diff := cmp.Diff([]string{label}, unknown); diff != "" {
			t.Errorf("%s: unknown (-want +got):\n%s", label, diff)
		}
	}
	_, unknown, _ := Substitute("$__B__; $__TODAY__; $__A__; $__B__;", values())
	if diff := cmp.Diff([]string{"$__B__;", "$__A__;"}, unknown); diff != "" {
		t.Errorf("unknown in order of appearance (-want +got):\n%s", diff)
	}
}

func TestSubstituteIsOnePass(t *testing.T) {
	t.Parallel()
	v := values()
	v.Title = "$__TODAY__; $__XATTR_a__;"
	v.XAttrs = Dict{{Key: "a", Value: Text("$__DATE__;")}}
	got, unknown, _ := Substitute("$__TITLE__;|$__XATTR_a__;", v)
	if want := "$__TODAY__; $__XATTR_a__;|$__DATE__;"; got != want || unknown != nil {
		t.Errorf("got %q, unknown %q; want %q", got, unknown, want)
	}
}

// The weeks of a month: within it, at its ends, and if it begins or ends with a
// whole week.
func TestWeekOfMonth(t *testing.T) {
	t.Parallel()
	tests := []struct{ day, want string }{
		{"2012-11-01", "01-04"},
		{"2012-11-02", "01-04"},
		{"2012-11-03", "01-04"},
		{"2012-11-04", "01-04"},
		{"2012-11-05", "05-11"},
		{"2012-11-09", "05-11"},
		{"2012-11-11", "05-11"},
		{"2012-11-30", "26-30"},
		{"2012-10-01", "01-07"}, // begins on a Monday
		{"2012-09-01", "01-02"},
		{"2012-09-30", "24-30"}, // ends on a Sunday
		{"2012-12-31", "31-31"}, // a Monday at the end
		{"2012-07-01", "01-01"}, // a Sunday at the beginning
		{"2012-02-29", "27-29"},
	}
	for _, test := range tests {
		day, err := time.Parse(isoDate, test.day)
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := Substitute("$__WEEKOFMONTH__;", &Values{Now: day.Add(23 * time.Hour)})
		if got != test.want {
			t.Errorf("week of month of %s = %s; want %s", test.day, got, test.want)
		}
	}
}

func TestEverythingIsUTC(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 14*3600)
	v := &Values{
		Now:          time.Date(2013, 1, 1, 3, 0, 0, 0, east), // 31 December, 13:00 UTC
		Created:      time.Date(2013, 1, 1, 3, 0, 0, 0, east),
		ScheduledFor: time.Date(2013, 1, 1, 3, 0, 0, 0, east),
	}
	got, _, _ := Substitute("$__DATETIME__; $__TODAY__; $__YEARSTART__; $__WEEKSTART__; $__INITDATE__; $__SCHEDULEDFOR__;", v)
	if want := "20121231T13:00 2012-12-31 2012-01-01 2012-12-31 2012-12-31 2012-12-31T13:00:00Z"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

func TestYearsHaveFourDigits(t *testing.T) {
	t.Parallel()
	first := &Values{Now: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)}
	last := &Values{Now: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
	beyond := &Values{Now: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	tests := []struct {
		v          *Values
		text, want string
	}{
		{first, "$__TODAY__;", "0001-01-01"},
		{first, "$__YESTERDAY__;", "$__YESTERDAY__;"},
		{last, "$__TODAY__;", "9999-12-31"},
		{last, "$__TOMORROW__;", "$__TOMORROW__;"},
		{beyond, "$__DATE__;", "$__DATE__;"},
		{beyond, "$__YESTERDAY__;", "9999-12-31"},
		{beyond, "$__TODAY-1D__;", "$__TODAY-1D__;"},
	}
	for _, test := range tests {
		if got, _, _ := Substitute(test.text, test.v); got != test.want {
			t.Errorf("%s in the year %d = %q; want %q", test.text, test.v.Now.Year(), got, test.want)
		}
	}
}

func TestSubstituteBoundsGrowth(t *testing.T) {
	t.Parallel()
	v := values()
	v.Title = strings.Repeat("x", 1<<16)
	text := strings.Repeat("$__TITLE__;", 1<<10)
	got, unknown, long := Substitute(text, v)
	if len(got) > len(text)+MaxGrowth {
		t.Errorf("%d bytes became %d", len(text), len(got))
	}
	if diff := cmp.Diff([]string{"$__TITLE__;"}, long); diff != "" || unknown != nil {
		t.Errorf("unknown %q, too long (-want +got):\n%s", unknown, diff)
	}
}

func TestManyUnknown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	want := make([]string, 0, 50_000)
	for i := range cap(want) {
		want = append(want, fmt.Sprintf("$__U%d__;", i))
		b.WriteString(want[i])
	}
	_, unknown, _ := Substitute(b.String()+b.String(), values())
	if diff := cmp.Diff(want, unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%.500s", diff)
	}
}

func FuzzSubstitute(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "$__TODAY__;", "a $__TODAY+3D__; b", "$__MONTHSTART-1M__;$__XATTR_a__;", "$__$__$__;__;", "$__TODAY+__;", "$__TODAY-99999999999Y__;",
	} {
		f.Add(seed)
	}
	v := values()
	v.XAttrs = Dict{{Key: "a", Value: Text("$__TODAY__;")}}
	f.Fuzz(func(t *testing.T, text string) {
		got, unknown, long := Substitute(text, v)
		if !strings.Contains(text, opening) && got != text {
			t.Errorf("Substitute(%q) = %q; there is no label in it", text, got)
		}
		if len(got) > len(text)+MaxGrowth {
			t.Errorf("Substitute(%q) grew to %d bytes", text, len(got))
		}
		seen := map[string]bool{}
		for _, u := range append(unknown, long...) {
			if seen[u] || !strings.Contains(got, u) || !strings.Contains(text, u) {
				t.Errorf("Substitute(%q) = %q reports %q among %q", text, got, u, unknown)
			}
			seen[u] = true
		}
	})
}

// A text of nothing but beginnings of labels is the worst case of the scan.
func BenchmarkSubstitute(b *testing.B) {
	v := values()
	texts := map[string]string{
		"typical":    "from $__MONTHSTART__; to $__TODAY__;",
		"plain":      "nothing to see",
		"1MiB_bad":   strings.Repeat("$__A", 1<<18),
		"1MiB_run":   "$__" + strings.Repeat("A", 1<<20),
		"1MiB_today": strings.Repeat("$__TODAY__;", 1<<20/11),
	}
	for _, name := range []string{"typical", "plain", "1MiB_bad", "1MiB_run", "1MiB_today"} {
		text := texts[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Substitute(text, v)
			}
		})
	}
}

func TestRandomTextsKeepWhatIsNoLabel(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"$__", "__;", "$", "_", ";", "TODAY", "+1D", "x", " "}
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		text := b.String()
		got, _, _ := Substitute(text, values())
		want := strings.ReplaceAll(strings.ReplaceAll(text, "$__TODAY__;", "2012-11-09"), "$__TODAY+1D__;", "2012-11-10")
		if got != want {
			t.Fatalf("Substitute(%q) = %q; want %q", text, got, want)
		}
	}
}
