package relational

// Queued returns how many units wait for the writer.
func (db *DB) Queued() int { return len(db.queue) }
