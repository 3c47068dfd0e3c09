package status

import (
	"fmt"
	"time"

	"flowdrive/internal/plaintext"
)

// UserUsage is what one user holds, as Admin/Usage.txt says it.
type UserUsage struct {
	User      string
	Disabled  bool
	Bytes     int64
	Quota     int64
	Temporary int64 // of the bytes, those of side files and of what was refused
	Files     int64
	OpenCases int64
	Entries   int64
	Routes    int64
	LastSeen  time.Time // zero: not known
}

// UsageText says who holds how much.
func UsageText(users []UserUsage, zone Zone) []byte {
	var p page
	p.line("Who holds how much. A quota counts bytes; files are documents and folders.")
	p.heading("Users")
	rows := make([][]string, 0, len(users)+1)
	rows = append(rows, []string{"user", "holds", "of", "", "temporary", "files", "open cases", "entries", "routes", "last seen"})
	for i := range users {
		u := &users[i]
		name, seen := u.User, "not known"
		if u.Disabled {
			name += " (disabled)"
		}
		if !u.LastSeen.IsZero() {
			seen = zone.Minute(u.LastSeen)
		}
		rows = append(rows, []string{
			name, plaintext.Size(u.Bytes), plaintext.Size(u.Quota), fmt.Sprintf("%d %%", percent(u.Bytes, u.Quota)), plaintext.Size(u.Temporary),
			fmt.Sprint(u.Files), fmt.Sprint(u.OpenCases), fmt.Sprint(u.Entries), fmt.Sprint(u.Routes), seen,
		})
	}
	p.table(rows, "")
	return p.bytes()
}

// percent returns how much of a bound is used, rounded down.
func percent(used, bound int64) int64 {
	if bound <= 0 {
		return 0
	}
	return int64(float64(used) * 100 / float64(bound))
}
