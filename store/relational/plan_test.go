package relational_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"flowdrive/store/relational"
	"flowdrive/store/sqlite"
)

// TestNoStatementScansWhatGrows looks at how SQLite would run each statement: none goes through a
// table that grows, so that none costs more the more there is stored (P12).
func TestNoStatementScansWhatGrows(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "flowdrive.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	small := regexp.MustCompile(`^SCAN (json_each|parties|app_passwords|calendar_links|sessions|d$|days$|routes|scenarios|open_cases|audit_head|holds|sequence|along|owning|running|below|up|lanes|settings|newest|counted|there|CONSTANT ROW|\(subquery)`)
	byIndex := regexp.MustCompile(`^SCAN \S+ USING (COVERING )?INDEX`)
	for name, query := range relational.Statements() {
		for _, step := range plan(t, db, query) {
			limited := strings.Contains(query, "LIMIT") || name == "countRouteUses" || name == "selectHeads" || name == "landOutbox" /* few are under way */
			switch {
			case strings.HasPrefix(step, "SCAN") && small.MatchString(step):
			case byIndex.MatchString(step) && limited: // reads from the front of an index, as far as it needs
			case name == "countStates", name == "countLists", name == "countOutbox":
				// walk through indexes of what is open, for monitoring that asks once in a quarter of a minute
			case name == "sumStored": // has a row a user
			case name == "selectEndedOf": // sorts what has ended in the last days
			case name == "selectOfFailed": // sorts what is wrong with the cases of one schedule entry
			case name == "selectMessages", name == "selectDocumentsAlong", name == "selectLocksOn", name == "selectLocksBelow":
				// sorts the few of one case, of one path, of one resource, and of one kind
			case strings.HasPrefix(step, "SCAN"), strings.Contains(step, "TEMP B-TREE"):
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

var parameter = regexp.MustCompile(`\?(\d+)`)

// plan returns the steps of a statement.
func plan(t *testing.T, db *sqlite.DB, query string) (steps []string) {
	t.Helper()
	parameters := 0
	for _, m := range parameter.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		parameters = max(parameters, n)
	}
	err := db.ViewConn(t.Context(), func(c *relational.Conn) error {
		return c.Each("EXPLAIN QUERY PLAN "+query, func(scan relational.Scan) error {
			var id, parent, unused int
			var detail string
			err := scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
			return err
		}, make([]any, parameters)...)
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return steps
}
