package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/account"
	kinds "flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

func accountPages() []page {
	g := page{pattern: "/account", draw: drawAccount, forms: accountForms(), fields: accountFields()}
	g.post = func(x *visit) error {
		if err := x.parseForm(); err != nil {
			return err
		}
		do := x.r.PostForm.Get("do")
		if err := checkFields(g.fields[do], x.r.PostForm); err != nil && g.forms[do] == nil {
			return x.redraw(g, x.r.PostForm, refusalOf(asProblem(err)), err)
		}
		switch do { // what is not a request to the drive
		case "look":
			return setLook(x)
		case "end":
			return endSession(x)
		case "end-others":
			return endOtherSessions(x)
		}
		return x.submit(x, g)
	}
	return []page{g}
}

// accountView is what account.html shows.
type accountView struct {
	Me       Person
	Warnings []string
	Forms    []*asking // of me.json
	Mail     *asking
	Kinds    []option // of notices
	Theme    string
	Keys     bool // single keys are on
	Sessions []sessionRow
	Factor   bool // there is a second factor
}

type sessionRow struct {
	ID    int64
	Agent string
	From  string // the address and the kind of log-in, as far as they are known
	Begun time.Time
	Used  time.Time
	Own   bool
}

// meForm is what the page reads of me.json.
type meForm struct {
	FullName string      `json:"fullName"`
	Email    string      `json:"email"`
	Pending  string      `json:"emailPending"`
	Deputy   *deputyForm `json:"deputy"`
	Timezone string      `json:"timezone"`
	Notify   bool        `json:"notify"`
	Mail     struct {
		Kinds  []string `json:"kinds"`
		Digest string   `json:"digest"`
		Quiet  *struct {
			From string `json:"from"`
			To   string `json:"to"`
		} `json:"quiet"`
	} `json:"mail"`
	Watch    []string `json:"watch"`
	Warnings []string `json:"warnings"`
}

type deputyForm struct {
	User string    `json:"user"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

const mePath = "/dav/Account/me.json"

func accountForms() map[string]form {
	me := func(done string, members func(x *visit, v url.Values) ([]member, error)) form {
		return func(x *visit, v url.Values) (*act, error) {
			m, err := members(x, v)
			if err != nil {
				return nil, err
			}
			return &act{requests: []driveRequest{put(mePath, m)}, done: said(done)}, nil
		}
	}
	return map[string]form{
		"me": me("Your name and address are stored.", func(_ *visit, v url.Values) ([]member, error) {
			return []member{always("fullName", v.Get("fullName")), always("email", v.Get("email"))}, nil
		}),
		"confirm": me("Your address is confirmed.", func(_ *visit, v url.Values) ([]member, error) {
			return []member{always("emailCode", strings.TrimSpace(v.Get("emailCode")))}, nil
		}),
		"deputy": me("Your deputy is stored.", func(x *visit, v url.Values) ([]member, error) {
			if strings.TrimSpace(v.Get("user")) == "" {
				return []member{{"deputy", []byte("null")}}, nil
			}
			return []member{{"deputy", object(always("user", strings.TrimSpace(v.Get("user"))), text("from", x.Words.sentDate(v.Get("from"))), text("to", x.Words.sentEnd(v.Get("to"))))}}, nil
		}),
		"watch": me("The routes that you watch are stored.", func(_ *visit, v url.Values) ([]member, error) {
			return []member{{"watch", list(names(strings.Join(v["watch"], ",")))}}, nil
		}),
		"zone": me("Your time zone is stored.", func(_ *visit, v url.Values) ([]member, error) {
			return []member{orNull("timezone", strings.TrimSpace(v.Get("timezone")))}, nil
		}),
		"mail":     me("When you are told by mail is stored.", mailMembers),
		"password": changePassword,
	}
}

// always is a member with a string, also if that is empty; orNull is null then.
func always(key, value string) member { return member{key, document.AppendString(nil, value)} }

func orNull(key, value string) member {
	if value == "" {
		return member{key, []byte("null")}
	}
	return always(key, value)
}

// list returns texts as a JSON array.
func list(texts []string) []byte {
	b := []byte{'['}
	for i, one := range texts {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = document.AppendString(b, one)
	}
	return append(b, ']')
}

// mailMembers returns what the form of the mails stores. All kinds are null, so that new
// ones are among them.
func mailMembers(_ *visit, v url.Values) ([]member, error) {
	wanted := list(v["kinds"])
	all := true
	for _, kind := range kinds.Kinds() {
		all = all && slices.Contains(v["kinds"], string(kind))
	}
	if all && len(v["kinds"]) == len(kinds.Kinds()) {
		wanted = []byte("null")
	}
	quiet := []byte("null")
	if v.Get("from") != "" || v.Get("to") != "" {
		quiet = object(always("from", v.Get("from")), always("to", v.Get("to")))
	}
	mail := object(member{"kinds", wanted}, orNull("digest", v.Get("digest")), member{"quiet", quiet})
	notify := strconv.FormatBool(v.Get("notify") == "true")
	return []member{{"notify", []byte(notify)}, {"mail", mail}}, nil
}

// changePassword ends all sessions of the user, this one too.
func changePassword(_ *visit, v url.Values) (*act, error) {
	if v.Get("password") != v.Get("again") {
		return nil, fieldMissing("again", "This is not the same as the new password.")
	}
	q := put(mePath, []member{always("oldPassword", v.Get("oldPassword")), always("password", v.Get("password"))}, "oldPassword", "password")
	return &act{requests: []driveRequest{q}, to: "/login?next=%2Faccount"}, nil
}

func drawAccount(x *visit) error {
	var me meForm
	if err := x.readJSON(mePath, &me); err != nil {
		return err
	}
	x.placeNested()
	v := &accountView{Me: x.Queries.Person(x.Me()), Warnings: me.Warnings, Theme: x.theme(), Keys: true, Factor: x.Factors.HasFactor(x.by.ID)}
	if c, err := x.r.Cookie("keys"); err == nil && c.Value == "off" {
		v.Keys = false
	}
	forms := accountForms()
	add := func(a asking) { a.Post = "/account"; v.Forms = append(v.Forms, x.asks(a, forms[a.Do])) }
	add(asking{Do: "me", Title: "You", Submit: "Store", Fields: []*field{
		{Name: "fullName", Label: "Name", Kind: "text", Value: me.FullName, Hint: "As others are shown it. You log in as " + x.Me() + "."},
		{Name: "email", Label: "Mail", Kind: "email", Value: me.Email},
	}})
	if me.Pending != "" {
		add(asking{Do: "confirm", Title: "Confirm your address", Submit: "Confirm", Text: "A mail to " + me.Pending + " has a code. That address is used once you store the code here.", Fields: []*field{
			{Name: "emailCode", Label: "Code", Kind: "text", Needed: true, Value: x.query.Get("emailCode")},
		}})
	}
	if code := x.query.Get("emailCode"); code != "" && me.Pending == "" {
		v.Warnings = append(v.Warnings, "No address of "+x.Me()+" waits to be confirmed. It may be confirmed already, or you are logged in as another user than the one who asked for it.")
	}
	add(asking{Do: "password", Title: "Password", Submit: "Change the password", Text: "All your sessions end, and you log in with the new one. Devices keep their own passwords.", Fields: []*field{
		{Name: "oldPassword", Label: "Present password", Kind: "password", Needed: true, Fill: "current-password"},
		{Name: "password", Label: "New password", Kind: "password", Needed: true, Fill: "new-password", Hint: "12 characters or more. Several words that do not belong together are good."},
		{Name: "again", Label: "New password, once more", Kind: "password", Needed: true, Fill: "new-password"},
	}})
	whom := "" // the deputy
	if me.Deputy != nil {
		whom = me.Deputy.User
	}
	deputy := asking{Do: "deputy", Title: "Deputy", Submit: "Store", Text: "Sees your tasks and acts for you. The log names both.", Fields: []*field{
		oneOf(field{Name: "user", Label: "User", Hint: "Nobody if this is empty.", Value: whom}, others(x)),
		{Name: "from", Label: "From", Kind: "date", Hint: "From now on if this is empty."},
		{Name: "to", Label: "To", Kind: "date", Hint: "Needed with a user. The deputy acts for you until the end of that day."},
	}}
	if me.Deputy != nil {
		deputy.Fields[1].Value = me.Deputy.From.In(x.Words.zone).Format(time.DateOnly)
		deputy.Fields[2].Value = me.Deputy.To.Add(-time.Second).In(x.Words.zone).Format(time.DateOnly)
	}
	add(deputy)
	add(asking{Do: "watch", Title: "Watched routes", Submit: "Store", Text: "You are told of the cases of these routes that you may see.", Fields: []*field{
		someOf(field{Name: "watch", Label: "Routes", Value: strings.Join(me.Watch, ", "), Hint: "Names, with commas between them."}, named(x.Queries.RouteNames(x.by))),
	}})
	add(asking{Do: "zone", Title: "Time zone", Submit: "Store", Fields: []*field{
		{Name: "timezone", Label: "Zone", Kind: "text", Value: me.Timezone, Suggest: named(commonZones()), Hint: "Such as Europe/Stockholm. That of the browser on pages, and that of the server in mails, if this is empty."},
	}})
	x.mailForm(v, &me)
	for _, s := range x.Queries.Sessions(x.by, x.token) {
		v.Sessions = append(v.Sessions, sessionRow{s.ID, browserOf(s.Agent), sessionFrom(&s), s.Created, s.LastUsed, s.Own})
	}
	h := head{Title: "Account", Nav: "account", Path: "/dav/Account", JSON: mePath, Narrow: true}
	return x.draw("account.html", h, v)
}

// others returns whom else a field offers.
func others(x *visit) []option {
	me := identity.Fold(x.Me())
	return suggested(slices.DeleteFunc(x.Queries.People(), func(p Person) bool { return identity.Fold(p.Name) == me }))
}

// placeNested places faults of members within members: the fields bear their last names.
func (x *visit) placeNested() {
	if x.refused == nil {
		return
	}
	for i := range x.refused.Faults {
		f := &x.refused.Faults[i]
		for _, above := range []string{"/mail/quiet/", "/mail/", "/deputy/"} {
			if below, ok := strings.CutPrefix(f.Pointer, above); ok {
				f.Field, _, _ = strings.Cut(below, "/")
				break
			}
		}
	}
}

func (x *visit) mailForm(v *accountView, me *meForm) {
	a := asking{Do: "mail", Title: "Mails", Submit: "Store", Post: "/account", Fields: []*field{
		{Name: "notify", Label: "Send me mails", Kind: "check", Value: strconv.FormatBool(me.Notify)},
		{Name: "digest", Label: "One mail a day, at", Kind: "time", Value: me.Mail.Digest, Hint: "Each mail by itself if this is empty."},
		{Name: "from", Label: "Quiet from", Kind: "time", Hint: "Mails wait until the quiet hours end."},
		{Name: "to", Label: "Quiet to", Kind: "time"},
	}}
	if q := me.Mail.Quiet; q != nil {
		a.Fields[2].Value, a.Fields[3].Value = q.From, q.To
	}
	chosen := me.Mail.Kinds
	every := chosen == nil
	if x.sentTo("mail") {
		chosen, every = x.sent["kinds"], false
	}
	for _, kind := range kinds.Kinds() {
		v.Kinds = append(v.Kinds, option{string(kind), kind.Title(), every || slices.Contains(chosen, string(kind))})
	}
	atOnce := string(kinds.KindFailure) + ":now"
	v.Kinds = append(v.Kinds, option{atOnce, "Failures at once, in spite of digest and quiet hours", slices.Contains(chosen, atOnce)})
	send := url.Values{}
	for _, k := range v.Kinds {
		if k.Chosen {
			send.Add("kinds", k.Value)
		}
	}
	v.Mail = x.asks(a, func(x *visit, sent url.Values) (*act, error) {
		sent["kinds"] = send["kinds"]
		return accountForms()["mail"](x, sent)
	})
}

// sessionFrom says from where and by what a session was begun.
func sessionFrom(s *account.Session) string {
	by := map[store.SessionKind]string{
		store.ByPassword: "by password", store.ByFactor: "by password and code",
		store.ByLDAP: "by password of the directory", store.ByOIDC: "by single sign-on",
	}[s.Kind]
	from := ""
	if s.Address != "" {
		from = "from " + s.Address
	}
	return strings.TrimSpace(from + " " + by)
}

// browserOf returns a browser in few words, by what it says of itself.
func browserOf(agent string) string {
	browser, system := "", ""
	for _, known := range [][2]string{{"Edg/", "Edge"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, known[0]) {
			browser = known[1]
			break
		}
	}
	for _, known := range [][2]string{{"iPhone", "iPhone"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, known[0]) {
			system = known[1]
			break
		}
	}
	switch {
	case browser == "":
		if agent == "" {
			return "A browser that does not say which"
		}
		return agent
	case system == "":
		return browser
	}
	return browser + " on " + system
}

// setLook keeps in cookies what is the browser's: the theme, and whether single keys work.
func setLook(x *visit) error {
	theme := x.r.PostForm.Get("theme")
	if theme != "" && theme != "light" && theme != "dark" {
		return errs.New(errs.BadParameter, "theme can be light, dark or empty, not %q.", theme)
	}
	keys := "off"
	if x.r.PostForm.Get("keys") == "true" {
		keys = ""
	}
	for _, one := range [...]hidden{{"theme", theme}, {"keys", keys}} {
		c := &http.Cookie{Name: one.Name, Value: one.Value, Path: "/", MaxAge: 365 * 24 * 3600, SameSite: http.SameSiteLaxMode, Secure: x.secure()} //nolint:gosec // script reads it
		if one.Value == "" {
			c.MaxAge = -1
		}
		http.SetCookie(x.w, c)
	}
	x.notices.put(x.token, notice{Text: "This browser is set."})
	return x.redirect("/account")
}

// endSession ends another session of the user, or this one.
func endSession(x *visit) error {
	sent := x.r.PostForm.Get("session")
	if sent == "" {
		return missing("session")
	}
	id, err := strconv.ParseInt(sent, 10, 64)
	if err != nil {
		return errs.New(errs.BadParameter, "session is the number of one of your sessions, not %q.", sent)
	}
	if err := x.Sessions.EndSessionOf(x.r.Context(), x.by, id); err != nil {
		return err
	}
	x.notices.put(x.token, notice{Text: "The session has ended."})
	return x.redirect("/account")
}

// endOtherSessions ends all sessions of the caller but this one.
func endOtherSessions(x *visit) error {
	ended, err := x.Sessions.EndOtherSessions(x.r.Context(), x.by, x.token)
	if err != nil {
		return err
	}
	x.notices.put(x.token, notice{Text: "Ended: " + plural(ended, "other session") + "."})
	return x.redirect("/account")
}
