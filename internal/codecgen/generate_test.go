package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGeneratedFilesAreCurrent compares the generated files of this module with what is
// generated now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	const dir, file, root = "../../engine/machine", "marking_codec.go", "Case"
	want, err := generate(dir, file, root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date, run \"make generate\" (-generated +stored):\n%s", file, diff)
	}
}

// TestGenerateRefuses has what the generator does not know refused by name,
// rather than left out of the file.
func TestGenerateRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ code, want string }{
		{"type Root struct { A float64 `json:\"a\"` }", "Root.A: the type float64 is not supported"},
		{"type Root struct { A string }", "Root.A: each field needs a json tag of its own"},
		{"type Root struct { A, B string `json:\"a\"` }", "Root.A: each field needs a json tag of its own"},
		{"type Root struct { A bool `json:\"a\"` }", "Root.A: the tag `json:\"a\"` is not supported for its type"},
		{"type Root struct { A *int `json:\"a,omitempty\"` }", "Root.A: the type int is not supported"},
		{"type Root struct { A []Inner `json:\"a,omitempty\"` }; type Inner struct { B map[string]string `json:\"b\"` }", "*ast.MapType is not supported"},
		{"import \"m/other\"; type Root struct { A other.None `json:\"a\"` }", "package m/other has no type None"},
		{"type Root int", "Root is not a struct"},
		{"type Other struct{}", "package p has no type Root"},
	} {
		dir := t.TempDir()
		write(t, dir, "go.mod", "module m\n")
		write(t, dir, "p.go", "package p\n"+test.code)
		if code, err := generate(dir, "codec.go", "Root"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %s, %v; want %s", test.code, code, err, test.want)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
