package engine

import (
	"context"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// NodeState is what is known of a node of the database, for Admin/Nodes/
// (docs/contract/drive.md#nodes).
type NodeState struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Schema   int64     `json:"schema"`
	Started  time.Time `json:"started"`
	LastSeen time.Time `json:"lastSeen"`
	Offset   int64     `json:"clockOffsetMs"`
	Leases   int64     `json:"leases"`
	Pool     int64     `json:"pool"`
	Retries  int64     `json:"retries"`
}

// Nodes returns the nodes of the database, by name. Errors: errs.NotFound for users who are
// not administrators; those of the database.
func (e *Server) Nodes(ctx context.Context, by identity.Principal) ([]Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("folder")
	}
	if e.nodes == nil {
		return nil, nil
	}
	nodes, err := e.nodes(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Resource, 0, len(nodes))
	for i, n := range nodes {
		n.Started, n.LastSeen = n.Started.UTC().Truncate(time.Second), n.LastSeen.UTC().Truncate(time.Second)
		form := document.Indent(document.Line(&n))
		all = append(all, Resource{Seq: int64(i + 1), Name: n.Name, Form: form, FormETag: change.SourceETag(form), Modified: n.LastSeen, Own: true})
	}
	return all, nil
}

// Node returns one node. Errors: errs.NotFound; those of Nodes.
func (e *Server) Node(ctx context.Context, by identity.Principal, name string) (*Resource, error) {
	all, err := e.Nodes(ctx, by)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, errs.New(errs.NotFound, "No node of this name was seen in the last hour.")
}
