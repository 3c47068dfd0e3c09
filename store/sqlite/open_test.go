package sqlite

import (
	"regexp"
	"testing"

	"flowdrive/store/relational"
)

// TestNoSchemaLooksUpInLists wants no table, index or trigger of cases and occurrences to
// look anything up in a list of three or more, of which SQLite would build a
// tree each time one is written.
func TestNoSchemaLooksUpInLists(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	list := regexp.MustCompile(`IN \([^()]*,[^()]*,`)
	seen := 0
	err := db.ViewConn(t.Context(), func(c *relational.Conn) error {
		const query = `SELECT name, sql FROM sqlite_schema WHERE tbl_name IN ('cases', 'occurrences') AND sql IS NOT NULL`
		return c.Each(query, func(scan relational.Scan) error {
			var name, text string
			err := scan(&name, &text)
			if found := list.FindString(text); found != "" {
				t.Errorf("%s has a list: %s", name, found)
			}
			seen++
			return err
		})
	})
	if err != nil || seen < 20 {
		t.Errorf("%d parts of the schema were looked at: %v", seen, err)
	}
}

// TestVolatile: a database that is thrown away does not wait for the disk, and any other
// one does.
func TestVolatile(t *testing.T) {
	t.Parallel()
	for _, volatile := range []bool{false, true} {
		db := run(t, Options{Volatile: volatile})
		want := int64(2)
		if volatile {
			want = 0
		}
		var got int64
		if _, err := db.writer.Row("PRAGMA synchronous").Scan(&got); err != nil || got != want {
			t.Errorf("volatile %v: synchronous is %d, %v", volatile, got, err)
		}
	}
}
