package account

import (
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// readPlainText reads an optional text of one line.
func readPlainText(v document.Value, to *string, most int) {
	text := *to
	if v.Text(&text, most); text != *to && strings.ContainsFunc(text, unicode.IsControl) {
		v.Fail(errs.CodeFormat, "must have no control characters")
		return
	}
	*to = text
}

// readEmail reads an optional address (RFC 5322, addr-spec).
func readEmail(v document.Value, to *string) {
	text := *to
	if readPlainText(v, &text, 254); text != *to && text != "" {
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			v.Fail(errs.CodeFormat, "%q is not an e-mail address", text)
			return
		}
	}
	*to = text
}

// readNames reads a list of names of users and teams; null empties it.
func readNames(v document.Value, d *identity.Directory, to *[]identity.Name) {
	if v.Node == nil {
		return
	}
	if v.Node.Kind == document.Null {
		*to = nil
		return
	}
	if !v.Is(document.List) {
		return
	}
	var list []identity.Name
	for i := range v.Node.Items {
		item := v.Item(i)
		s, ok := item.Str()
		if !ok {
			continue
		}
		p := d.ByName(identity.Name(s))
		if p == nil || p.Name == identity.Everyone {
			item.Fail(errs.CodeNotFound, "%q is not a user or team", s)
			continue
		}
		if !slices.Contains(list, p.Name) {
			list = append(list, p.Name)
		}
	}
	*to = list
}

// chain returns the names in a row, an arrow between each two.
func chain(names []identity.Name) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return strings.Join(out, " → ")
}

// readDeputy reads the user's deputy. If the field is absent the deputy stays;
// null means no deputy. Without a begin the deputy's time begins now. An end is
// required, so that no user lends a right and forgets it. Dates without a zone are of zone,
// the absent user's.
func readDeputy(v document.Value, d *identity.Directory, p *store.Party, now time.Time, zone *time.Location) {
	if v.Node == nil {
		return
	}
	if v.Node.Kind == document.Null {
		p.Deputy = identity.Deputy{}
		return
	}
	if v.Node.Kind != document.Object {
		v.Fail(errs.CodeType, `must be %s, not %s, such as {"user": "carla", "to": "%s"}`, document.Object, v.Node.Kind, now.UTC().AddDate(0, 1, 0).Format(time.DateOnly))
		return
	}
	v.Only("user", "from", "to")
	next := identity.Deputy{From: now.UTC().Truncate(time.Second)}
	if name, ok := v.Get("user").Str(); ok {
		switch user := d.ByName(identity.Name(name)); {
		case user == nil || user.Kind != identity.User:
			v.Get("user").Fail(errs.CodeNotFound, "%q is not a user", name)
		case user.ID == p.ID:
			v.Get("user").Fail(errs.CodeConflict, "cannot be the user itself")
		default:
			next.User = user.Name
		}
	}
	if from := v.Get("from"); from.Given() {
		if t, ok := readDate(from, zone, clock.ParseDate); ok {
			next.From = t
		}
	}
	to := v.Get("to")
	if to.Node == nil {
		to.Fail(errs.CodeRequired, "is required: when the deputy's time ends")
	} else if t, ok := readDate(to, zone, clock.ParseEnd); ok {
		next.To = t
		if !next.From.Before(t) {
			to.Fail(errs.CodeRange, "must be later than from, which is %s", next.From.Format(time.RFC3339))
		}
	}
	p.Deputy = next
}

// readDate reads a date of the zone, or an instant. parse reads a text that is a date.
func readDate(v document.Value, zone *time.Location, parse func(string, *time.Location) (clock.Date, *clock.DateError)) (time.Time, bool) {
	t, ok := schedule.ParseTime(v)
	if !ok || v.Node.Kind != document.String {
		return t, ok
	}
	if _, err := clock.ParseDate(v.Node.Text, zone); err != nil { // seconds since 1970
		return t, true
	}
	d, err := parse(v.Node.Text, zone)
	if err != nil {
		v.Fail(errs.CodeRange, "%s", err.Detail)
		return time.Time{}, false
	}
	return d.Time, true
}

// GivenPassword returns the password in a user's document, or "" if there is no
// valid one.
func GivenPassword(node *document.Node) string {
	password := node.Get("password")
	if password == nil || password.Kind != document.String || !passwordFits(password.Text) {
		return ""
	}
	return password.Text
}

// passwordFits reports whether Basic can carry the password (RFC 7617).
func passwordFits(password string) bool {
	return password != "" && len(password) <= 1024 && !strings.ContainsFunc(password, unicode.IsControl)
}

// checkPassword judges the password that a user gets.
func checkPassword(v document.Value, judge JudgePassword, of *store.Party) {
	s, ok := v.Str()
	switch {
	case !ok:
	case !passwordFits(s):
		v.Fail(errs.CodeRange, "must have from 1 to 1024 bytes, none of them a control character")
	case judge != nil:
		if fault := judge(s, string(of.Name), of.FullName, of.Email); fault != "" {
			v.Fail(errs.CodeRange, "%s", fault)
		}
	}
}
