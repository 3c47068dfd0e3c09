package web

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// driveSession is what Sessions/<id>.json says.
type driveSession struct {
	ID        json.Number
	User      string
	Kind      string
	Lasting   bool
	Started   string
	LastSeen  string
	Address   string
	UserAgent string
}

// sessionsOf returns what the folder lists for the user.
func (g *rig) sessionsOf(tb testing.TB, user, folder string) (list []driveSession) {
	tb.Helper()
	body := g.must(tb, user, 200, "GET", "/dav/"+folder+"/Sessions/.contents", "").body
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return list
}

// TestSessionsOnTheDrive: users have their own sessions as files and end them there,
// administrators those of all, and the audit log says who ended which.
func TestSessionsOnTheDrive(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	ann, sam := g.browse(t, ""), g.browse(t, "sam")
	login := ann.do(t, "POST", "/login", url.Values{"name": {"ann"}, "password": {password}, "stay": {"1"}})
	for _, c := range login.header.Values("Set-Cookie") {
		if token, ok := strings.CutPrefix(c, "fd="); ok {
			ann.token, _, _ = strings.Cut(token, ";")
		}
	}
	if got := ann.get(t, "/account"); got.status != 200 || !strings.Contains(got.body, "from 127.0.0.1 by password") {
		t.Fatalf("the page of the account: %d, and it does not say from where the session was begun", got.status)
	}

	own := g.sessionsOf(t, "ann", "Account")
	if len(own) != 1 {
		t.Fatalf("ann has %+v, want one session", own)
	}
	s := own[0]
	if s.User != "ann" || s.Kind != "password" || !s.Lasting || s.Address != "127.0.0.1" || !strings.HasPrefix(s.UserAgent, "Go-http-client") || s.Started == "" || s.LastSeen < s.Started {
		t.Errorf("the session says %+v", s)
	}
	all := g.sessionsOf(t, "admin", "Admin")
	if len(all) != 2 || all[0].User == all[1].User {
		t.Errorf("the administrator sees %+v, want ann's and sam's", all)
	}
	file := "/Sessions/" + s.ID.String() + ".json"
	for _, test := range []struct {
		user, method, path string
		want               int
	}{
		{"ann", "GET", "/dav/Account" + file, 200},
		{"ann", "PUT", "/dav/Account" + file, 405},
		{"ann", "PUT", "/dav/Account/Sessions/new.json", 404},
		{"ann", "GET", "/dav/Account/Sessions/0" + s.ID.String() + ".json", 404},
		{"ann", "GET", "/dav/Account/Sessions/none.txt", 404},
		{"ann", "GET", "/dav/Admin/Sessions/", 404},
		{"sam", "GET", "/dav/Account" + file, 404},
		{"sam", "DELETE", "/dav/Account" + file, 404},
		{"sam", "DELETE", "/dav/Admin" + file, 404},
		{"admin", "GET", "/dav/Account" + file, 404},
		{"admin", "GET", "/dav/Admin" + file, 200},
	} {
		g.must(t, test.user, test.want, test.method, test.path, "")
	}
	if got := ann.get(t, "/account"); got.status != 200 {
		t.Fatalf("a refused request has ended the session: %d", got.status)
	}
	secret := g.must(t, "ann", 201, "PUT", "/dav/Account/AppPasswords/phone.json", "").body
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(secret), &made); err != nil {
		t.Fatal(err)
	}
	if got := g.statusAs(t, "ann", made.Secret, "DELETE", "/dav/Account"+file); got != 403 {
		t.Errorf("an app password ends a session: %d, want 403", got)
	}

	g.must(t, "ann", 204, "DELETE", "/dav/Account"+file, "")
	g.must(t, "ann", 404, "DELETE", "/dav/Account"+file, "")
	if got := ann.get(t, "/account"); got.status != 303 {
		t.Errorf("the ended session still opens a page: %d", got.status)
	}
	g.must(t, "admin", 204, "DELETE", "/dav/Admin/Sessions/"+g.sessionsOf(t, "sam", "Account")[0].ID.String()+".json", "")
	if got := sam.get(t, "/account"); got.status != 303 {
		t.Errorf("the session that an administrator has ended opens a page: %d", got.status)
	}
	out := g.browse(t, "bob")
	out.post(t, "/logout")
	g.wantAudited(t, [][2]string{{"ann", "ann"}, {"admin", "sam"}, {"bob", "bob"}})
}

// wantAudited checks the rows about ended sessions: who has ended whose.
func (g *rig) wantAudited(tb testing.TB, want [][2]string) {
	tb.Helper()
	day := g.clock.Now().UTC().Format("2006-01-02")
	var got [][2]string
	for line := range strings.Lines(g.must(tb, "admin", 200, "GET", "/dav/Admin/Audit/"+day+".jsonl", "").body) {
		var row struct{ Actor, Action, Target string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			tb.Fatal(err)
		}
		if row.Action == "session-end" {
			got = append(got, [2]string{row.Actor, row.Target})
		}
	}
	if len(got) != len(want) {
		tb.Fatalf("the audit log has %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			tb.Errorf("row %d of ended sessions is %v, want %v", i, got[i], want[i])
		}
	}
}
