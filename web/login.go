package web

import (
	"net/http"
	"strconv"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
)

func loginPages() []page {
	return []page{
		{pattern: "/login", open: true, query: []string{"next"}, draw: drawLogin, post: drawLogin},
		{pattern: "/logout", open: true, draw: drawLogout, post: drawLogout},
	}
}

// loginView is what login.html shows.
type loginView struct {
	Next   string // where it leads afterwards, "" for the first page
	Name   string
	Stay   bool
	Refuse string // why it was refused, "": nothing was tried
	Wait   int    // seconds until the next try, 0: none
	Host   string
}

// drawLogin shows the form, and takes it: a log-in is not a request to the drive.
func drawLogin(x *visit) error {
	v := loginView{Next: localPath(x.query.Get("next")), Host: x.r.Host}
	if x.r.Method != http.MethodPost {
		return x.draw("login.html", head{Title: "Log in", Bare: true}, v)
	}
	if err := x.parseForm(); err != nil {
		return err
	}
	sent := x.r.PostForm
	v.Name, v.Stay = sent.Get("name"), sent.Has("stay")
	if next := localPath(sent.Get("next")); next != "" {
		v.Next = next
	}
	by, err := x.LogIn(x.r.Context(), v.Name, sent.Get("password"))
	if e := asProblem(err); err != nil && e != nil {
		v.Refuse, x.status = e.Detail, x.Status(e.Kind)
		if e.Kind == errs.TooMany {
			v.Wait, _ = e.Extra["retryAfter"].(int)
			x.w.Header().Set("Retry-After", strconv.Itoa(v.Wait))
		}
		return x.draw("login.html", head{Title: "Log in", Bare: true}, v)
	}
	if err != nil {
		return err
	}
	if x.token != "" { // the browser forgets it now
		if err := x.Sessions.EndSession(x.r.Context(), x.token); err != nil {
			return err
		}
	}
	token, err := x.Sessions.StartSession(x.r.Context(), account.NewSession{User: by.ID, Lasting: v.Stay, Agent: x.r.UserAgent()})
	if err != nil {
		return err
	}
	c := x.Cookie(token, x.secure())
	if v.Stay {
		c.MaxAge = 30 * 24 * 3600
	}
	http.SetCookie(x.w, c)
	if v.Next == "" {
		v.Next = "/tasks"
	}
	return x.redirect(v.Next)
}

// drawLogout ends the session. A GET asks first, because a GET changes nothing.
func drawLogout(x *visit) error {
	if x.r.Method != http.MethodPost {
		return x.draw("logout.html", head{Title: "Log out", Bare: true}, string(x.by.Name))
	}
	if x.token != "" {
		if err := x.Sessions.EndSession(x.r.Context(), x.token); err != nil {
			return err
		}
	}
	http.SetCookie(x.w, x.Cookie("", x.secure()))
	return x.redirect("/login")
}
