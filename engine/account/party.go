// Package account holds users and teams with what belongs to their accounts:
// their forms, the documents that change them, what they have made to log
// devices in, and the table of all of them that is kept in memory. It asks no
// rights and stores nothing: that is the engine's.
package account

import (
	"reflect"
	"slices"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// userForm and teamForm are the complete forms (docs/contract/drive.md#user); a
// password is never among them.
type userForm struct {
	Name     identity.Name `json:"name"`
	ID       identity.ID   `json:"id"`
	FullName string        `json:"fullName"`
	Email    string        `json:"email"`
	Admin    bool          `json:"admin"`
	Disabled bool          `json:"disabled"`
	Deputy   *deputyForm   `json:"deputy"`
	Factor   bool          `json:"secondFactor,omitempty"`
	Origin   string        `json:"origin,omitempty"`
	Quota    int64         `json:"quota,omitempty"`
	Created  string        `json:"created"`
	Modified string        `json:"modified"`
}

type teamForm struct {
	Name     identity.Name   `json:"name"`
	ID       identity.ID     `json:"id"`
	Members  []identity.Name `json:"members"`
	Admins   []identity.Name `json:"admins"`
	Created  string          `json:"created"`
	Modified string          `json:"modified"`
}

// deputyForm is a deputy as users and me.json show it.
type deputyForm struct {
	User identity.Name `json:"user"`
	From string        `json:"from"`
	To   string        `json:"to"`
}

func formOfDeputy(d identity.Deputy) *deputyForm {
	if d.User == "" {
		return nil
	}
	return &deputyForm{User: d.User, From: d.From.UTC().Format(time.RFC3339), To: d.To.UTC().Format(time.RFC3339)}
}

// PartyForm returns the complete form of a user or team.
func PartyForm(p *store.Party) []byte {
	created, modified := p.Created.UTC().Format(time.RFC3339), p.Modified.UTC().Format(time.RFC3339)
	var form any
	if p.Kind == identity.User {
		form = userForm{
			Name: p.Name, ID: p.ID, FullName: p.FullName, Email: p.Email, Admin: p.Admin, Disabled: p.Disabled,
			Deputy: formOfDeputy(p.Deputy), Factor: p.Factor != "", Origin: p.Origin, Quota: p.Quota, Created: created, Modified: modified,
		}
	} else {
		form = teamForm{Name: p.Name, ID: p.ID, Members: orEmpty(p.Members), Admins: orEmpty(p.Admins), Created: created, Modified: modified}
	}
	return document.Form(form)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func sameParty(a, b *store.Party) bool {
	return a.FullName == b.FullName && a.Email == b.Email && a.Admin == b.Admin && a.Disabled == b.Disabled &&
		a.Password == b.Password && a.Factor == b.Factor && a.Origin == b.Origin && a.Quota == b.Quota && a.Quiet == b.Quiet && slices.Equal(a.Watch, b.Watch) && a.Zone == b.Zone && reflect.DeepEqual(a.Mail, b.Mail) && reflect.DeepEqual(a.Pending, b.Pending) && a.Deputy.Equal(b.Deputy) &&
		slices.Equal(a.Members, b.Members) && slices.Equal(a.Admins, b.Admins)
}
