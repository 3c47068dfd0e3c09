package relational

// Fault is something in a database that is not as it should be.
type Fault struct {
	What string // such as "a reference to nothing"
	Row  string // where: the table and its key, or what is known of it
}

// consistencyRules are what must hold between the rows of the tables: each query
// finds what breaks it.
func consistencyRules() []struct{ what, query string } {
	return []struct{ what, query string }{
		{"an access row too many", `
			SELECT case_id || ' ' || party_id FROM case_access
			EXCEPT SELECT cases.id || ' ' || value FROM cases, json_each(cases.access) WHERE archived IS NULL`},
		{"an access row too few", `
			SELECT cases.id || ' ' || value FROM cases, json_each(cases.access) WHERE archived IS NULL
			EXCEPT SELECT case_id || ' ' || party_id FROM case_access`},
		{"an access row of the archive too many", `
			SELECT case_id || ' ' || party_id || ' ' || month FROM archive_access
			EXCEPT SELECT cases.id || ' ' || value || ' ' || archived FROM cases, json_each(cases.access)`},
		{"an access row of the archive too few", `
			SELECT cases.id || ' ' || value || ' ' || archived FROM cases, json_each(cases.access) WHERE archived IS NOT NULL
			EXCEPT SELECT case_id || ' ' || party_id || ' ' || month FROM archive_access`},
		{"a task or a name in the archive", `
			SELECT id FROM cases WHERE archived IS NOT NULL AND (named = 1 OR id IN (
				SELECT case_id FROM tasks UNION ALL SELECT case_id FROM route_tasks UNION ALL SELECT case_id FROM given_names))`},
		{"an archived case that is open", `SELECT id FROM cases WHERE archived IS NOT NULL AND state IN ('queued', 'active', 'suspended')`},
		{"a wrong count of open cases", `
			SELECT starter_id || ' ' || route_id || ' ' || n FROM open_cases
			WHERE n <> (SELECT count(*) FROM cases c WHERE c.starter_id = open_cases.starter_id
				AND c.route_id = open_cases.route_id AND c.state IN ('queued', 'active', 'suspended'))`},
		{"a wrong count of references to a content", `
			SELECT hex(sha256) || ' ' || sum(n) FROM (
				SELECT sha256, refs AS n FROM blobs
				UNION ALL SELECT sha256, -1 FROM messages WHERE content IS NULL
				UNION ALL SELECT sha256, -1 FROM attachments
				UNION ALL SELECT sha256, -1 FROM documents WHERE folder = 0 AND content IS NULL
				UNION ALL SELECT sha256, -1 FROM scratch WHERE content IS NULL
			) AS parts GROUP BY sha256 HAVING sum(n) <> 0`},
		{"a wrong count of stored bytes", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, n FROM stored_bytes
				UNION ALL SELECT author_id, -size FROM attachments
				UNION ALL SELECT author_id, -size - coalesce(octet_length(properties), 0) FROM documents
				UNION ALL SELECT author_id, -size FROM messages WHERE author_id <> 0
				UNION ALL SELECT author_id, -size FROM scratch
				UNION ALL SELECT author_id, -length(source) FROM history
				UNION ALL SELECT starter_id, -((octet_length(form) + octet_length(marking) + log_bytes) / 4096 * 4096) FROM cases
				UNION ALL SELECT author_id, -(octet_length(form) / 4096 * 4096) FROM entries
				UNION ALL SELECT author_id, -((octet_length(source) + octet_length(form)) / 4096 * 4096) FROM route_versions WHERE author_id <> 0
			) AS parts GROUP BY author_id HAVING sum(n) <> 0`},
		{"a wrong count of files", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, files AS n FROM stored_bytes
				UNION ALL SELECT author_id, -1 FROM documents WHERE context_id IS NULL
			) AS parts GROUP BY author_id HAVING sum(n) <> 0`},
		{"a wrong count of scratch", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, n FROM scratch_bytes
				UNION ALL SELECT author_id, -size - 4096 FROM scratch
			) AS parts GROUP BY author_id HAVING sum(n) <> 0`},
		{"a document in what is not a folder", `
			SELECT d.id FROM documents d JOIN documents above ON above.id = d.parent_id WHERE above.folder = 0`},
		{"a version that lies in a folder", `
			SELECT id FROM versions JOIN documents USING (id) WHERE past = 0 OR parent_id IS NOT NULL`},
		{"a past document that is not a version", `
			SELECT id FROM documents WHERE past = 1 EXCEPT SELECT id FROM versions`},
		{"a user or team without a root", `
			SELECT id FROM parties EXCEPT SELECT context_id FROM documents`},
		{"an alias that does not follow its case", `
			SELECT aliases.name FROM aliases JOIN cases ON cases.id = case_id
			WHERE aliases.open <> cases.open`},
		{"an id beyond the sequence", `
			SELECT id FROM (SELECT id FROM cases UNION ALL SELECT id FROM routes UNION ALL SELECT id FROM parties) AS given
			WHERE id >= (SELECT next FROM sequence)`},
	}
}

// Check calls f for each rule between the rows that is broken. It returns f's error.
func (s *Source) Check(f func(Fault) error) error {
	for _, rule := range consistencyRules() {
		if err := s.Find(rule.what, rule.query, f); err != nil {
			return Failure("check the database", err)
		}
	}
	return nil
}

// Find calls f for each line that the query yields, as a fault of that kind.
func (s *Source) Find(what, query string, f func(Fault) error) error {
	return s.c.Each(`WITH found (line) AS (`+query+`) SELECT coalesce(CAST(line AS TEXT), '') FROM found`, func(scan Scan) error {
		fault := Fault{What: what}
		if err := scan(&fault.Row); err != nil {
			return err
		}
		return f(fault)
	})
}
