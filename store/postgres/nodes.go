package postgres

import (
	"context"
	"fmt"
	"time"

	"flowdrive/store/relational"
)

// Node is a node of the database, as it says of itself (docs/contract/drive.md#nodes).
type Node struct {
	Name     string
	Version  string
	Schema   int64 // the number of the last migration that its program has
	Started  time.Time
	LastSeen time.Time     // by the clock of the database
	Offset   time.Duration // by which its clock is ahead of that of the database
	Leases   int64         // what it alone may do: 1 for the active node
	Pool     int64         // its connections to the database
	Retries  int64         // how often it has tried again, because the database did not answer
}

// keptSeen is for how long a node is told of after it was last seen.
const keptSeen = time.Hour

const (
	// registerNode says that a node is there, with so many leases and connections. The offset is that of the two clocks as the
	// statement is on its way.
	registerNode = `
		INSERT INTO nodes (name, version, migration, started, last_seen, offset_ms, leases, pool, retries)
		VALUES ($1, $2, $8::bigint, $3::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
			($4::bigint - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) / 1000, $5::bigint, $6::bigint, $7::bigint)
		ON CONFLICT (name) DO UPDATE SET version = excluded.version, migration = excluded.migration, started = excluded.started, last_seen = excluded.last_seen,
			offset_ms = excluded.offset_ms, leases = excluded.leases, pool = excluded.pool, retries = excluded.retries
		RETURNING 1`
	listNodes = `
		SELECT name, version, migration, started, last_seen, offset_ms, leases, pool, retries FROM nodes
		WHERE last_seen > (extract(epoch FROM now()) * 1000000)::bigint - ?1 ORDER BY name`
)

// registration returns the values of registerNode, of a node that has a name.
func (o Options) registration(leases, pool int) ([]string, error) {
	newest, err := newestMigration()
	return []string{
		o.Node, o.Version, fmt.Sprint(o.Started.UnixMicro()), fmt.Sprint(o.Now().UnixMicro()),
		fmt.Sprint(leases), fmt.Sprint(pool), fmt.Sprint(o.Retries), fmt.Sprint(newest),
	}, err
}

// Nodes returns the nodes that were seen in the last hour, by name.
func (db *DB) Nodes(ctx context.Context) (nodes []Node, err error) {
	if err := db.own(); err != nil {
		return nil, err
	}
	err = db.ViewConn(ctx, func(c *relational.Conn) error {
		return c.Each(listNodes, func(scan relational.Scan) error {
			var n Node
			var started, seen, offset int64
			err := scan(&n.Name, &n.Version, &n.Schema, &started, &seen, &offset, &n.Leases, &n.Pool, &n.Retries)
			n.Started, n.LastSeen, n.Offset = time.UnixMicro(started).UTC(), time.UnixMicro(seen).UTC(), time.Duration(offset)*time.Millisecond
			nodes = append(nodes, n)
			return err
		}, keptSeen.Microseconds())
	})
	return nodes, relational.Failure("list the nodes", err)
}
