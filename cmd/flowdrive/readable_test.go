package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadableSecrets: secrets in a configuration file that everybody can read are said by
// config check and doctor, and in the log of a start.
func TestReadableSecrets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		mode os.FileMode
		says string
	}{
		{"secrets: {tok: abc}", 0o644, "(secrets)"},
		{"secrets: {tok: {value: abc, hosts: [x.example.org]}}", 0o644, "(secrets)"},
		{"secrets: {tok: {file: TOK}}", 0o644, ""},
		{"secrets: {tok: abc}", 0o640, ""},
		{"smtp: smtp://me@mail.example.org\nmail-from: me@example.org\nsmtp-password: abc", 0o644, "(smtp-password)"},
		{"timezone: Europe/Berlin", 0o644, ""},
	} {
		folder := t.TempDir()
		tok, path := filepath.Join(folder, "tok"), filepath.Join(folder, "flowdrive.yaml")
		for name, content := range map[string]string{tok: "abc", path: strings.Replace(test.text, "TOK", tok, 1)} {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		cmd := childProcess(t, "flowdrive", "config", "check", path)
		cmd.Env = environment()
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "abc") || strings.Contains(string(out), "every user") != (test.says != "") || !strings.Contains(string(out), test.says) {
			t.Errorf("%s, %o: %v, %s", test.text, test.mode, err, out)
		}
		if test.says == "" {
			continue
		}
		cmd = childProcess(t, "flowdrive", "doctor", "--config", path, "--data", filepath.Join(folder, "data"))
		cmd.Env = environment()
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "fix   secrets: "+path+" has secrets "+test.says) {
			t.Errorf("doctor, %s: %v, %s", test.text, err, out)
		}
		p := startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--config", path, "--log-level", "warn"))
		if said := p.complaints.String(); !strings.Contains(said, "every user of the machine can read it") {
			t.Errorf("the log of a start: %s", said)
		}
	}
}
