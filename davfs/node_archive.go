package davfs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/store"
)

const archiveRoot = "Archive"

// archiveFolder is Workflow/Archive/: the years in which cases that were
// archived have ended, as far as the caller sees some.
type archiveFolder struct{ *scope }

func (n archiveFolder) home() []string { return []string{"dav", "Workflow", archiveRoot} }

// homeOf returns the segments of the folder in which a case lies.
func (n archiveFolder) homeOf(r *engine.Resource) []string {
	return append(n.home(), yearName(r.Archived), monthName(r.Archived))
}

func (n archiveFolder) stat(context.Context) (*info, error) {
	return folderInfo(archiveRoot, n.since), nil
}

func (n archiveFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	year, ok := parsePart(name, 4)
	if !ok {
		return nil, absent()
	}
	return yearFolder{n.scope, year}, nil
}

func (n archiveFolder) list(ctx context.Context) ([]*info, error) {
	months, err := n.engine.Archive.ArchiveMonths(ctx, n.by, true)
	var out []*info
	for _, month := range months {
		if name := yearName(month); len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, folderInfo(name, n.since))
		}
	}
	return out, err
}

func (n archiveFolder) filters() []string { return casesFolder(n).filters() }

func (n archiveFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	f.Archived = true
	return n.engine.Cases.Cases(ctx, n.by, f)
}

func (n archiveFolder) listed(r *engine.Resource) *info { return casesFolder(n).listed(r) }

// yearFolder is Archive/<yyyy>/: its months.
type yearFolder struct {
	*scope
	year int
}

func (n yearFolder) stat(ctx context.Context) (*info, error) {
	months, err := n.engine.Archive.ArchiveMonths(ctx, n.by, false)
	for _, month := range months {
		if month.Year() == n.year {
			return folderInfo(yearName(month), n.since), nil
		}
	}
	if err == nil {
		err = absent()
	}
	return nil, err
}

func (n yearFolder) child(_ context.Context, name string) (node, error) {
	number, ok := parsePart(name, 2)
	if !ok || number < 1 || number > 12 {
		return nil, absent()
	}
	return monthFolder{n.scope, store.Month(100*n.year + number)}, nil
}

func (n yearFolder) list(ctx context.Context) ([]*info, error) {
	months, err := n.engine.Archive.ArchiveMonths(ctx, n.by, true)
	var out []*info
	for _, month := range months {
		if month.Year() == n.year {
			out = append(out, folderInfo(monthName(month), n.since))
		}
	}
	return out, err
}

// monthFolder is Archive/<yyyy>/<mm>/: the cases that have ended in that
// month, each as in Cases/.
type monthFolder struct {
	*scope
	month store.Month
}

func (n monthFolder) stat(ctx context.Context) (*info, error) {
	months, err := n.engine.Archive.ArchiveMonths(ctx, n.by, false)
	for _, month := range months {
		if month == n.month {
			return folderInfo(monthName(month), n.since), nil
		}
	}
	if err == nil {
		err = absent()
	}
	return nil, err
}

func (n monthFolder) child(_ context.Context, name string) (node, error) {
	stem, isFile := strings.CutSuffix(foldName(name), ".json")
	id, ok := parseID(stem)
	switch {
	case !ok:
		return nil, absent()
	case isFile:
		ref := engine.Ref{CaseID: id}
		return archivedFile{caseFile{n.scope, naming{ref: ref, identity: true}}, n.month}, nil
	}
	return archivedFolder{caseFolder{n.scope, id}, n.month}, nil
}

func (n monthFolder) list(ctx context.Context) ([]*info, error) { return allOf(ctx, n.parts()) }

func (n monthFolder) parts() parts {
	return casesFolder{n.scope}.selected(engine.Filter{OwnOnly: true, Archived: true, Month: n.month})
}

// archivedFile is Archive/<yyyy>/<mm>/<id>.json: the case. It differs from
// the file in Cases/ in what its deletion means.
type archivedFile struct {
	caseFile
	month store.Month
}

func (n archivedFile) here(ctx context.Context) error {
	return n.archivedIn(ctx, n.name.ref.CaseID, n.month)
}

func (n archivedFile) stat(ctx context.Context) (*info, error) {
	if err := n.here(ctx); err != nil {
		return nil, err
	}
	return n.caseFile.stat(ctx)
}

func (n archivedFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	if err := n.here(ctx); err != nil {
		return nil, nil, err
	}
	return n.caseFile.open(ctx)
}

func (n archivedFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	if err := n.here(ctx); err != nil {
		return nil, err
	}
	return n.caseFile.put(ctx, req, in)
}

func (n archivedFile) lockTarget() engine.Target {
	t := n.caseFile.lockTarget()
	t.Month = n.month
	return t
}

// remove purges the case.
func (n archivedFile) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Archive.PurgeCase(ctx, req, n.month, n.name.ref.CaseID)
}

// archivedFolder is Archive/<yyyy>/<mm>/<id>/, the same folder as the one in
// Cases/.
type archivedFolder struct {
	caseFolder
	month store.Month
}

func (n archivedFolder) stat(ctx context.Context) (*info, error) {
	if err := n.archivedIn(ctx, n.id, n.month); err != nil {
		return nil, err
	}
	return n.caseFolder.stat(ctx)
}

// archivedIn answers errs.NotFound if the case is not in the archive, or under
// another month.
func (s *scope) archivedIn(ctx context.Context, id int64, month store.Month) error {
	r, err := s.engine.Cases.Case(ctx, s.by, engine.Ref{CaseID: id})
	if err == nil && r.Archived != month {
		err = absent()
	}
	return err
}

func yearName(m store.Month) string { return fmt.Sprintf("%04d", m.Year()) }

func monthName(m store.Month) string { return fmt.Sprintf("%02d", m.Number()) }

// parsePart reads a part of a date that is written with so many digits.
func parsePart(name string, width int) (int, bool) {
	if len(name) != width || !digits(name) {
		return 0, false
	}
	n, err := strconv.Atoi(name)
	return n, err == nil
}
