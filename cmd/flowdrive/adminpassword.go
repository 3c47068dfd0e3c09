package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flowdrive/engine"
	"flowdrive/internal/password"
)

// adminCredential is the name of the credential of systemd with the password of a new
// data folder's admin.
const adminCredential = "admin-password"

const adminPasswordHelp = "The password of admin is the one in FLOWDRIVE_ADMIN_PASSWORD, in the file that\n" +
	"FLOWDRIVE_ADMIN_PASSWORD_FILE names, or in the credential admin-password of systemd. Else it is\n" +
	"made up and printed once.\n"

// givenPassword is the password that a first start finds for the user admin; both are
// empty if there is none.
type givenPassword struct{ text, from string }

// adminPasswordGiven reads it from where settings come from, except the configuration
// file: it counts once.
func adminPasswordGiven() (g givenPassword, err error) {
	const name = environmentPrefix + "ADMIN_PASSWORD"
	text, path := os.Getenv(name), os.Getenv(name+fileSuffix)
	credentials := os.Getenv(credentialsVariable)
	switch {
	case text != "" && path != "":
		return g, fmt.Errorf("%s and %s%s: give one of them", name, name, fileSuffix)
	case text != "":
		return givenPassword{text, name}, nil
	case path != "":
		g.from = name + fileSuffix
	case credentials != "":
		g.from, path = "the credential "+adminCredential, filepath.Join(credentials, adminCredential)
	default:
		return g, nil
	}
	g.text, err = readSecretFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && credentials != "" && path == filepath.Join(credentials, adminCredential):
		return givenPassword{}, nil
	case err != nil:
		return g, fmt.Errorf("%s: %w", g.from, err)
	case g.text == "":
		return g, fmt.Errorf("%s: there is no password in %s", g.from, path)
	}
	return g, nil
}

// notePasswordNotUsed says of a password for admin that is given to a later start that it
// counts at the first alone: it may have been changed in the belief that this changes the log-in.
func (a *app) notePasswordNotUsed() {
	if given, err := adminPasswordGiven(); err == nil && given.text != "" {
		a.log.Info().Str("from", given.from).Msg("settings: the password of admin is for the first start and is not used; \"flowdrive user passwd admin\" changes it")
	}
}

// adminPasswordFault says what is wrong with that password, or returns "".
func adminPasswordFault() string {
	given, err := adminPasswordGiven()
	if err != nil {
		return err.Error()
	}
	if given.text == "" {
		return ""
	}
	if fault := password.Fault(given.text, string(engine.Admin)); fault != "" {
		return given.from + ": the password of admin " + fault
	}
	return ""
}
