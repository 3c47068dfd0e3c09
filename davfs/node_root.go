package davfs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"flowdrive/engine"
)

// fixedFolder is a folder whose members do not depend on what is stored.
type fixedFolder struct {
	*scope
	name   string
	places func(s *scope) []place
}

// place is a member of a fixed folder. Its node is made when it is asked for: each
// request walks through two or three such folders, and needs one member of each.
type place struct {
	name   string
	node   func(s *scope) node
	listed bool
}

func (n fixedFolder) stat(context.Context) (*info, error) { return folderInfo(n.name, n.since), nil }

func (n fixedFolder) child(_ context.Context, name string) (node, error) {
	for _, p := range n.places(n.scope) {
		if same(name, p.name) {
			return p.node(n.scope), nil
		}
	}
	return nil, absent()
}

func (n fixedFolder) list(ctx context.Context) ([]*info, error) {
	var out []*info
	for _, p := range n.places(n.scope) {
		if !p.listed {
			continue
		}
		about, err := p.node(n.scope).stat(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, about)
	}
	return out, nil
}

// root is "/": it exists so that clients which look at every parent of what
// they mount find something.
func (s *scope) root() node {
	return fixedFolder{s, "", func(*scope) []place { return rootPlaces }}
}

var rootPlaces = []place{
	{"dav", func(s *scope) node { return fixedFolder{s, "dav", drivePlaces} }, true},
	{attachRoot, func(s *scope) node { return attachFolder{s} }, true},
}

// drivePlaces are the members of "/dav/".
func drivePlaces(s *scope) []place {
	if s.by.Admin() {
		return placesOfAdmins
	}
	return placesOfUsers
}

var (
	placesOfAdmins = placesWith(place{"Admin", func(s *scope) node { return fixedFolder{s, "Admin", adminPlaces} }, true})
	placesOfUsers  = placesWith()
)

// placesWith are the members of "/dav/" for everybody, and some more.
func placesWith(more ...place) []place {
	places := append([]place{{"Workflow", func(s *scope) node { return fixedFolder{s, "Workflow", workflowPlaces} }, true}}, more...)
	return append(places,
		place{documentsRoot, func(s *scope) node { return documentsFolder{s} }, true},
		place{"Account", func(s *scope) node { return accountFolder{fixedFolder{s, "Account", accountPlaces}} }, true},
	)
}

func workflowPlaces(*scope) []place { return placesOfWorkflow }

var placesOfWorkflow = []place{
	{readmeName, func(s *scope) node { return readmeFile{s} }, true},
	{"Schedule", func(s *scope) node { return scheduleFolder{s} }, true},
	{"Routes", func(s *scope) node { return routesFolder{s} }, true},
	{"Cases", func(s *scope) node { return casesFolder{s} }, true},
	{worklistRoot, func(s *scope) node { return fixedFolder{s, worklistRoot, worklistPlaces} }, true},
	{statusRoot, newStatusFolder, true},
	{archiveRoot, func(s *scope) node { return archiveFolder{s} }, true},
	{"Calendar", func(s *scope) node { return fixedFolder{s, "Calendar", calendarPlaces} }, true},
	{"Schemas", schemasFolder, true},
}

// calendarPlaces are the members of "/dav/Workflow/Calendar/", the caller's
// own.
func calendarPlaces(*scope) []place {
	return []place{{"upcoming.ics", func(s *scope) node {
		return formFile{s, "upcoming.ics", typeCalendar, func(ctx context.Context) (*engine.Resource, error) {
			return s.engine.Calendars.Upcoming(ctx, s.by)
		}}
	}, true}}
}

const readmeName = "README.txt"

// readmeFile is the text for users who have just mounted the drive.
type readmeFile struct{ *scope }

func (n readmeFile) stat(context.Context) (*info, error) {
	text := readmeAt(n.address)
	sum := sha256.Sum256([]byte(text))
	return &info{
		name: readmeName, size: int64(len(text)), etag: fmt.Sprintf("\"%x\"", sum[:16]),
		mediaType: typeText, created: n.since, modified: n.since,
	}, nil
}

func (n readmeFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	about, err := n.stat(ctx)
	return about, contentOf([]byte(readmeAt(n.address))), err
}
