package backup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Keep says which backups stay: the newest of each of so many days, weeks, months
// and years in which there is one. The zero value keeps all.
type Keep struct {
	Days, Weeks, Months, Years int
}

// ParseKeep reads a text such as "7d,4w,12m": numbers of days, weeks, months and
// years, each at most once. The error says what is wrong with it.
func ParseKeep(text string) (Keep, error) {
	var k Keep
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return k, errKeep(text)
		}
		n, err := strconv.Atoi(part[:len(part)-1])
		unit := map[byte]*int{'d': &k.Days, 'w': &k.Weeks, 'm': &k.Months, 'y': &k.Years}[part[len(part)-1]]
		if err != nil || unit == nil || n < 1 || n > 10000 || *unit != 0 {
			return k, errKeep(text)
		}
		*unit = n
	}
	return k, nil
}

func errKeep(text string) error {
	return fmt.Errorf("%q is not a list of days, weeks, months and years to keep, such as 7d,4w,12m or 2y", text)
}

// goes returns those of the backups, the oldest first, that need not stay. Days,
// weeks (from Monday), months and years are of UTC.
func (k Keep) goes(all []made) (out []made) {
	if k == (Keep{}) {
		return nil
	}
	rules := []struct {
		left   int
		period func(time.Time) string
		last   string
	}{
		{left: k.Days, period: func(t time.Time) string { return t.Format("2006-01-02") }},
		{left: k.Weeks, period: func(t time.Time) string { y, w := t.ISOWeek(); return fmt.Sprint(y, " ", w) }},
		{left: k.Months, period: func(t time.Time) string { return t.Format("2006-01") }},
		{left: k.Years, period: func(t time.Time) string { return t.Format("2006") }},
	}
	for i := len(all) - 1; i >= 0; i-- {
		stays := false
		for r := range rules {
			rule := &rules[r]
			period := rule.period(all[i].Instant.UTC())
			if rule.left > 0 && period != rule.last {
				rule.left, rule.last, stays = rule.left-1, period, true
			}
		}
		if !stays {
			out = append(out, all[i])
		}
	}
	return out
}

// thin removes the backups of the same data folder that need not stay, except the
// one that was just made, and returns their folders. Backups of others stay.
func thin(folder string, latest made, k Keep) (removed []string, err error) {
	all, err := list(folder)
	if err != nil {
		return nil, fmt.Errorf("list the backups in %s: %w", folder, err)
	}
	var ours []made
	for _, m := range all {
		if m.Host == latest.Host && m.Data == latest.Data {
			ours = append(ours, m)
		}
	}
	for _, m := range k.goes(ours) {
		if m.path == latest.path {
			continue // the clock was set back
		}
		if err := discard(m.path); err != nil {
			return removed, fmt.Errorf("remove the backup %s: %w", m.path, err)
		}
		removed = append(removed, m.path)
	}
	return removed, nil
}

// discard removes a backup. Its manifest goes first: what is left if that is
// interrupted is not a backup, and goes the next time.
func discard(path string) error {
	if err := os.Rename(filepath.Join(path, manifestName), filepath.Join(path, unfinishedName)); err != nil {
		return err
	}
	if err := syncFolder(path); err != nil {
		return err
	}
	return removeUnfinished(path)
}

// removeUnfinished removes a backup that has no manifest. What marks it as one of
// ours goes last, so that the rest can still go if that is interrupted.
func removeUnfinished(path string) error {
	return errors.Join(os.RemoveAll(filepath.Join(path, contentsName)), os.RemoveAll(path))
}

// clearUnfinished removes what backups that were killed have left in a folder.
func clearUnfinished(folder string) (removed []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if !e.IsDir() || !isFolderName(e.Name()) || !isUnfinished(path) {
			continue
		}
		if err := removeUnfinished(path); err != nil {
			return removed, fmt.Errorf("remove the unfinished backup %s: %w", path, err)
		}
		removed = append(removed, path)
	}
	return removed, nil
}

// isUnfinished reports whether a folder is a backup of ours that was not finished.
func isUnfinished(path string) bool {
	_, markErr := os.Lstat(filepath.Join(path, unfinishedName))
	_, manifestErr := os.Lstat(filepath.Join(path, manifestName))
	return markErr == nil && errors.Is(manifestErr, os.ErrNotExist)
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return cmp.Or(dir.Sync(), dir.Close())
}
