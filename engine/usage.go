package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/status"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// usageForm is Admin/Usage.json (docs/contract/drive.md#usage).
type usageForm struct {
	Quota int64       `json:"quota"` // of who has no other
	Users []userUsage `json:"users"`
}

// userUsage is what one user holds.
type userUsage struct {
	User      identity.Name `json:"user"`
	Disabled  bool          `json:"disabled"`
	Bytes     int64         `json:"bytes"`
	Quota     int64         `json:"quota"`
	Temporary int64         `json:"temporaryBytes"`
	Files     int64         `json:"files"`
	OpenCases int64         `json:"openCases"`
	Entries   int64         `json:"entries"`
	Routes    int64         `json:"routes"`

	AppPasswords  []json.RawMessage `json:"appPasswords"`
	CalendarLinks int               `json:"calendarLinks"`
	Sessions      int               `json:"sessions"`
	LastSeen      *string           `json:"lastSeen"`

	seen time.Time
}

// Usage says who holds how much, for administrators: those who hold most come first. text
// asks for it as a text in the zone of by. Errors: errs.NotFound for other users.
func (e *Server) Usage(ctx context.Context, by identity.Principal, text bool) (*Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("file")
	}
	routes := map[identity.ID]int64{}
	for _, info := range e.rights.Routes() {
		routes[info.AuthorID]++
	}
	f := usageForm{Quota: e.limits.Quota, Users: []userUsage{}}
	err := e.Store.View(ctx, func(r store.Reader) error {
		for _, p := range e.directory().Parties() {
			if p.Kind != identity.User {
				continue
			}
			u, err := e.usageOf(r, p)
			if err != nil {
				return err
			}
			u.Routes = routes[p.ID]
			f.Users = append(f.Users, *u)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(f.Users, func(a, b userUsage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(identity.Fold(string(a.User)), identity.Fold(string(b.User))))
	})
	content := document.Indent(document.Line(&f))
	if text {
		content = f.text(status.Zone{Location: e.zoneOf(by)})
	}
	return &Resource{Name: "Usage", Form: content, FormETag: change.SourceETag(content), Modified: e.Clock.Now().Truncate(time.Second), Own: true}, nil
}

// usageOf returns what a user holds, apart from routes.
func (e *Server) usageOf(r store.Reader, p *identity.Party) (*userUsage, error) {
	keys := e.accounts.Keys(p.ID)
	u := &userUsage{
		User: p.Name, Disabled: p.Disabled, Quota: e.quota.Of(p.ID),
		AppPasswords: keys.AppPasswords, CalendarLinks: keys.CalendarLinks, Sessions: keys.Sessions, seen: keys.LastSeen,
	}
	if !u.seen.IsZero() {
		u.LastSeen = new(u.seen.UTC().Format(time.RFC3339))
	}
	for _, count := range []struct {
		of  func(identity.ID) (int64, error)
		put *int64
	}{
		{r.Blobs().StoredBytes, &u.Bytes},
		{r.Blobs().StoredFiles, &u.Files},
		{r.Scratch().Bytes, &u.Temporary},
		{r.Cases().CountOpen, &u.OpenCases},
		{r.Entries().Count, &u.Entries},
	} {
		var err error
		if *count.put, err = count.of(p.ID); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// text returns the same for people.
func (f *usageForm) text(zone status.Zone) []byte {
	users := make([]status.UserUsage, len(f.Users))
	for i := range f.Users {
		u := &f.Users[i]
		users[i] = status.UserUsage{
			User: string(u.User), Disabled: u.Disabled, Bytes: u.Bytes, Quota: u.Quota, Temporary: u.Temporary,
			Files: u.Files, OpenCases: u.OpenCases, Entries: u.Entries, Routes: u.Routes, LastSeen: u.seen,
		}
	}
	return status.UsageText(users, zone)
}
