package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/store/sqlite"
)

// linkedVersion is the version without "v" that "make build VERSION=1.2.3" links
// in, for builds without a repository. Elsewhere it is empty.
var linkedVersion string //nolint:gochecknoglobals // the linker sets it, nothing else does

// version returns the version of this program without "v": the one linked in,
// else the one that the go command has taken from the tags of the repository. It
// is "devel" if there is neither, as in tests and with "go run".
func version() string {
	if linkedVersion != "" {
		return linkedVersion
	}
	if build, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(build.Main.Version, "v") {
		return strings.TrimPrefix(build.Main.Version, "v")
	}
	return "devel"
}

// versionInfo says what program this is. Revision and Date are those of the
// commit that it was built from; they are empty if the build knew none.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Date     string `json:"date,omitempty"`
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
	Go       string `json:"go"`
	SQLite   string `json:"sqlite"`
}

func thisVersion() versionInfo {
	info := versionInfo{Version: version(), Go: runtime.Version(), SQLite: sqlite.Version()}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.time":
			info.Date = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// String returns one line, such as "flowdrive 0.1.0 (commit 0123456789ab,
// 2026-11-22T12:00:00Z, go1.26.0, SQLite 3.50.4)".
func (v versionInfo) String() string {
	var parts []string
	if v.Revision != "" {
		commit := "commit " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			commit += " with changes"
		}
		parts = append(parts, commit)
	}
	if v.Date != "" {
		parts = append(parts, v.Date)
	}
	parts = append(parts, v.Go, "SQLite "+v.SQLite)
	return fmt.Sprintf("flowdrive %s (%s)", v.Version, strings.Join(parts, ", "))
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of flowdrive and of what it is built with",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info := thisVersion()
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(info)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), info)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}
