package backup

import (
	"errors"
	"io/fs"
	"time"
)

// Latest returns the instant of the newest complete backup of the data folder that is in
// the folder of backups, zero if there is none.
func Latest(c Config) (time.Time, error) {
	data, err := realPath(c.Data)
	if err != nil {
		return time.Time{}, err
	}
	all, err := list(c.To)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	var latest time.Time
	for _, m := range all {
		if m.Host == c.Host && m.Data == data && len(m.Missing) == 0 {
			latest = m.Instant
		}
	}
	return latest, err
}
