package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

func loginPages() []page {
	return []page{
		{pattern: "/login", open: true, query: []string{"next"}, draw: drawLogin, post: drawLogin},
		{pattern: "/logout", open: true, draw: drawLogout, post: drawLogout},
	}
}

// loginView is what login.html shows.
type loginView struct {
	Next     string // where it leads afterwards, "" for the first page
	Name     string
	Stay     bool
	Refuse   string // why it was refused, "": nothing was tried
	Wait     int    // seconds until the next try, 0: none
	Pause    bool   // a name or password was wrong: after some tries there is a pause
	Busy     bool   // something else does not answer, which a pause after failed tries does not concern
	Host     string
	Provider string // where people may log in, too, "" for nowhere
	Out      string // the address at which they log out there
	Half     string // the token of a log-in that lacks the code of the second factor

	kind store.SessionKind // by what it is done, "": a password
}

// Way is the address that leads to the provider.
func (v loginView) Way() string { return signOnAddress(v.Next) }

// halfLogin is a log-in whose password was right and that lacks the code.
type halfLogin struct {
	by    identity.Principal
	begun string // the mark of the password that was right
	until time.Time
	tries int
}

// halfway are the log-ins that lack a code, in memory: a restart asks for the password again.
type halfway struct {
	mu sync.Mutex
	of map[string]halfLogin
}

const (
	mostHalfway = 10_000
	halfwayLife = 5 * time.Minute
	codeTries   = 5 // then the password is asked for again
)

// begin returns a token for a log-in that lacks the code.
func (h *halfway) begin(by identity.Principal, begun string, now time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.of) >= mostHalfway {
		clear(h.of)
	}
	token := account.NewToken()
	h.of[token] = halfLogin{by: by, begun: begun, until: now.Add(halfwayLife), tries: codeTries}
	return token
}

// next returns the log-in, and counts a try; ok is false if there is none.
func (h *halfway) next(token string, now time.Time) (half halfLogin, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	half, ok = h.of[token]
	if !ok {
		return half, false
	}
	half.tries--
	if h.of[token] = half; half.tries <= 0 || !now.Before(half.until) {
		delete(h.of, token)
	}
	return half, now.Before(half.until)
}

func (h *halfway) end(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, token)
}

// drawLogin shows the form, and takes it: a log-in is not a request to the drive.
func drawLogin(x *visit) error {
	v := loginView{Next: localPath(x.query.Get("next")), Host: x.r.Host}
	if x.SignOn != nil {
		v.Provider = x.SignOn.Host()
	}
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
	by, err := whoLogsIn(x, &v)
	if e := asProblem(err); err != nil && e != nil {
		v.refuse(x, e)
		return x.draw("login.html", head{Title: "Log in", Bare: true}, v)
	}
	if err != nil {
		return err
	}
	if v.Half != "" {
		return x.draw("login.html", head{Title: "Log in", Bare: true}, v)
	}
	return enter(x, by, &v)
}

// refuse says why nobody is logged in, and when it may work.
func (v *loginView) refuse(x *visit, e *errs.Error) {
	v.Refuse, x.status = e.Detail, x.Status(e.Kind)
	v.Pause, v.Busy = e.Kind == errs.LogIn, e.Kind == errs.Unavailable
	if v.Wait = retryAfter(e); v.Wait > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(v.Wait))
	}
}

// whoLogsIn returns whom the form logs in. If the code of the second factor is wanted first,
// Half of the view is set.
func whoLogsIn(x *visit, v *loginView) (by identity.Principal, err error) {
	sent := x.r.PostForm
	if token := sent.Get("half"); token != "" {
		half, ok := x.halfway.next(token, x.Wall())
		if !ok {
			return by, errs.New(errs.LogIn, "The code came too late, or it was wrong too often; begin with your password again.")
		}
		err := x.Prove(x.r.Context(), half.by, func() error {
			return x.Factors.UseFactor(x.r.Context(), half.by.ID, half.begun, sent.Get("code"))
		})
		if err != nil {
			v.Half = token
			return by, err
		}
		x.halfway.end(token)
		v.kind = store.ByFactor
		return half.by, nil
	}
	if by, err = x.LogIn(x.r.Context(), v.Name, sent.Get("password")); err == nil && x.Factors.HasFactor(by.ID) {
		v.Half = x.halfway.begin(by, x.Factors.Begun(by.ID), x.Wall())
	}
	return by, err
}

// enter makes a session of the user and leads on.
func enter(x *visit, by identity.Principal, v *loginView) error {
	if x.token != "" { // the browser forgets it now
		if err := x.Sessions.EndSession(x.r.Context(), x.token); err != nil {
			return err
		}
	}
	token, err := x.Sessions.StartSession(x.r.Context(), account.NewSession{User: by.ID, Lasting: v.Stay, Agent: x.r.UserAgent(), Kind: v.kind})
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
	if x.SignOn != nil && x.by.ID != 0 {
		if out := x.SignOn.End(x.r.Context(), x.by); out != "" { // a link: forms lead nowhere else
			return x.draw("login.html", head{Title: "Log in", Bare: true}, loginView{Host: x.r.Host, Provider: x.SignOn.Host(), Out: out})
		}
	}
	return x.redirect("/login")
}
