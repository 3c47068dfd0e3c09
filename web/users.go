package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

type userRow struct {
	Factor   bool   `json:"secondFactor"`
	Name     string `json:"name"`
	FullName string `json:"fullName"`
	Email    string `json:"email"`
	Admin    bool   `json:"admin"`
	Disabled bool   `json:"disabled"`
	Deputy   *struct {
		User string    `json:"user"`
		From time.Time `json:"from"`
		To   time.Time `json:"to"`
	} `json:"deputy"`

	Person Person   `json:"-"`
	Teams  []string `json:"-"`
	Menu   []anchor `json:"-"`
	From   string   `json:"-"` // when the deputy begins, "" if that is past
	To     string   `json:"-"` // when the deputy ends
}

func storeUser(x *visit, v url.Values) (*act, error) {
	name, err := nameOf(v)
	if err != nil {
		return nil, err
	}
	m := []member{always("fullName", v.Get("fullName")), always("email", v.Get("email")), {"admin", flagOf(v, "admin")}, text("password", v.Get("password"))}
	if v.Get("do") == "user-add" { // the drive refuses one without
		m[len(m)-1] = always("password", v.Get("password"))
	}
	if v.Get("do") == "user" {
		m = append(m, member{"disabled", flagOf(v, "disabled")})
	}
	if v.Get("revoke") == "true" {
		m = append(m, member{"revoke", []byte("true")})
	}
	q := put(adminPath+"Users/"+url.PathEscape(name)+".json", m, "password")
	q.Header = creating(v.Get("do"))
	if v.Get("password") == "" && v.Get("do") == "user" {
		q.Shown = nil
	}
	return &act{requests: []driveRequest{q}, to: x.with("do", "", "name", ""), done: storedUser(name)}, nil
}

// storedUser says that a user is stored, and what the drive warns of: what waits for somebody
// who may not log in any more, and what still lets in.
func storedUser(name string) func([]*driveAnswer) notice {
	return func(answers []*driveAnswer) notice {
		out := notice{Text: name + " is stored."}
		var told struct {
			Warnings []string `json:"warnings"`
		}
		if json.Unmarshal(answers[0].body.Bytes(), &told) == nil { // without a warning the answer is empty
			for _, warning := range told.Warnings {
				out.Warnings = append(out.Warnings, byField(upperFirst(warning)))
			}
		}
		return out
	}
}

// byField names the fields of the forms in a text of the drive, which names what a request has.
func byField(text string) string {
	return strings.NewReplacer(
		"Password: app passwords", "App passwords", `{"revoke": true} ends them`, `"`+revokeLabel+`" ends them`,
		"DELETE with ?handOver=<user> gives", `"`+handOverLabel+`" gives`, "The parameter handOver", `"`+handOverLabel+`"`,
	).Replace(text)
}

const (
	revokeLabel   = "End app passwords and calendar links"
	handOverLabel = "Hand over to"
)

// handOverField asks to whom all goes that a user or team has which is to be deleted.
func handOverField(x *visit, of string) *field {
	others := slices.DeleteFunc(x.Queries.Parties(), func(p Person) bool { return p.Name == of })
	return &field{Name: "handOver", Label: handOverLabel, Kind: "text", Hint: "A user or team. It may stay empty if there is nothing to hand over.", Suggest: suggested(others)}
}

func resetFactor(x *visit, v url.Values) (*act, error) {
	name, err := nameOf(v)
	if err != nil {
		return nil, err
	}
	q := put(adminPath+"Users/"+url.PathEscape(name)+".json", []member{{"secondFactor", []byte("false")}})
	return &act{requests: []driveRequest{q}, to: x.with("do", "", "name", ""), done: said("The password of " + name + " is enough again.")}, nil
}

func drawUsers(x *visit) error {
	v := &adminView{Title: "Users", Lede: "Who may log in. A user who is disabled keeps what is theirs; their sessions, devices and calendar addresses end at once.", Add: x.with("do", "user-add", "name", "") + "#ask", AddText: "Add a user"}
	var users []userRow
	var teams []teamRow
	if err := x.readJSON(adminPath+"Users/.contents", &users); err != nil {
		return err
	}
	if err := x.readJSON(adminPath+"Teams/.contents", &teams); err != nil {
		return err
	}
	name := x.about()
	var chosen *userRow
	for i := range users {
		u := &users[i]
		u.Person = x.Queries.Person(u.Name)
		for _, t := range teams {
			if slices.Contains(t.Members, u.Name) {
				u.Teams = append(u.Teams, t.Name)
			}
		}
		if u.Deputy != nil {
			u.To = x.Words.date(u.Deputy.To.Add(-time.Second)) // its last day
			if u.Deputy.From.After(x.now) {
				u.From = x.Words.date(u.Deputy.From)
			}
		}
		u.Menu = []anchor{{Label: "Change…", Href: x.with("do", "user", "name", u.Name) + "#ask"}, {Label: "Delete…", Href: x.with("do", "user-delete", "name", u.Name) + "#ask"}}
		if u.Factor {
			u.Menu = append(u.Menu, anchor{Label: "Reset the second factor…", Href: x.with("do", "user-factor", "name", u.Name) + "#ask"})
		}
		if u.Name == name {
			chosen = u
		}
	}
	v.Users = users
	v.Ask = x.askUser(chosen)
	return x.adminDraw(v, "Users")
}

func (x *visit) askUser(u *userRow) *asking {
	do := x.asked()
	a := asking{Do: do, Cancel: x.with("do", "", "name", "")}
	switch {
	case do == "user-add":
		a.Title, a.Submit = "Add a user", "Add"
		a.Fields = []*field{{Name: "name", Label: "Name", Kind: "text", Needed: true, Hint: "To log in with: letters, digits, -, _, single dots and @."}}
		u = &userRow{}
	case u == nil:
		return nil
	case do == "user-delete":
		a.Title, a.Submit, a.Hidden = "Delete "+u.Name, "Delete", []hidden{{"name", u.Name}}
		a.Text = "If they own something or take part in a case, all that goes to another user or team: documents, cases, tasks, routes, entries, and the places in teams. Or let them stay, and disable them instead."
		a.Fields = []*field{handOverField(x, u.Name)}
		return x.asks(a, adminForms()[do])
	case do == "user-factor":
		a.Title, a.Submit, a.Hidden = "Reset the second factor of "+u.Name, "Reset", []hidden{{"name", u.Name}}
		a.Text = "Their password is enough then, until they set up another one. Do it if their device and recovery codes are lost, and you are sure who asks."
		return x.asks(a, adminForms()[do])
	case do == "user":
		a.Title, a.Submit, a.Hidden = "Change "+u.Name, "Store", []hidden{{"name", u.Name}}
	default:
		return nil
	}
	a.Fields = append(a.Fields,
		&field{Name: "fullName", Label: "Full name", Kind: "text", Value: u.FullName},
		&field{Name: "email", Label: "Mail", Kind: "email", Value: u.Email},
		&field{Name: "password", Label: "Password", Kind: "password", Needed: do == "user-add", Fill: "new-password", Hint: passwordHint(do)},
		&field{Name: "admin", Label: "Administers the server", Kind: "check", Value: strconv.FormatBool(u.Admin)})
	if do == "user" {
		a.Fields = append(a.Fields, &field{Name: "disabled", Label: "Disabled: may not log in", Kind: "check", Value: strconv.FormatBool(u.Disabled)},
			&field{Name: "revoke", Label: revokeLabel, Kind: "check", Value: "false"})
	}
	return x.asks(a, adminForms()[do])
}

func passwordHint(do string) string {
	if do == "user" {
		return "It stays if this is empty. With a new one all sessions of the user end."
	}
	return "12 characters or more. The user can change it."
}
