package identity

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRepresentedBy(t *testing.T) {
	t.Parallel()
	noon := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	hour := func(user Name) Deputy { return Deputy{User: user, From: noon, To: noon.Add(time.Hour)} }
	d := NewDirectory([]Party{
		{ID: 1, Name: Everyone, Kind: Team},
		{ID: 2, Name: "zoe", Kind: User, Deputy: hour("SAM")},
		{ID: 3, Name: "sam", Kind: User, Deputy: hour("bob")},
		{ID: 4, Name: "ann", Kind: User, Deputy: hour("sam")},
		{ID: 5, Name: "bob", Kind: User, Deputy: hour("bob")},
		{ID: 6, Name: "gone", Kind: User, Disabled: true, Deputy: hour("sam")},
		{ID: 7, Name: "eva", Kind: User, Deputy: hour("nobody")},
		{ID: 8, Name: "core", Kind: Team, Deputy: hour("sam")},
	})
	for _, test := range []struct {
		name string
		id   ID
		now  time.Time
		want []Name
	}{
		{"at the first instant, by name", 3, noon, []Name{"ann", "zoe"}},
		{"before", 3, noon.Add(-time.Second), nil},
		{"at the last instant", 3, noon.Add(time.Hour - time.Second), []Name{"ann", "zoe"}},
		{"after it", 3, noon.Add(time.Hour), nil},
		{"no chains", 5, noon, []Name{"sam"}},
		{"nobody's deputy", 4, noon, nil},
		{"nobody", 99, noon, nil},
	} {
		var got []Name
		for _, p := range d.RepresentedBy(test.id, test.now) {
			got = append(got, p.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
