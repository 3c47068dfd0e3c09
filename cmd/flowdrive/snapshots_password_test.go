package main

import (
	"testing"

	"flowdrive/internal/pgtest"
)

// TestCommandsUseThePassword: commands that read a database log in with the password of the
// environment, as the server does.
func TestCommandsUseThePassword(t *testing.T) {
	t.Parallel()
	db := databaseSettings{address: pgtest.New(t)}
	startNode(t, db.address, "one").awaitReady(t)
	if err := db.password.Set("secret-word"); err != nil {
		t.Fatal(err)
	}
	s, err := openSnapshots(t.Context(), &db)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if got := s.where.Postgres.Password; got != "secret-word" {
		t.Errorf("it logs in with %q", got)
	}
}
