package relational_test

import (
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	for i, what := range []store.SecretKind{store.AppPassword, store.CalendarLink} {
		sam, ann := addUser(t, db, identity.Name("sam"+string(rune('0'+i)))), addUser(t, db, identity.Name("ann"+string(rune('0'+i))))
		secrets := func() (all []store.Secret) {
			t.Helper()
			mustView(t, db, func(r store.Reader) (err error) {
				all, err = r.Parties().Secrets(what)
				return err
			})
			return all
		}
		phone := store.Secret{UserID: sam, Label: "Phone", SHA256: store.Digest{1}, Created: noon()}
		theirs := store.Secret{UserID: ann, Label: "phone", SHA256: store.Digest{2}, Created: noon(), LastUsed: noon()}
		mustUpdate(t, db, func(tx store.Tx) error {
			if err := tx.Write().Parties().InsertSecret(what, &phone); err != nil {
				return err
			}
			return tx.Write().Parties().InsertSecret(what, &theirs)
		})
		same(t, "stored", []store.Secret{phone, theirs}, secrets())

		for name, s := range map[string]store.Secret{
			"a label in use, but for case": {UserID: sam, Label: "pHONE", SHA256: store.Digest{3}, Created: noon()},
			"a secret in use":              {UserID: sam, Label: "tablet", SHA256: store.Digest{1}, Created: noon()},
		} {
			err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().InsertSecret(what, &s) })
			kind(t, name, err, errs.NameTaken)
		}

		phone.LastUsed = noon().Add(time.Hour)
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().TouchSecret(what, phone.ID, phone.LastUsed) })
		same(t, "used", []store.Secret{phone, theirs}, secrets())

		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().DeleteSecret(what, phone.ID) })
		same(t, "revoked", []store.Secret{theirs}, secrets())
		for name, f := range map[string]func(store.Tx) error{
			"revoked twice":         func(tx store.Tx) error { return tx.Write().Parties().DeleteSecret(what, phone.ID) },
			"used when revoked":     func(tx store.Tx) error { return tx.Write().Parties().TouchSecret(what, phone.ID, noon()) },
			"of a user who is gone": func(tx store.Tx) error { return tx.Write().Parties().Delete(99) },
		} {
			kind(t, name, db.Update(t.Context(), f), errs.NotFound)
		}

		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().Delete(ann) })
		same(t, "gone with the user", []store.Secret(nil), secrets())
	}
}

func TestDeputies(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	addUser(t, db, "Ann")
	sam := store.Party{
		Party: identity.Party{
			ID: identity.ID(db.NextID()), Name: "sam", Kind: identity.User,
			Deputy: identity.Deputy{User: "Ann", From: noon(), To: noon().Add(time.Hour)},
		},
		Created: noon(), Modified: noon(),
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().Put(&sam) })
	all := parties(t, db)
	same(t, "stored", sam, all[1])
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().Delete(all[0].ID) })
	kind(t, "deleting a deputy", err, errs.InUse)

	for name, wrong := range map[string]identity.Deputy{
		"nobody":         {User: "nobody", From: noon(), To: noon().Add(time.Hour)},
		"no end":         {User: "Ann", From: noon()},
		"no time at all": {User: "Ann", From: noon(), To: noon()},
	} {
		p := sam
		p.Deputy = wrong
		if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().Put(&p) }); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
	sam.Deputy = identity.Deputy{}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().Put(&sam) })
	same(t, "taken away", sam, parties(t, db)[1])
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().Delete(all[0].ID) })
}
