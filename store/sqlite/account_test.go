package sqlite

import (
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/errs"
	"flowdrive/identity"
)

func appPasswords(tb testing.TB, db *DB) (all []engine.AppPassword) {
	tb.Helper()
	mustView(tb, db, func(r engine.Reader) (err error) {
		all, err = r.AppPasswords()
		return err
	})
	return all
}

func TestAppPasswords(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	phone := engine.AppPassword{UserID: sam, Label: "Phone", SHA256: engine.Digest{1}, Created: noon()}
	theirs := engine.AppPassword{UserID: ann, Label: "phone", SHA256: engine.Digest{2}, Created: noon(), LastUsed: noon()}
	mustUpdate(t, db, func(tx engine.Tx) error {
		if err := tx.InsertAppPassword(&phone); err != nil {
			return err
		}
		return tx.InsertAppPassword(&theirs)
	})
	same(t, "stored", []engine.AppPassword{phone, theirs}, appPasswords(t, db))

	for name, p := range map[string]engine.AppPassword{
		"a label in use, but for case": {UserID: sam, Label: "pHONE", SHA256: engine.Digest{3}, Created: noon()},
		"a secret in use":              {UserID: sam, Label: "tablet", SHA256: engine.Digest{1}, Created: noon()},
	} {
		err := db.Update(t.Context(), func(tx engine.Tx) error { return tx.InsertAppPassword(&p) })
		kind(t, name, err, errs.NameTaken)
	}

	phone.LastUsed = noon().Add(time.Hour)
	mustUpdate(t, db, func(tx engine.Tx) error { return tx.TouchAppPassword(phone.ID, phone.LastUsed) })
	same(t, "used", []engine.AppPassword{phone, theirs}, appPasswords(t, db))

	mustUpdate(t, db, func(tx engine.Tx) error { return tx.DeleteAppPassword(phone.ID) })
	same(t, "revoked", []engine.AppPassword{theirs}, appPasswords(t, db))
	for name, f := range map[string]func(engine.Tx) error{
		"revoked twice":         func(tx engine.Tx) error { return tx.DeleteAppPassword(phone.ID) },
		"used when revoked":     func(tx engine.Tx) error { return tx.TouchAppPassword(phone.ID, noon()) },
		"of a user who is gone": func(tx engine.Tx) error { return tx.DeleteParty(99) },
	} {
		kind(t, name, db.Update(t.Context(), f), errs.NotFound)
	}

	mustUpdate(t, db, func(tx engine.Tx) error { return tx.DeleteParty(ann) })
	same(t, "gone with the user", []engine.AppPassword(nil), appPasswords(t, db))
}

func TestDeputies(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	addUser(t, db, "Ann")
	sam := engine.Party{
		Party: identity.Party{
			ID: identity.ID(db.NextID()), Name: "sam", Kind: identity.User,
			Deputy: identity.Deputy{User: "Ann", From: noon(), To: noon().Add(time.Hour)},
		},
		Created: noon(), Modified: noon(),
	}
	mustUpdate(t, db, func(tx engine.Tx) error { return tx.PutParty(&sam) })
	all := parties(t, db)
	same(t, "stored", sam, all[1])
	err := db.Update(t.Context(), func(tx engine.Tx) error { return tx.DeleteParty(all[0].ID) })
	kind(t, "deleting a deputy", err, errs.InUse)

	for name, wrong := range map[string]identity.Deputy{
		"nobody":         {User: "nobody", From: noon(), To: noon().Add(time.Hour)},
		"no end":         {User: "Ann", From: noon()},
		"no time at all": {User: "Ann", From: noon(), To: noon()},
	} {
		p := sam
		p.Deputy = wrong
		if err := db.Update(t.Context(), func(tx engine.Tx) error { return tx.PutParty(&p) }); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
	sam.Deputy = identity.Deputy{}
	mustUpdate(t, db, func(tx engine.Tx) error { return tx.PutParty(&sam) })
	same(t, "taken away", sam, parties(t, db)[1])
	mustUpdate(t, db, func(tx engine.Tx) error { return tx.DeleteParty(all[0].ID) })
}
