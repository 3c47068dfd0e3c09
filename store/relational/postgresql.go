package relational

import (
	"regexp"
	"strings"
)

// rewriting is something that PostgreSQL says in other words than SQLite.
type rewriting struct {
	from *regexp.Regexp
	to   string
}

// rewritings are applied in order. Lists of numbers and of texts are JSON arrays.
func rewritings() []rewriting {
	r := func(from, to string) rewriting { return rewriting{regexp.MustCompile(from), to} }
	const elements = `json_array_elements_text($1::json)`
	return []rewriting{
		r(` INDEXED BY \w+`, ``),
		r(`CROSS JOIN (\w+ \w+ ON)`, `JOIN $1`),
		r(`\bhex\((\w+)\)`, `encode($1, 'hex')`),

		// A list as an array is looked up in an index; as a query it is joined, and how
		// long it is is guessed.
		r(`NOT IN \(SELECT CAST\(value AS TEXT\) FROM json_each\(([^()]+)\)\)`, `<> ALL (ARRAY(SELECT value FROM `+elements+`))`),
		r(`IN \(SELECT CAST\(value AS TEXT\) FROM json_each\(([^()]+)\)\)`, `= ANY (ARRAY(SELECT value FROM `+elements+`))`),
		r(`IN \(SELECT unhex\(value\) FROM json_each\(([^()]+)\)\)`, `= ANY (ARRAY(SELECT decode(value, 'hex') FROM `+elements+`))`),
		r(`NOT IN \(SELECT value FROM json_each\(([^()]+)\)\)`, `<> ALL (ARRAY(SELECT value::bigint FROM `+elements+`))`),
		r(`IN \(SELECT value FROM json_each\(([^()]+)\)\)`, `= ANY (ARRAY(SELECT value::bigint FROM `+elements+`))`),
		r(`NOT IN \(SELECT value ->> 0 FROM json_each\(([^()]+)\)\)`, `<> ALL (ARRAY(SELECT (value ->> 0)::bigint FROM json_array_elements($1::json)))`),
		r(`SELECT value ->> 0, (\?\d+), value ->> 1 FROM json_each\(([^()]+)\)`, `SELECT (value ->> 0)::bigint, $1, (value ->> 1)::bigint FROM json_array_elements($2::json)`),
		r(`json_each\(([^()]+)\)`, `LATERAL (SELECT value::bigint AS value FROM `+elements+`) AS each_of`),

		r(`json_extract\((\?\d+), '\$\[' \|\| depth \|\| '\]'\)`, `($1::json ->> depth)`),
		r(`json_array_length\((\?\d+)\)`, `json_array_length($1::json)`),
		r(`CAST\((marking|form|entries|data|request) AS TEXT\)`, `convert_from($1, 'UTF8')`),

		// What is beyond a limit of a recursion is not looked for either if the limit
		// stands around it.
		r(`(?s)\n\t\t\tLIMIT (\?\d+)\n\t\t\)(.*)below JOIN documents doc ON doc\.id = below\.id`,
			")$2(SELECT id FROM below LIMIT $1) AS below JOIN documents doc ON doc.id = below.id"),

		r(`\?(\d+)`, `$$$1`),
	}
}

// PostgreSQLText returns what translates a statement into the words of PostgreSQL.
func PostgreSQLText() func(query string) string {
	all := rewritings()
	return func(query string) string {
		for _, r := range all {
			query = r.from.ReplaceAllString(query, r.to)
		}
		return strings.TrimSpace(query)
	}
}
