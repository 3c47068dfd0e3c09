package engine_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
)

// TestToldInstead: if none of those who administer a route gets mails of what fails, the
// administrators of the server do, also if the owner of what fails has no address
// (docs/contract/routes.md#what-is-wrong).
func TestToldInstead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, dora, doraWants, ann string
		told                       map[string]bool
	}{
		{"all can be told", "dora@example.org", `{}`, "ann@example.org", map[string]bool{"ann": true, "dora": true, "admin": false}},
		{"the owner has no address", "dora@example.org", `{}`, "", map[string]bool{"ann": false, "dora": true, "admin": false}},
		{"the administrator of the route has none", "", `{}`, "ann@example.org", map[string]bool{"ann": true, "dora": false, "admin": true}},
		{"neither has one", "", `{}`, "", map[string]bool{"ann": false, "dora": false, "admin": true}},
		{"the administrator of the route wants no mails", "dora@example.org", `{"notify": false}`, "", map[string]bool{"ann": false, "dora": false, "admin": true}},
		{"the administrator of the route wants tasks alone", "dora@example.org", `{"mail": {"kinds": ["task"]}}`, "", map[string]bool{"ann": false, "dora": false, "admin": true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := mailsWorld(t)
			admin := w.as("admin")
			admin.mustPutMe(`{"email": "admin@example.org"}`)
			admin.mustPutParty(identity.User, "dora", `{"email": "`+test.dora+`", "password": "dora dora dora"}`)
			admin.mustPutParty(identity.User, "ann", `{"email": "`+test.ann+`"}`)
			w.as("dora").mustPutMe(test.doraWants)
			admin.mustPutRoute("import", routeUnreadable)
			w.as("ann").mustPutEntry("", `{"type": "crontab", "spec": "*/5 * * * *", "route": "import", "title": "Import"}`)
			w.advance(10 * time.Minute)
			for name, told := range test.told {
				if got := w.sentTo(name + "@example.org"); len(got) > 0 != told {
					t.Errorf("%s is told %q; want that: %v", name, got, told)
				}
			}
		})
	}
}

// TestUntold: late.txt says to administrators, and to nobody else, if none of them is told
// of what fails outside of the drive.
func TestUntold(t *testing.T) {
	t.Parallel()
	const begin = "No administrator is told outside of the drive of what fails: "
	for _, test := range []struct {
		name     string
		channels engine.Channels
		me       string
		want     string
	}{
		{"no way", engine.Channels{}, `{"email": "admin@example.org"}`, begin + "there is no mail server (setting smtp)"},
		{"no address", engine.Channels{Mail: true}, `{}`, begin + "none has an e-mail address and wants such mails (email, notify and mail in Account/me.json)"},
		{"an address", engine.Channels{Mail: true}, `{"email": "admin@example.org"}`, ""},
		{"no mails", engine.Channels{Mail: true}, `{"email": "admin@example.org", "notify": false}`, begin + "none has"},
		{"no mails of failures", engine.Channels{Mail: true}, `{"email": "admin@example.org", "mail": {"kinds": ["task"]}}`, begin + "none has"},
		{"mails in a digest", engine.Channels{Mail: true}, `{"email": "admin@example.org", "mail": {"digest": "07:30"}}`, ""},
		{"a service", engine.Channels{Destinations: []notice.Destination{{ID: "a", Name: "a"}}}, `{}`, ""},
		{"a service for failures", engine.Channels{Destinations: []notice.Destination{{ID: "a", Name: "a", Least: notice.Serious, Kinds: []notice.Kind{notice.KindFailure}}}}, `{}`, ""},
		{"a service for tasks", engine.Channels{Destinations: []notice.Destination{{ID: "a", Name: "a", Kinds: []notice.Kind{notice.KindTask}}}}, `{}`, begin + "there is no mail server"},
		{"a service for one route", engine.Channels{Mail: true, Destinations: []notice.Destination{{ID: "a", Name: "a", Routes: []string{"desk"}}}}, `{}`, begin + "none has"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) {
				w.config = func(c *engine.Config) { c.Sandbox, c.Channels = false, test.channels }
			})
			w.as("sam").mustPutMe(`{"email": "sam@example.org"}`)
			w.as("admin").mustPutMe(test.me)
			page := try(w.Status.Page(t.Context(), w.as("admin").by(), engine.StatusLate)).must(w, "the page")
			last := strings.TrimSpace(string(page.Text))
			last = last[strings.LastIndexByte(last, '\n')+1:]
			if said := strings.HasPrefix(last, begin); said != (test.want != "") || !strings.HasPrefix(last, test.want) {
				t.Errorf("the last line is %q; want %q", last, test.want)
			}
			want := "null"
			if test.want != "" {
				want = `"` + last + `"`
			}
			w.form(page.JSON).wants("untold", want)
			others := try(w.Status.Page(t.Context(), w.as("sam").by(), engine.StatusLate)).must(w, "the page of others")
			w.form(others.JSON).wants("untold", "null")
		})
	}
}
