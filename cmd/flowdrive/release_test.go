package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// releaseRepository is a repository with the script that makes releases and a
// changelog.
type releaseRepository struct {
	t   *testing.T
	dir string
}

const unreleased = `# Changelog

## [Unreleased]

### Added

- A thing.

## [0.1.0] - 2026-01-02

- The first one.
`

func newReleaseRepository(t *testing.T) releaseRepository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("releases need git")
	}
	script, err := os.ReadFile(filepath.Join("..", "..", ".ci", "release.sh"))
	if err != nil {
		t.Fatal(err)
	}
	r := releaseRepository{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.dir, ".ci"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.write(".ci/release.sh", string(script))
	r.write("CHANGELOG.md", unreleased)
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "all: begin")
	r.git("tag", "v0.1.0")
	return r
}

func (r releaseRepository) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r releaseRepository) command(name string, args ...string) *exec.Cmd {
	cmd := childProcess(r.t, name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "SOURCE_DATE_EPOCH=1792670400",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	return cmd
}

func (r releaseRepository) git(args ...string) string {
	r.t.Helper()
	out, err := r.command("git", args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r releaseRepository) changelog() string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "CHANGELOG.md"))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// TestRelease releases in a repository of its own: the changelog gets the
// version and its date, and the commit its tag.
func TestRelease(t *testing.T) {
	t.Parallel()
	r := newReleaseRepository(t)
	if out, err := r.command("bash", ".ci/release.sh", "0.2.0").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := strings.Replace(unreleased, "## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-10-22\n", 1)
	if diff := cmp.Diff(want, r.changelog()); diff != "" {
		t.Errorf("CHANGELOG.md (-want +got):\n%s", diff)
	}
	if got, want := r.git("log", "-1", "--format=%s"), "CHANGELOG: release 0.2.0"; got != want {
		t.Errorf("the commit is %q, want %q", got, want)
	}
	if got := r.git("describe", "--exact-match"); got != "v0.2.0" {
		t.Errorf("the commit is tagged %q, want v0.2.0", got)
	}
	if got, want := r.git("tag", "--list", "--format=%(contents)", "v0.2.0"), "Flowdrive 0.2.0\n\n### Added\n\n- A thing."; got != want {
		t.Errorf("the tag says %q, want %q", got, want)
	}
	if got := r.git("status", "--porcelain"); got != "" {
		t.Errorf("left behind: %s", got)
	}
	out, err := r.command("bash", ".ci/release.sh", "0.3.0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Unreleased of CHANGELOG.md is empty") {
		t.Errorf("a second release of the same: %v\n%s", err, out)
	}
}

// TestReleaseDryRun changes nothing and shows what would change.
func TestReleaseDryRun(t *testing.T) {
	t.Parallel()
	r := newReleaseRepository(t)
	out, err := r.command("bash", ".ci/release.sh", "1.0.0-rc.1", "--dry-run").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\n+## [1.0.0-rc.1] - 2026-10-22\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if r.changelog() != unreleased || r.git("tag", "--list") != "v0.1.0" || r.git("status", "--porcelain") != "" {
		t.Error("a rehearsal changed the repository")
	}
}

// TestReleaseRefused tries what a release is refused for.
func TestReleaseRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, version, want string
		prepare             func(releaseRepository)
	}{
		{"no version", "", `"" is not a valid version`, nil},
		{"no version by rule", "v1.2", `"v1.2" is not a valid version`, nil},
		{"leading zero", "1.02.0", `"1.02.0" is not a valid version`, nil},
		{"tagged already", "0.1.0", "v0.1.0 exists already", nil},
		{"older", "0.0.9", "v0.0.9 is older than v0.1.0", nil},
		{"a pre-release of what is released", "0.1.0-rc.1", "v0.1.0-rc.1 is older than v0.1.0", nil},
		{"another branch", "0.2.0", "releases are made on main, not on other", func(r releaseRepository) {
			r.git("checkout", "--quiet", "-b", "other")
		}},
		{"no branch", "0.2.0", "releases are made on main, not on a detached commit", func(r releaseRepository) {
			r.git("checkout", "--quiet", "--detach")
		}},
		{"changes", "0.2.0", "there are changes that are not committed", func(r releaseRepository) {
			r.write("new.txt", "new\n")
		}},
		{"nothing to release", "0.2.0", "the section Unreleased of CHANGELOG.md is empty", func(r releaseRepository) {
			r.write("CHANGELOG.md", strings.Replace(unreleased, "- A thing.\n", "", 1))
			r.git("commit", "--quiet", "-a", "-m", "CHANGELOG: say nothing")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newReleaseRepository(t)
			if tt.prepare != nil {
				tt.prepare(r)
			}
			before := r.git("rev-parse", "HEAD") + r.changelog() + r.git("status", "--porcelain")
			out, err := r.command("bash", ".ci/release.sh", tt.version).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "release: "+tt.want) {
				t.Errorf("got %v\n%swant %q", err, out, tt.want)
			}
			if after := r.git("rev-parse", "HEAD") + r.changelog() + r.git("status", "--porcelain"); after != before || r.git("tag", "--list") != "v0.1.0" {
				t.Error("the repository is not as it was")
			}
		})
	}
}
