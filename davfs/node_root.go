package davfs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"flowdrive/engine"
)

// fixedFolder is a folder whose members do not depend on what is stored.
// They are made when the folder is read.
type fixedFolder struct {
	*scope
	name   string
	places func(s *scope) []place
}

// place is a member of a fixed folder.
type place struct {
	name   string
	node   node
	listed bool
}

func (n fixedFolder) stat(context.Context) (*info, error) { return folderInfo(n.name, n.since), nil }

func (n fixedFolder) child(_ context.Context, name string) (node, error) {
	for _, p := range n.places(n.scope) {
		if same(name, p.name) {
			return p.node, nil
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
		about, err := p.node.stat(ctx)
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
	return fixedFolder{s, "", func(s *scope) []place {
		return []place{{"dav", fixedFolder{s, "dav", drivePlaces}, true}, {attachRoot, attachFolder{s}, true}}
	}}
}

// drivePlaces are the members of "/dav/".
func drivePlaces(s *scope) []place {
	places := []place{{"Workflow", fixedFolder{s, "Workflow", workflowPlaces}, true}}
	if s.by.Admin() {
		places = append(places, place{"Admin", fixedFolder{s, "Admin", adminPlaces}, true})
	}
	return append(places,
		place{documentsRoot, documentsFolder{s}, true},
		place{"Account", fixedFolder{s, "Account", accountPlaces}, true},
	)
}

func workflowPlaces(s *scope) []place {
	return []place{
		{readmeName, readmeFile{s}, true},
		{"Schedule", scheduleFolder{s}, true},
		{"Routes", routesFolder{s}, true},
		{"Cases", casesFolder{s}, true},
		{worklistRoot, fixedFolder{s, worklistRoot, worklistPlaces}, true},
		{statusRoot, newStatusFolder(s), true},
		{archiveRoot, archiveFolder{s}, true},
		{"Calendar", fixedFolder{s, "Calendar", calendarPlaces}, true},
		{"Schemas", schemasFolder(s), true},
	}
}

// calendarPlaces are the members of "/dav/Workflow/Calendar/", the caller's
// own.
func calendarPlaces(s *scope) []place {
	return []place{{"upcoming.ics", formFile{s, "upcoming.ics", typeCalendar, func(ctx context.Context) (*engine.Resource, error) {
		return s.engine.Calendars.Upcoming(ctx, s.by)
	}}, true}}
}

const readmeName = "README.txt"

// readmeFile is the text for users who have just mounted the drive.
type readmeFile struct{ *scope }

func (n readmeFile) stat(context.Context) (*info, error) {
	sum := sha256.Sum256([]byte(readme))
	return &info{
		name: readmeName, size: int64(len(readme)), etag: fmt.Sprintf("\"%x\"", sum[:16]),
		mediaType: typeText, created: n.since, modified: n.since,
	}, nil
}

func (n readmeFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	about, err := n.stat(ctx)
	return about, contentOf([]byte(readme)), err
}
