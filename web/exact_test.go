package web

import (
	"testing"
)

// TestUnknownValues: an unknown value of a parameter that a page has is refused, as an
// unknown parameter is, and an address that only leads on has no parts.
func TestUnknownValues(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	for user, list := range map[string]map[string]int{
		"ann": {
			"/tasks?do=zzz": 400, "/tasks/escalated?do=zzz": 400, "/cases/17?do=zzz": 400, "/routes/bug/board?do=zzz": 400, "/mount?do=zzz": 400, "/attachments?do=zzz": 400,
			"/documents/core?do=zzz": 400, "/account?do=zzz": 400, "/tasks?open=zzz": 400, "/tasks?open=0.approve": 400, "/tasks?open=17.": 400, "/tasks?open=17.gone": 200,
			"/mount?do=revoke": 200, "/documents/core?do=folder": 200, "/tasks?do=": 200, "/cases/17?do=delegate&open=approve": 200,
			"/cases/17?open=approve.3-1&do=retry": 200, "/cases/17?open=approve.due.3-1": 200, "/cases/17?open=start": 200, "/cases/17?open=zzz.3-1": 400, "/cases/17?open=approve.3": 400,
			"/cases/17?open=zzz": 400, "/cases/17?timer=zzz": 400, "/cases/17?do=timer&timer=state": 200, "/schedule/new?type=zzz": 400, "/schedule/new?type=crontab": 200,
			"/routes/bug/board?role=zzz": 400, "/routes/bug/board?role=starter": 200, "/routes/bug/board?case=zzz": 400, "/routes/bug/board?case=17": 200,
			"/documents?part=list": 404, "/routes/bug/cases?part=list": 404, "/documents": 303, "/routes/bug/cases": 303,
		},
		"admin": {"/admin/users?do=zzz": 400, "/admin/users?do=user-add": 200, "/admin/holds?do=zzz": 400, "/admin/audit/2012-11-09?outcome=zzz": 400, "/admin/audit/2012-11-09?outcome=done": 200, "/admin/escalated?part=list": 404, "/admin/escalated": 303},
		"":      {"/tasks?do=zzz": 303, "/tasks?do=zzz&part=list": 401},
	} {
		b := g.browse(t, user)
		for path, want := range list {
			if got := b.get(t, path); got.status != want {
				t.Errorf("%s as %q: got %d, want %d", path, user, got.status, want)
			}
		}
	}
}
