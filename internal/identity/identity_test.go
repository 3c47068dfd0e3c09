package identity

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// firm is a directory with nested teams: sam is in core, core in staff; ann
// is in staff alone; everyone is in lobby through the reserved team.
func firm() []Party {
	return []Party{
		{ID: 3, Name: "sam", Kind: User, Members: []Name{"ann"}},
		{ID: 1, Name: Everyone, Kind: Team},
		{ID: 2, Name: "admin", Kind: User, Admin: true},
		{ID: 4, Name: "ann", Kind: User},
		{ID: 5, Name: "bob", Kind: User, Disabled: true},
		{ID: 10, Name: "core", Kind: Team, Members: []Name{"SAM", "sam", "nobody"}, Admins: []Name{"sam"}, Admin: true},
		{ID: 11, Name: "staff", Kind: Team, Members: []Name{"core", "ann"}, Admins: []Name{"core"}},
		{ID: 12, Name: "lobby", Kind: Team, Members: []Name{"everyone"}},
		{ID: 13, Name: "empty", Kind: Team},
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	d := NewDirectory(firm())
	tests := []struct {
		id    ID
		ids   []ID
		names []Name
	}{
		{3, []ID{1, 3, 10, 11, 12}, []Name{"everyone", "sam", "core", "staff", "lobby"}},
		{4, []ID{1, 4, 11, 12}, []Name{"everyone", "ann", "staff", "lobby"}},
		{2, []ID{1, 2, 12}, []Name{"everyone", "admin", "lobby"}},
		{10, []ID{1, 10}, []Name{"everyone", "core"}},
		{1, []ID{1}, []Name{"everyone"}},
		{99, nil, nil},
		{0, nil, nil},
	}
	for _, test := range tests {
		p := d.Principal(test.id)
		if diff := cmp.Diff(test.ids, p.Contexts()); diff != "" {
			t.Errorf("contexts of %d (-want +got):\n%s", test.id, diff)
		}
		if diff := cmp.Diff(test.ids, d.Contexts(test.id)); diff != "" {
			t.Errorf("Directory.Contexts(%d) (-want +got):\n%s", test.id, diff)
		}
		if diff := cmp.Diff(test.names, p.ContextNames()); diff != "" {
			t.Errorf("context names of %d (-want +got):\n%s", test.id, diff)
		}
	}
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	d := NewDirectory(firm())
	sam, admin, core, none := d.Principal(3), d.Principal(2), d.Principal(10), d.Principal(99)
	if sam.Name != "sam" || sam.Admin() || !admin.Admin() {
		t.Errorf("sam is %+v, admin is %+v", sam, admin)
	}
	if core.Admin() {
		t.Error("a team acts as administrator")
	}
	if !sam.In(11) || sam.In(13) || sam.In(0) || none.In(0) || none.In(1) {
		t.Error("In is wrong about sam or about nobody")
	}
	if !sam.InAny([]Name{"nobody", "STAFF"}) || sam.InAny([]Name{"empty", "ann", ""}) || sam.InAny(nil) {
		t.Error("InAny is wrong about sam")
	}
}

func TestMayOwn(t *testing.T) {
	t.Parallel()
	d := NewDirectory(firm())
	tests := []struct {
		by, context ID
		want        bool
	}{
		{3, 3, true},
		{3, 10, true},
		{3, 11, true},
		{3, 4, false},
		{3, 13, false},
		{3, 1, false}, // everyone is for reading
		{2, 1, true},
		{2, 3, false}, // administrators have no more contexts than others
		{10, 10, true},
		{10, 11, false},
		{99, 99, false},
	}
	for _, test := range tests {
		if got := d.MayOwn(d.Principal(test.by), test.context); got != test.want {
			t.Errorf("MayOwn(%d, %d) = %t; want %t", test.by, test.context, got, test.want)
		}
	}
}

func TestAdministers(t *testing.T) {
	t.Parallel()
	d := NewDirectory(firm())
	tests := []struct {
		by, context ID
		want        bool
	}{
		{3, 3, true},
		{3, 4, false},
		{3, 10, true},
		{3, 11, true}, // as a member of core
		{4, 11, false},
		{4, 1, false},
		{2, 1, true},
		{2, 11, true},
		{2, 4, true},
		{0, 0, false},
		{99, 99, false},
	}
	for _, test := range tests {
		if got := d.Administers(d.Principal(test.by), test.context); got != test.want {
			t.Errorf("Administers(%d, %d) = %t; want %t", test.by, test.context, got, test.want)
		}
	}
}

func TestLookUp(t *testing.T) {
	t.Parallel()
	parties := firm()
	d := NewDirectory(parties)
	if p := d.ByName("Sam"); p == nil || p.ID != 3 || d.ByID(3) != p {
		t.Errorf("ByName and ByID disagree about sam: %+v", p)
	}
	if d.ByName("nobody") != nil || d.ByID(99) != nil {
		t.Error("somebody was found who does not exist")
	}
	if d.EveryoneID() != 1 || NewDirectory(nil).EveryoneID() != 0 {
		t.Error("EveryoneID is wrong")
	}
	for id, want := range map[ID]bool{3: true, 5: false, 10: true, 99: false} {
		if got := d.Active(id); got != want {
			t.Errorf("Active(%d) = %t; want %t", id, got, want)
		}
	}
	var ids []ID
	for _, p := range d.Parties() {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]ID{1, 2, 3, 4, 5, 10, 11, 12, 13}, ids); diff != "" {
		t.Errorf("parties by id (-want +got):\n%s", diff)
	}
	parties[0].Name = "changed"
	if d.ByID(3).Name != "sam" {
		t.Error("the directory changed with the slice it was made of")
	}
}

func TestTeamCycle(t *testing.T) {
	t.Parallel()
	d := NewDirectory(firm())
	tests := []struct {
		team    Name
		members []Name
		want    []Name
	}{
		{"core", []Name{"sam", "ann"}, nil},
		{"core", []Name{"lobby", "nobody"}, nil},
		{"core", []Name{"Core"}, []Name{"core", "Core"}},
		{"core", []Name{"ann", "staff"}, []Name{"core", "staff", "core"}},
		{"new", []Name{"staff"}, nil},
		{"empty", []Name{"staff"}, nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, d.TeamCycle(test.team, test.members)); diff != "" {
			t.Errorf("TeamCycle(%s, %v) (-want +got):\n%s", test.team, test.members, diff)
		}
	}
}

// Whatever the teams name, cycles included: contexts are exactly what can be
// reached upwards, and TeamCycle tells when a team reaches itself.
func TestDirectoryAgainstModel(t *testing.T) {
	t.Parallel()
	names := []Name{"u1", "u2", "t1", "t2", "t3", "t4"}
	rapid.Check(t, func(t *rapid.T) {
		parties := []Party{{ID: 1, Name: Everyone, Kind: Team}, {ID: 2, Name: "u1", Kind: User}, {ID: 3, Name: "u2", Kind: User}}
		for i, name := range names[2:] {
			members := rapid.SliceOfN(rapid.SampledFrom(names), 0, 4).Draw(t, string(name))
			parties = append(parties, Party{ID: ID(i + 4), Name: name, Kind: Team, Members: members})
		}
		d := NewDirectory(parties)
		for _, user := range []ID{2, 3} {
			for _, p := range parties {
				want := p.ID == 1 || p.ID == user || p.Kind == Team && reaches(d, p, d.ByID(user).Name, map[Name]bool{})
				if got := d.Principal(user).In(p.ID); got != want {
					t.Fatalf("%s in %s = %t; want %t", d.ByID(user).Name, p.Name, got, want)
				}
			}
		}
		for _, p := range parties[3:] {
			cycle := d.TeamCycle(p.Name, p.Members)
			if want := reaches(d, p, p.Name, map[Name]bool{}); (cycle != nil) != want {
				t.Fatalf("TeamCycle(%s) = %v; want one: %t", p.Name, cycle, want)
			}
		}
	})
}

// reaches reports whether the target is below the team.
func reaches(d *Directory, team Party, target Name, seen map[Name]bool) bool {
	for _, m := range team.Members {
		if m == target {
			return true
		}
		if !seen[m] {
			seen[m] = true
			if p := d.ByName(m); p != nil && p.Kind == Team && reaches(d, *p, target, seen) {
				return true
			}
		}
	}
	return false
}

func TestLegal(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"": false, "a": true, "Z-9_": true, "_a": false, "-a": false, "a b": false, "ä": false, "a.b": false, "0": true,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
	} {
		if got := Legal(name); got != want {
			t.Errorf("Legal(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestLegalParty(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"ann.lee@example.com": true, "a.b-c_d.9": true, "a@b": true, "sam": true, "4913": true,
		"": false, ".": false, "..": false, ".ann": false, "@ann": false, "ann.": false, "ann@": false, "ann..lee": false, "a/b": false,
		"ann.json": false, "ann.lee.YAML": false, "x.yml": false, "ann.tmp": false, "a.json.aaaaaa": false, "a\\b": false, "ann lee": false,
		"a@" + strings.Repeat("b", 61): true, "a@" + strings.Repeat("b", 62): false,
	} {
		if got := LegalParty(User, name); got != want {
			t.Errorf("LegalParty(User, %q) = %t, want %t", name, got, want)
		}
	}
	if LegalParty(Team, "a.b") || !LegalParty(Team, "a_b") {
		t.Error("a team is not named as a label is")
	}
}

func TestDeputyEqual(t *testing.T) {
	t.Parallel()
	at := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	d := Deputy{User: "ann", From: at, To: at.Add(time.Hour)}
	if !d.Equal(Deputy{"ann", at.In(time.FixedZone("", 3600)), d.To}) {
		t.Error("the same instants in another zone differ")
	}
	for _, other := range []Deputy{{}, {"bob", d.From, d.To}, {"ann", at.Add(1), d.To}, {"ann", d.From, at}} {
		if d.Equal(other) {
			t.Errorf("%+v equals %+v", d, other)
		}
	}
}

// A live principal has the rights of the directory of the moment.
func TestLivePrincipal(t *testing.T) {
	t.Parallel()
	now := NewDirectory([]Party{{ID: 1, Name: Everyone, Kind: Team}, {ID: 2, Name: "sam", Kind: User, Admin: true}, {ID: 3, Name: "core", Kind: Team, Members: []Name{"sam"}}})
	latest := func() *Directory { return now }
	then, sam, nobody := now.Principal(2), LivePrincipal(2, latest), LivePrincipal(4, latest)
	type rights struct {
		Admin, In, Named bool
		Contexts         []ID
	}
	of := func(p Principal) rights { return rights{p.Admin(), p.In(3), p.InAny([]Name{"Core"}), p.Contexts()} }
	check := func(what string, p Principal, want rights) {
		t.Helper()
		if diff := cmp.Diff(want, of(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	all := rights{true, true, true, []ID{1, 2, 3}}
	check("at first", sam, all)
	check("nobody", nobody, rights{})
	for _, tt := range []struct {
		what    string
		parties []Party
		want    rights
	}{
		{"no administrator any more", []Party{{ID: 1, Name: Everyone, Kind: Team}, {ID: 2, Name: "sam", Kind: User}, {ID: 3, Name: "core", Kind: Team, Members: []Name{"sam"}}}, rights{false, true, true, []ID{1, 2, 3}}},
		{"out of the team", []Party{{ID: 1, Name: Everyone, Kind: Team}, {ID: 2, Name: "sam", Kind: User, Admin: true}, {ID: 3, Name: "core", Kind: Team}}, rights{true, false, false, []ID{1, 2}}},
		{"disabled", []Party{{ID: 1, Name: Everyone, Kind: Team}, {ID: 2, Name: "sam", Kind: User, Admin: true, Disabled: true}}, rights{}},
		{"deleted", []Party{{ID: 1, Name: Everyone, Kind: Team}}, rights{}},
	} {
		now = NewDirectory(tt.parties)
		check(tt.what, sam, tt.want)
		check(tt.what+", as it was", then, all)
	}
	if sam.Name != "sam" || nobody.Name != "" || !nobody.AsOperator("").Admin() || nobody.Admin() {
		t.Errorf("sam is %q, nobody %q", sam.Name, nobody.Name)
	}
	now = NewDirectory([]Party{{ID: 2, Name: "sam", Kind: User, Disabled: true}})
	check("the operator as a disabled user", sam.AsOperator(""), rights{Admin: true, Contexts: []ID{2}})
}
