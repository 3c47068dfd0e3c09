package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"flowdrive/internal/document"
)

// readableSecrets says which secrets stand in a configuration file that every user of the
// machine can read, "" for none.
func readableSecrets(flags *pflag.FlagSet) string {
	path, _ := configPath(flags)
	if path == "" {
		return ""
	}
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm()&0o004 == 0 {
		return "" // what cannot be read is a fault of its own
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if isSecret(f) && strings.HasPrefix(originOf(f), path+":") && isWritten(f.Value) {
			names = append(names, f.Name)
		}
	})
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has secrets (%s), and every user of the machine can read it: chmod o= %[1]s, or name files with them", path, strings.Join(names, ", "))
}

// isWritten reports whether a value itself is a secret, and does not name a file with it.
func isWritten(v pflag.Value) bool {
	m, isMap := v.(*mapFlag)
	if !isMap {
		return true
	}
	return m.node != nil && m.node.Kind == document.Object && slices.ContainsFunc(m.node.Members, func(member document.Member) bool {
		value := member.Value
		return value.Kind != document.Object || slices.ContainsFunc(value.Members, func(of document.Member) bool { return of.Key == "value" })
	})
}
