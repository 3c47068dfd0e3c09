package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/store/backup"
)

// backupAt is when backups are made if it is not said.
const backupAt = "0 3 * * *"

// backupSettings are the flags of serve that make the server back itself up.
type backupSettings struct {
	to   string
	at   string
	keep string
}

// read returns what the settings say; nil if the server makes no backups.
func (s *backupSettings) read() (cron.Schedule, backup.Keep, error) {
	var wrong []error
	if s.to == "" && s.keep != "" {
		wrong = append(wrong, configError{errors.New("--backup-keep has no effect without --backup-to")})
	}
	if s.to == "" && s.at != "" && s.at != backupAt {
		wrong = append(wrong, configError{errors.New("--backup-at has no effect without --backup-to")})
	}
	line := s.at
	if s.to == "" {
		line = cmp.Or(line, backupAt) // commands without these flags have ""
	}
	at, err := cron.ParseStandard(line)
	if err != nil {
		wrong = append(wrong, configError{fmt.Errorf("--backup-at: %q is not a crontab line such as %q", s.at, backupAt)})
	}
	var keep backup.Keep
	if s.keep != "" {
		if keep, err = backup.ParseKeep(s.keep); err != nil {
			wrong = append(wrong, configError{fmt.Errorf("--backup-keep: %w", err)})
		}
	}
	if err := errors.Join(wrong...); err != nil || s.to == "" {
		return nil, backup.Keep{}, err
	}
	return at, keep, nil
}

// folderErr says why no backup can be made in the folder of the settings; nil if there are to
// be none. A server starts all the same: the disk of its backups may be mounted later.
func (s *backupSettings) folderErr(data string) error {
	if s.to == "" {
		return nil
	}
	if err := backup.CheckTo(data, s.to); err != nil {
		return configError{fmt.Errorf("--backup-to: %w", err)}
	}
	return nil
}

// backups makes the backups of a running server.
type backups struct {
	config backup.Config
	at     cron.Schedule
	log    zerolog.Logger
	now    func() time.Time

	last    atomic.Int64 // when the last good one was, in seconds since 1970, 0: there is none
	failed  atomic.Bool  // the last try
	looking atomic.Bool  // the folder is being looked at for an answer
	since   time.Time    // of what is not in a backup: the last good one, or the start
	overdue atomic.Bool  // it was said that the last good one is too old
	reason  string       // why the last try has failed, "" if it has not

	note func(engine.ServerPart, string) // tells administrators
}

// newBackups returns nil if the settings ask for none.
func (a *app) newBackups(registry *prometheus.Registry) (*backups, error) {
	at, keep, err := a.settings.backup.read()
	if at == nil || err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the name of this machine: %w", err)
	}
	zone := new(clock.Zones).Zone(a.settings.timezone)
	b := &backups{
		config: backup.Config{Data: a.settings.data, Place: a.contents, To: a.settings.backup.to, Version: version(), Host: host, Keep: keep, Now: time.Now},
		at:     at, log: a.log, now: func() time.Time { return time.Now().In(zone) },
		note: a.told.note,
	}
	b.since = b.now()
	if last, err := backup.Latest(b.config); err == nil && !last.IsZero() {
		b.last.Store(last.Unix())
		b.since = last
	}
	good := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_backup_last_success_timestamp_seconds", Help: "Instant of the last good backup, 0 for none.",
	}, func() float64 { return float64(b.last.Load()) })
	failed := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_backup_failed", Help: "1 if the last try to make a backup has failed.",
	}, func() float64 {
		if b.failed.Load() {
			return 1
		}
		return 0
	})
	return b, errors.Join(registry.Register(good), registry.Register(failed))
}

// mostWait is how long is waited at most before the clock is looked at again: the
// machine's clock may be set, and the machine may sleep.
const mostWait = time.Minute

// run makes backups until ctx ends. Without settings for them it does nothing.
func (b *backups) run(ctx context.Context) error {
	if b == nil {
		return nil
	}
	next := b.at.Next(b.now())
	for {
		timer := time.NewTimer(min(mostWait, max(0, next.Sub(b.now()))))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		now := b.now()
		b.noteLate(now)
		if now.Before(next) {
			continue
		}
		b.make(ctx)
		next = b.at.Next(b.now())
	}
}

// make makes one backup, and says in the log how it went.
func (b *backups) make(ctx context.Context) {
	r, err := b.try(ctx)
	if ctx.Err() != nil {
		return // the server stops
	}
	if err != nil {
		b.failed.Store(true)
		b.log.Error().Err(err).Msg("backup: it was not made, or is not complete")
		b.reason = err.Error()
		b.note(engine.ServerBackup, "it was not made, or is not complete: "+b.reason)
		return
	}
	if b.failed.Swap(false) || b.overdue.Load() {
		b.log.Info().Msg("backup: they are made again")
	}
	b.note(engine.ServerBackup, "")
	b.since, b.reason = r.Instant, ""
	b.overdue.Store(false)
	b.last.Store(r.Instant.Unix())
	b.log.Info().Str("path", r.Path).Int64("bytes", r.Bytes).Int("files", len(r.Files)).Int("linked", r.Linked).Strs("removed", r.Removed).Msg("backup: made")
}

// try makes one backup where the earlier ones are, and remembers that it is there.
func (b *backups) try(ctx context.Context) (*backup.Result, error) {
	if err := earlierThere(b.config); err != nil {
		return nil, err
	}
	r, err := backup.Make(ctx, b.config)
	if err == nil {
		err = missingContents(r.Manifest)
	}
	if err != nil {
		return nil, err
	}
	if err := b.remember(r.Instant); err != nil {
		b.log.Warn().Err(err).Msg("backup: where it was made could not be noted")
	}
	return r, nil
}

// backedUpName is a file of the data folder that says where the last automatic backup is.
const backedUpName = "backed-up"

// backedUp is what that file says. A copy of the data folder elsewhere has other backups,
// and a container is another host at each start.
type backedUp struct {
	Data    string    `json:"data"`
	To      string    `json:"to"`
	Host    string    `json:"host"`
	Instant time.Time `json:"instant"`
}

// earlierThere refuses a folder that has none of the backups which were made there: most
// likely its disk is not mounted. A backup would lie on the disk of the data folder then,
// and nobody would learn that the others are not there.
func earlierThere(c backup.Config) error {
	content, err := os.ReadFile(filepath.Join(c.Data, backedUpName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var last backedUp
	if err == nil {
		err = json.Unmarshal(content, &last)
	}
	if err != nil {
		return fmt.Errorf("read where the last backup was made: %w", err)
	}
	if !backup.SameFolder(last.To, c.To) || !backup.SameFolder(last.Data, c.Data) {
		return nil
	}
	for _, host := range []string{c.Host, last.Host} {
		of := c
		of.Host = host
		latest, err := backup.Latest(of)
		if err != nil {
			return fmt.Errorf("look for the earlier backups: %w", err)
		}
		if !latest.IsZero() {
			return nil
		}
	}
	return fmt.Errorf("%[1]s has none of the backups that were made there, the last one at %[2]s: mount its disk, or make one by hand if they were removed: flowdrive backup %[1]s --data %[3]s",
		c.To, last.Instant.UTC().Format(time.RFC3339), c.Data)
}

// remember notes where the last backup was made.
func (b *backups) remember(at time.Time) error {
	path, note := filepath.Join(b.config.Data, backedUpName), backedUp{b.config.Data, b.config.To, b.config.Host, at}
	if err := os.WriteFile(path+".new", document.Line(&note), 0o600); err != nil {
		return fmt.Errorf("note where the backup was made: %w", err)
	}
	return os.Rename(path+".new", path)
}

// noteLate says once if the last good backup is two periods old, also if it was made by
// hand. A folder that cannot be read has none.
func (b *backups) noteLate(now time.Time) {
	if !b.at.Next(b.at.Next(b.since)).Before(now) {
		return
	}
	if last, err := backup.Latest(b.config); err == nil && last.After(b.since) && !b.at.Next(b.at.Next(last)).Before(now) {
		b.since = last // made by hand
		b.last.Store(last.Unix())
		if b.overdue.Swap(false) {
			b.note(engine.ServerBackup, "")
		}
		return
	}
	if b.overdue.Load() {
		return
	}
	b.overdue.Store(true)
	b.log.Error().Time("last", b.since).Msg("backup: the last good one is more than two periods old")
	text := "the last good one is more than two periods old: " + b.since.UTC().Format(time.RFC3339)
	if b.last.Load() == 0 {
		text = "none was made for more than two periods: since " + b.since.UTC().Format(time.RFC3339)
	}
	if b.reason != "" {
		text += ". The last try failed: " + b.reason
	}
	b.note(engine.ServerBackup, text)
}
