package relational

import (
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// handOver are the statements that give what one party (?1) has to another (?2).
// A name that the other one has given to something else already is dropped.
func handOver() []string {
	return []string{
		`UPDATE routes SET context_id = ?2 WHERE context_id = ?1`,
		`UPDATE routes SET author_id = ?2 WHERE author_id = ?1`,
		`UPDATE scenarios SET author_id = ?2 WHERE author_id = ?1 AND (route_id IS NOT NULL OR NOT EXISTS (
			SELECT 1 FROM scenarios other WHERE other.author_id = ?2 AND other.route_id IS NULL AND other.folded = scenarios.folded))`,
		`UPDATE entries SET context_id = ?2 WHERE context_id = ?1`,
		`UPDATE entries SET author_id = ?2 WHERE author_id = ?1`,
		`UPDATE occurrences SET context_id = ?2 WHERE context_id = ?1`,
		`UPDATE ended_entries SET context_id = ?2 WHERE context_id = ?1`,
		`UPDATE ended_entries SET author_id = ?2 WHERE author_id = ?1`,
		`INSERT INTO open_cases (starter_id, route_id, n) SELECT ?2, route_id, n FROM open_cases WHERE starter_id = ?1
			ON CONFLICT (starter_id, route_id) DO UPDATE SET n = open_cases.n + excluded.n`,
		`DELETE FROM open_cases WHERE starter_id = ?1 AND ?2 <> 0`,
		`UPDATE messages SET author_id = ?2 WHERE author_id = ?1`,
		`UPDATE given_names SET author_id = ?2 WHERE author_id = ?1 AND NOT EXISTS (
			SELECT 1 FROM given_names other WHERE other.author_id = ?2 AND other.folder = given_names.folder AND other.folded = given_names.folded)`,
		`UPDATE cases SET named = 0 WHERE id IN (SELECT case_id FROM given_names WHERE author_id = ?1) AND ?2 <> 0`,
		`DELETE FROM given_names WHERE author_id = ?1 AND ?2 <> 0`,
		`UPDATE aliases SET author_id = ?2 WHERE author_id = ?1 AND NOT EXISTS (
			SELECT 1 FROM aliases other WHERE other.author_id = ?2 AND other.route_id = aliases.route_id AND other.folded = aliases.folded)`,
		`DELETE FROM aliases WHERE author_id = ?1 AND ?2 <> 0`,
		`UPDATE attachments SET context_id = ?2 WHERE context_id = ?1`,
		`INSERT INTO stored_bytes (author_id, n) SELECT ?2, coalesce(sum(size), 0) FROM attachments WHERE author_id = ?1
			ON CONFLICT (author_id) DO UPDATE SET n = stored_bytes.n + excluded.n`,
		`UPDATE stored_bytes SET n = n - (SELECT coalesce(sum(size), 0) FROM attachments WHERE author_id = ?1) WHERE author_id = ?1 AND ?2 <> 0`,
		`UPDATE attachments SET author_id = ?2 WHERE author_id = ?1`,
		`UPDATE documents SET author_id = ?2 WHERE author_id = ?1`,
		`UPDATE versions SET owner_id = ?2 WHERE owner_id = ?1`,
		`UPDATE versions SET replacer_id = ?2 WHERE replacer_id = ?1`,
		// Within the second, so that none meets one of the other's. The rows of the
		// first go with it, and their bytes.
		`INSERT INTO history (folder, author_id, folded, name, replaced, etag, source)
			SELECT folder, ?2, folded, name, replaced + 1 + id % 900, etag, source FROM history WHERE author_id = ?1`,
	}
}

const handOverAllCases = `UPDATE cases SET starter_id = ?2 WHERE starter_id = ?1`

// handOverSomeCases are the statements that make one party (?2) the starter of some cases
// (?3) of another one (?1).
func handOverSomeCases() []string {
	return []string{
		`INSERT INTO open_cases (starter_id, route_id, n) SELECT ?2, route_id, count(*) FROM cases
			WHERE starter_id = ?1 AND state IN ('queued', 'active', 'suspended') AND id IN (SELECT value FROM json_each(?3)) GROUP BY route_id
			ON CONFLICT (starter_id, route_id) DO UPDATE SET n = open_cases.n + excluded.n`,
		`UPDATE open_cases SET n = n - (SELECT count(*) FROM cases
			WHERE starter_id = ?1 AND route_id = open_cases.route_id AND state IN ('queued', 'active', 'suspended') AND id IN (SELECT value FROM json_each(?3)))
			WHERE starter_id = ?1 AND ?2 <> 0`,
		`UPDATE cases SET starter_id = ?2 WHERE starter_id = ?1 AND id IN (SELECT value FROM json_each(?3))`,
	}
}

const (
	hasContents = `
		SELECT 1 WHERE EXISTS (SELECT 1 FROM documents WHERE parent_id = (SELECT id FROM documents WHERE context_id = ?1))
			OR EXISTS (SELECT 1 FROM documents WHERE author_id = ?1 AND parent_id IS NOT NULL AND id NOT IN (` + keptInFolders + `))
			OR EXISTS (SELECT 1 FROM attachments WHERE context_id = ?1 OR author_id = ?1)`
	moveDocuments = `
		UPDATE documents SET parent_id = (SELECT id FROM documents WHERE parent_id = (SELECT id FROM documents WHERE context_id = ?2) AND name = ?3)
		WHERE parent_id = (SELECT id FROM documents WHERE context_id = ?1)`
	// Versions follow the documents; of those that would meet another, the other stays.
	moveVersions = `
		UPDATE versions SET context_id = ?2, folder = ` + folderBelow + ` WHERE context_id = ?1 AND NOT EXISTS (
			SELECT 1 FROM versions other WHERE other.context_id = ?2 AND other.folder = ` + folderBelow + ` AND other.shown = versions.shown)`
	folderBelow  = `?3 || CASE WHEN versions.folder = '' THEN '' ELSE '/' || versions.folder END`
	hasDocuments = `SELECT 1 FROM documents WHERE parent_id = (SELECT id FROM documents WHERE context_id = ?1)`
	makeFolderOf = `
		INSERT INTO documents (parent_id, name, folder, author_id, revision, media_type, size, created, modified)
		SELECT id, ?3, 1, ?2, 1, '', 0, ?4, ?4 FROM documents WHERE context_id = ?2 AND ?1 <> 0`
)

// HasContents reports whether the party has documents, or attachments.
func (r partyReader) HasContents(id identity.ID) (bool, error) {
	var one int
	some, err := r.c.Row(hasContents, int64(id)).Scan(&one)
	return some, Failure("look for what a user or team has stored", err)
}

// HandOver gives what one party has to another one: routes, entries, names, what
// was stored before, attachments, and messages and documents as far as they count against a quota.
// Its documents come into a new folder of the other one's.
func (t partyWriter) HandOver(from, to identity.ID, folder store.NewFolder, cases []int64) error {
	const op = "hand over what a user or team has"
	t.c.memory.stamps.move()
	statements := handOver()
	if cases == nil {
		statements = append(statements, handOverAllCases)
	} else if err := t.HandOverCases(from, to, cases); err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := t.c.Exec(statement, int64(from), int64(to)); err != nil {
			return Failure(op, err)
		}
	}
	if _, err := t.c.Exec(moveVersions, int64(from), int64(to), folder.Name); err != nil {
		return Failure(op, err)
	}
	var one int
	some, err := t.c.Row(hasDocuments, int64(from)).Scan(&one)
	if err != nil || !some {
		return Failure(op, err)
	}
	t.c.try()
	_, err = t.c.Exec(makeFolderOf, int64(from), int64(to), folder.Name, folder.Now)
	if err = t.c.tried(err); isUnique(err) {
		return store.FolderTaken(folder.Name)
	} else if err != nil {
		return Failure(op, err)
	}
	_, err = t.c.Exec(moveDocuments, int64(from), int64(to), folder.Name)
	return Failure(op, err)
}

// HandOverCases makes one party the starter of those cases that another one has started.
func (t partyWriter) HandOverCases(from, to identity.ID, cases []int64) error {
	for _, id := range cases {
		t.touch(id)
	}
	for _, statement := range handOverSomeCases() {
		if _, err := t.c.Exec(statement, int64(from), int64(to), array(cases)); err != nil {
			return Failure("hand over cases", err)
		}
	}
	return nil
}
