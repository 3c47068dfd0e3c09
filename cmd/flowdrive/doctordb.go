package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"flowdrive/attach"
	"flowdrive/internal/errs"
	"flowdrive/store/postgres"
	"flowdrive/store/sqlite"
)

// clockApart is how far the clock of a node may be from the database's: two seconds are
// nothing that a person sees.
const clockApart = 2 * time.Second

// database looks at the database of --db, or at that in the data folder.
func (d *doctor) database(ctx context.Context) (string, error) {
	s := d.settings.database
	if s.address == "" {
		return d.databaseFile(ctx)
	}
	password, err := s.secret()
	if err != nil {
		return "", err
	}
	l, err := postgres.Look(ctx, postgres.Options{Address: s.address, Password: password, Node: "doctor", Answer: answerWithin, Now: time.Now})
	switch {
	case postgres.IsRefusal(err):
		return "", err
	case err != nil:
		return "", fmt.Errorf("%w; look whether it runs, at the names and ports in --db, and at the network", err)
	}
	return judgeDatabase(l)
}

// databaseFile looks whether the database in the data folder is there and can be read, and
// through its structure if it is not too large. It changes nothing: what a killed server
// has left is for the next start to judge.
func (d *doctor) databaseFile(ctx context.Context) (_ string, err error) {
	data := d.settings.data
	path := filepath.Join(data, databaseName)
	source, err := sqlite.OpenSource(ctx, path)
	switch {
	case errs.Is(err, errs.NotFound):
		return "", fmt.Errorf("there is none in %s; --data names the data folder, --db a PostgreSQL database", data)
	case errors.Is(err, sqlite.ErrEmpty):
		if err := refuseContents(data); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%s is empty; flowdrive restore makes a new data folder of a backup; if nothing was stored yet, the next \"flowdrive serve\" makes the tables", path)
	case err != nil:
		return "", explainDatabase(data, err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > quickCheckSize {
		return "", advice{fmt.Errorf("SQLite in the data folder; it has more than %d MiB and was not looked through; flowdrive check does that", quickCheckSize>>20)}
	}
	found, err := source.QuickCheck()
	if err != nil {
		return "", explainDatabase(data, err)
	}
	if found != "" {
		return "", damagedDatabase(path, found)
	}
	return "SQLite in the data folder, its structure is sound", nil
}

// judgeDatabase says what is good and what is to be done.
func judgeDatabase(l *postgres.Looked) (string, error) {
	var wrong []error
	if l.Schema > l.Newest {
		wrong = append(wrong, fmt.Errorf("it has schema version %d, this program knows %d; use the program that used it last", l.Schema, l.Newest))
	}
	if l.Unsafe != "" {
		wrong = append(wrong, fmt.Errorf("%s is off; what was acknowledged can be lost when its machine fails; set it to on", l.Unsafe))
	}
	if l.Ahead.Abs() > clockApart {
		wrong = append(wrong, fmt.Errorf("the clock of this machine is %s apart from the database's; let NTP keep both", l.Ahead.Abs()))
	}
	active, way := "the active node is "+l.Node, "the way to it is not encrypted"
	switch {
	case l.Schema == 0:
		active = `it is empty, the first "flowdrive serve" makes the tables`
	case l.Node == "":
		active = "no node is active"
	}
	if l.TLS {
		way = "the way to it is encrypted"
	}
	return fmt.Sprintf("PostgreSQL %s; %s; %s", l.Version, active, way), errors.Join(wrong...)
}

// place returns where contents lie.
func (d *doctor) place(ctx context.Context) (attach.Place, func() error, error) {
	nothing := func() error { return nil }
	s := d.settings.database
	if s.address == "" {
		place, err := placeOfContents(d.settings.data)
		return place, nothing, err
	}
	password, err := s.secret()
	if err != nil {
		return nil, nil, err
	}
	end := &copyEnd{at: s.address, password: password}
	w, err := end.where()
	if err != nil {
		return nil, nothing, err
	}
	l, err := postgres.Look(ctx, w.Postgres)
	if err != nil {
		return nil, nothing, errs.Wrap("look where contents lie", err)
	}
	if l.Schema == 0 {
		return nil, nothing, nil
	}
	return end.sharedPlace(ctx, w)
}
