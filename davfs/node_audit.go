package davfs

import (
	"context"
	"io"
	"strings"

	"flowdrive/engine"
)

const (
	auditExtension = ".jsonl"
	typeLines      = "application/x-ndjson" // JSON, a value a line
)

// auditFolder is Admin/Audit/: a file for each day on which anything
// happened, for administrators to read.
type auditFolder struct{ *scope }

func (n auditFolder) home() []string { return []string{"dav", "Admin", "Audit"} }

func (n auditFolder) stat(context.Context) (*info, error) { return folderInfo("Audit", n.since), nil }

func (n auditFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	date, ok := strings.CutSuffix(name, auditExtension)
	if !ok {
		return nil, absent()
	}
	return auditFile{n.scope, date}, nil
}

func (n auditFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n auditFolder) filters() []string { return nil }

// page cuts the page out of all: there is one a day.
func (n auditFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Audit.AuditDays(ctx, n.by)
	return cutPage(all, f), err
}

func (n auditFolder) listed(r *engine.Resource) *info {
	return sourceInfo(r.Name+auditExtension, typeLines, r)
}

// auditFile is Audit/<date>.jsonl. It only grows, so that a range can fetch
// what has been added.
type auditFile struct {
	*scope
	date string
}

func (n auditFile) stat(ctx context.Context) (*info, error) {
	about, body, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	return about, body.Close()
}

func (n auditFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, body, err := n.engine.Audit.AuditDay(ctx, n.by, n.date)
	if err != nil {
		return nil, nil, err
	}
	return auditFolder{n.scope}.listed(r), body, nil
}
