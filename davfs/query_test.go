package davfs

import (
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw  string
		want engine.Filter
		kind errs.Kind
	}{
		{raw: ""},
		{
			raw:  "route=tip&state=active&status=open&role=voter&context=mine&parent=17&q=a%20b&after=3&limit=10",
			want: engine.Filter{Route: "tip", State: "active", Status: "open", Role: "voter", Context: "mine", Parent: 17, Query: "a b", After: 3, Limit: 10},
		},
		{raw: "type=crontab", want: engine.Filter{Type: "crontab"}},
		{raw: "paused=true", want: engine.Filter{Paused: "true"}},
		{raw: "state=open", want: engine.Filter{State: engine.StateOpen}},
		{raw: "state=all", want: engine.Filter{State: engine.StateAll}},
		{raw: "state=any", kind: errs.BadParameter},
		{raw: "paused=yes", kind: errs.BadParameter},
		{raw: "limit=1.5", kind: errs.BadParameter},
		{raw: "limit=-1", kind: errs.BadParameter},
		{raw: "after=-1", kind: errs.BadParameter},
		{raw: "parent=9007199254740992", kind: errs.BadParameter},
		{raw: "q", kind: errs.BadParameter},
		{raw: "a;b", kind: errs.BadParameter},
		{raw: "q=a&q=b", kind: errs.BadParameter},
	}
	for _, tt := range tests {
		q, err := parseQuery(tt.raw)
		var got engine.Filter
		if err == nil {
			got, err = q.filter()
		}
		if errs.KindOf(err) != tt.kind {
			t.Errorf("%q: got %v, want %q", tt.raw, err, tt.kind)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.raw, diff)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("route=tip&state=active&limit=10")
	f.Add("a;b&%zz")
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parseQuery(raw)
		if err == nil {
			_, err = q.filter()
		}
		if err != nil {
			if !errs.Is(err, errs.BadParameter) {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		// The link to the next page reads as the same query, but for after.
		next, err := parseQuery(q.following(42))
		if err != nil || next["after"] != "42" {
			t.Fatalf("%q: following: %v, after %q", raw, err, next["after"])
		}
		delete(next, "after")
		delete(q, "after")
		if diff := cmp.Diff(q, next); diff != "" {
			t.Errorf("%q: following (-want +got):\n%s", raw, diff)
		}
	})
}

// TestFlagIsGivenAsYesOrNotAtAll: what is given as no cannot be meant as yes, nor taken for
// nothing.
func TestFlagIsGivenAsYesOrNotAtAll(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{
		"": 201, "?dryRun": 200, "?dryRun=": 200, "?dryRun=1": 200, "?dryRun=true": 200,
		"?dryRun=false": 400, "?dryRun=0": 400, "?dryRun=yes": 400, "?dryRun=TRUE": 400,
	} {
		d := newTestDrive(t)
		if rec := d.ask(t, "sam PUT /dav/Workflow/Schedule/a.json"+query, `> {"route": "bug", "type": "cron", "hour": 22}`); rec.Code != want {
			t.Errorf("%q: got %d, want %d", query, rec.Code, want)
		}
		if stored := d.count(t, "Schedule") > 0; stored != (want == 201) {
			t.Errorf("%q: stored is %t", query, stored)
		}
	}
	d := newTestDrive(t)
	if rec := d.ask(t, "sam DELETE /dav/Workflow/Routes/none.json?force=0"); rec.Code != 400 {
		t.Errorf("a DELETE by force=0: got %d, want 400", rec.Code)
	}
}

func TestFirstPreferenceForTheAnswerCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values []string
		want   bool
	}{
		{nil, false},
		{[]string{"return=representation"}, true},
		{[]string{"Return = Representation"}, true},
		{[]string{`return="representation"`}, true},
		{[]string{"wait=10, return=representation; foo=\"a,b\""}, true},
		{[]string{"respond-async", "return=representation"}, true},
		{[]string{"return=minimal"}, false},
		{[]string{"return=minimal, return=representation"}, false}, // RFC 7240, section 2: the first counts
		{[]string{`x="a, return=representation"`}, false},
		{[]string{`x="\", return=representation"`}, false},
		{[]string{"return"}, false},
		{[]string{"returns=representation"}, false},
	}
	for _, tt := range tests {
		if got := returnPreference(tt.values) == "representation"; got != tt.want {
			t.Errorf("returnPreference(%q) asks for the complete form: %v, want %v", tt.values, got, tt.want)
		}
	}
}

func FuzzPrefer(f *testing.F) {
	f.Add("return=representation; a=\"b\"")
	f.Add(`x="\`)
	f.Fuzz(func(t *testing.T, text string) {
		whole := returnPreference([]string{text}) == "representation"
		if got := returnPreference([]string{"return=minimal", text}) == "representation"; got {
			t.Errorf("%q: the second preference counts", text)
		}
		if parts := splitQuoted(text, ','); len(parts) == 0 {
			t.Errorf("%q: no parts", text)
		}
		if got := returnPreference([]string{" ," + text}) == "representation"; got != whole {
			t.Errorf("%q: an empty member changes the meaning", text)
		}
	})
}

// TestFollowingLinkIsInOrderOfName: a link has its parameters in order of name, so that
// equal requests get equal answers.
func TestFollowingLinkIsInOrderOfName(t *testing.T) {
	t.Parallel()
	q := query{"type": "cron", "limit": "5", "context": "mine", "q": "ü&="}
	want := q.following(7)
	for range 20 {
		if got := q.following(7); got != want {
			t.Fatalf("got %q, then %q", want, got)
		}
	}
	values, err := url.ParseQuery(want)
	if err != nil || !slices.Equal(values["q"], []string{"ü&="}) {
		t.Errorf("%q: %v", want, err)
	}
}
