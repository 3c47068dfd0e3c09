package main

import (
	"bytes"
	"database/sql" //nolint:depguard // it changes what Flowdrive never would
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuditVerifyNamesTheLine: who can write to the database takes lines out, or has them
// change places. The first line, in the order of the numbers, of which that is so is named.
func TestAuditVerifyNamesTheLine(t *testing.T) {
	t.Parallel()
	const nth = `(SELECT start FROM audit ORDER BY day, start LIMIT 1 OFFSET %d)`
	at := func(n int) string { return fmt.Sprintf(nth, n) }
	for name, test := range map[string]struct{ change, want string }{
		"nothing":               {"SELECT 1", ""},
		"the first line":        {"DELETE FROM audit WHERE start = " + at(0), "line 1 is not there"},
		"a line between":        {"DELETE FROM audit WHERE start = " + at(2), "line 3 is not there"},
		"two lines":             {"DELETE FROM audit WHERE start IN (" + at(1) + ", " + at(3) + ")", "line 2 is not there"},
		"the end":               {"DELETE FROM audit WHERE start >= " + at(3), "line 4 is not there, nor any after it"},
		"that two change place": {"CREATE TEMP TABLE o AS SELECT start, line FROM audit; UPDATE audit SET line = (SELECT line FROM o WHERE o.start = CASE audit.start WHEN " + at(1) + " THEN " + at(3) + " ELSE " + at(1) + " END) WHERE start IN (" + at(1) + ", " + at(3) + ")", "line 2 (Admin/Audit/2012-11-09.jsonl, byte "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var path string
			withServer(t, func(s *inProcess) {
				path = filepath.Join(s.settings.data, databaseName)
				for i := range 4 {
					s.must("PUT", fmt.Sprintf("/dav/Admin/Users/user-%d.json", i), fmt.Sprintf(`{"password": "a long password %s"}`, strings.Repeat("x", i)))
				}
			})
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), test.change); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err = verifyAudit(t.Context(), path, nil, &out)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), "not as it was written: "+test.want) {
				t.Errorf("%v %s; want %q", err, out.String(), test.want)
			}
			if strings.HasSuffix(test.want, "is not there") && !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%v; others are there", err)
			}
		})
	}
}
