package main

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTwoBuildsAreTheSameBytes: the program that make build makes does not depend on the
// folder that it is made in.
func TestTwoBuildsAreTheSameBytes(t *testing.T) {
	t.Parallel()
	if os.Getenv("FLOWDRIVE_BUILD_TWICE") == "" {
		t.Skip("two builds take a minute or more: make reproducible makes them, and CI does that")
	}
	var sums [2][32]byte
	for i := range sums {
		root := filepath.Join(t.TempDir(), "a folder"[:i+1])
		copySources(t, "../..", root)
		cmd := childProcess(t, "make", "build", "VERSION=1.2.3")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make build: %v\n%s", err, out)
		}
		program, err := os.ReadFile(filepath.Join(root, "flowdrive"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(program)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ: %x, %x", sums[0], sums[1])
	}
}

// TestMakeNamesTheCompiler: a build says at once that there is no C compiler.
func TestMakeNamesTheCompiler(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"build", "run"} {
		cmd := childProcess(t, "make", target)
		cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CC="+filepath.Join(t.TempDir(), "cc"))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "a C compiler is needed: apt-get install gcc libc6-dev\n") || strings.Contains(string(out), "go build") {
			t.Errorf("make %s without a C compiler: %v\n%s", target, err, out)
		}
	}
}

// copySources copies what a build reads.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == ".git" || base == "testdata" || base == "data" || base == "dist" && name == "dist" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		if !entry.Type().IsRegular() || name == "flowdrive" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
