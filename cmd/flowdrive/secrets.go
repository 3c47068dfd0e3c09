package main

import (
	"maps"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/notify"
)

// boundSecret is a secret as the settings have it.
type boundSecret struct {
	text    string
	binding notify.Binding
}

// secretsOf returns the secrets of the settings and of the environment, and what each may
// be used for.
func secretsOf(given map[string]boundSecret, environment []string) (notify.Secrets, error) {
	texts, bindings := map[string]string{}, map[string]notify.Binding{}
	for name, secret := range given {
		texts[name], bindings[name] = secret.text, secret.binding
	}
	secrets, err := notify.ParseSecrets(withEnvironment(texts, environment))
	return secrets.Bound(bindings), err
}

// readBoundSecret reads a secret: as readSecret does, or with what it may be used for
// beside the value or file. The value may come from the environment instead.
func readBoundSecret(v document.Value) (s boundSecret) {
	if v.Node == nil || v.Node.Kind != document.Object {
		s.text = readSecret(v)
		return s
	}
	v.Only("value", "file", "hosts", "mail", "authors", "routes")
	value, file := v.Get("value"), v.Get("file")
	switch {
	case value.Given() && file.Given():
		file.Fail(errs.CodeFormat, "must not stand beside value")
	case value.Given():
		s.text, _ = value.Str()
	case file.Given():
		s.text = readFileAt(file)
	}
	var err error
	if s.binding.Hosts, err = notify.ParseHosts(readTexts(v.Get("hosts"), nil)); err != nil {
		v.Get("hosts").Fail(errs.CodeFormat, "%v", err)
	}
	if s.binding.Mail, err = notify.ParseReaders(readTexts(v.Get("mail"), nil)); err != nil {
		v.Get("mail").Fail(errs.CodeFormat, "%v", err)
	}
	for _, name := range readTexts(v.Get("authors"), nil) {
		s.binding.Authors = append(s.binding.Authors, identity.Name(strings.TrimPrefix(name, "team:")))
	}
	s.binding.Routes = readTexts(v.Get("routes"), nil)
	for _, list := range []string{"hosts", "mail", "authors", "routes"} {
		if at := v.Get(list); at.Given() && at.Node.Kind == document.List && len(at.Node.Items) == 0 {
			at.Fail(errs.CodeRange, "must not be an empty list; leave it out to allow all")
		}
	}
	return s
}

// secretVariable begins the names of variables of the environment that are secrets.
const secretVariable = environmentPrefix + "SECRET_"

// withEnvironment adds the secrets of the environment to those of the settings, as
// FLOWDRIVE_SECRET_SLACK for slack. The environment wins, as everywhere.
func withEnvironment(secrets map[string]string, environment []string) map[string]string {
	out := maps.Clone(secrets)
	if out == nil {
		out = map[string]string{}
	}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		folded, isSecret := strings.CutPrefix(name, secretVariable)
		if !isSecret || folded == "" {
			continue
		}
		maps.DeleteFunc(out, func(known, _ string) bool { return notify.FoldSecret(known) == folded })
		out[strings.ToLower(folded)] = value
	}
	return out
}
