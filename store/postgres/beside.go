package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Beside returns how this node connects to the database, for others that keep something
// there, and a statement that fails once another node is the active one. It ends each of
// their transactions that writes: the active node's own wait for it.
func (db *DB) Beside() (to *pgconn.Config, guard string, err error) {
	to, err = db.opts.config()
	return to, fmt.Sprintf(`SELECT hold_tenure(%d)`, db.tenure.epoch), err
}
