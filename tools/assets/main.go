// Command assets makes of the sources in web/assets what the pages are served with, in
// web/assets/dist: each file as it is, and compressed with gzip and brotli. With -check
// it changes nothing and says what differs.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/andybalholm/brotli"
)

func main() {
	check := flag.Bool("check", false, "change nothing, fail if something differs")
	root := flag.String("root", ".", "the folder of the sources, web/assets")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	files, err := build(root)
	if err != nil {
		return err
	}
	dist := filepath.Join(root, "dist")
	if check {
		return compare(dist, files)
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil { //nolint:gosec // a folder of sources
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dist, name), files[name], 0o644); err != nil { //nolint:gosec // a file of sources
			return err
		}
	}
	return nil
}

// build returns the files of dist by name.
func build(root string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, name := range []string{"app.js", "board.js", "editor.js", "manual.js", "upload.js", "manual.css", "flowdrive.css", "icons.svg", "mark.svg"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		out[name] = content
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		var err error
		if out[name+".gz"], err = gzipped(out[name]); err != nil {
			return nil, err
		}
		if out[name+".br"], err = brotlied(out[name]); err != nil {
			return nil, err
		}
	}
	out["SHA256SUMS"] = sums(out)
	return out, nil
}

func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func brotlied(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, brotli.BestCompression)
	_, err := w.Write(content)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// sums lists the digests of the files, as sha256sum does.
func sums(files map[string][]byte) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return b.Bytes()
}

// compare says which files of dist are not what the sources yield.
func compare(dist string, want map[string][]byte) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, err := os.ReadFile(filepath.Join(dist, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			faults = append(faults, fmt.Errorf("%s is missing", name))
		case err != nil:
			return err
		case !bytes.Equal(got, want[name]):
			faults = append(faults, fmt.Errorf("%s is not what the sources yield", name))
		}
	}
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if want[entry.Name()] == nil {
			faults = append(faults, fmt.Errorf("%s comes from no source", entry.Name()))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w; run \"make assets\"", errors.Join(faults...))
	}
	return nil
}
