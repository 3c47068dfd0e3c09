package backup

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/attach"
	"flowdrive/internal/errs"
	"flowdrive/store/sqlite"
)

// Manifest says what is in a backup. It is the last file that is written: a folder
// without it is not a backup.
type Manifest struct {
	Format  int           `json:"format"`  // 1
	Program string        `json:"program"` // "flowdrive"
	Version string        `json:"version"` // of the program that made it
	Instant time.Time     `json:"instant"` // of what is in it
	Host    string        `json:"host"`    // where it was made …
	Data    string        `json:"data"`    // … and of which data folder
	Schema  int64         `json:"schema"`
	Counts  sqlite.Counts `json:"counts"`
	Bytes   int64         `json:"bytes"` // of all files
	// Missing are contents that were damaged or not there when the backup was made.
	Missing []Missing `json:"missing"`
	Files   []File    `json:"files"`
}

// File is a file of a backup.
type File struct {
	Path   string `json:"path"` // below the backup, with slashes
	Size   int64  `json:"size"` // in bytes
	SHA256 string `json:"sha256"`
}

// Missing is a content that could not be copied as it should be.
type Missing struct {
	SHA256 string `json:"sha256"`
	Reason string `json:"reason"`
}

// The files of a backup.
const (
	manifestName   = "manifest.json"
	unfinishedName = "manifest.json.unfinished" // what will be the manifest; it marks a folder as one of ours
	databaseName   = "flowdrive.db"
	contentsName   = "contents"
	lockName       = ".lock" // in the folder of backups: held while one is made
)

const (
	manifestFormat  = 1
	manifestProgram = "flowdrive"
)

// instantLayout names the folder of a backup. Colons would not do: not every
// file system and not every program takes them.
const instantLayout = "20060102T150405Z"

// isFolderName reports whether a folder is named as those of backups are: the
// instant, and a number if there were several within a second.
func isFolderName(name string) bool {
	instant, number, numbered := strings.Cut(name, "-")
	if numbered {
		if n, err := strconv.Atoi(number); err != nil || n < 2 || strconv.Itoa(n) != number {
			return false
		}
	}
	t, err := time.Parse(instantLayout, instant)
	return err == nil && t.Format(instantLayout) == instant
}

// write writes the manifest, a line for each file.
func (m *Manifest) write(f *os.File) error {
	head := *m
	head.Files = nil
	text, err := json.MarshalIndent(&head, "", "  ")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	lead, _ := strings.CutSuffix(string(text), "null\n}")
	_, _ = w.WriteString(lead + "[")
	for i, file := range m.Files {
		line, err := json.Marshal(file)
		if err != nil {
			return err
		}
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_, _ = w.WriteString("\n    ")
		_, _ = w.Write(line)
	}
	_, _ = w.WriteString("\n  ]\n}\n")
	return w.Flush() // it has the first error
}

// ReadManifest reads and checks the manifest of the backup in a folder. The error
// says what is wrong in words for people.
func ReadManifest(folder string) (*Manifest, error) {
	f, err := os.Open(filepath.Join(folder, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noManifest(folder)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	var m Manifest
	if err := json.NewDecoder(bufio.NewReaderSize(f, 1<<16)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%s is damaged: it is not the manifest of a backup (%w)", f.Name(), err)
	}
	if m.Program != manifestProgram || m.Format < 1 {
		return nil, fmt.Errorf("%s is not the manifest of a backup of Flowdrive", f.Name())
	}
	if m.Format > manifestFormat {
		return nil, fmt.Errorf("%s has format %d, this program knows %d: the backup was made by a newer program, use that one", f.Name(), m.Format, manifestFormat)
	}
	return &m, errs.Wrap("read the manifest "+f.Name(), m.check())
}

// noManifest says what is wrong with a folder without a manifest.
func noManifest(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", folder)
	}
	if _, err := os.Stat(filepath.Join(folder, unfinishedName)); err == nil {
		return fmt.Errorf("%s is not a backup: it was not finished, as it has no %s", folder, manifestName)
	}
	if all, err := list(folder); err == nil && len(all) > 0 {
		return fmt.Errorf("%s is a folder of backups; give one of them, such as %s", folder, all[len(all)-1].path)
	}
	return fmt.Errorf("%s is not a backup: it has no %s", folder, manifestName)
}

// check refuses what this program would not have written: a path that leads
// elsewhere, a content under the name of another.
func (m *Manifest) check() error {
	hasDatabase := false
	for _, f := range m.Files {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) != 32 || f.Size < 0 {
			return fmt.Errorf("the entry of %q is not valid", f.Path)
		}
		switch f.Path {
		case databaseName:
			hasDatabase = true
		case contentPath([32]byte(sum)):
		default:
			return fmt.Errorf("%q is not the path of a file of a backup", f.Path)
		}
	}
	if !hasDatabase {
		return errors.New("there is no database in it")
	}
	return nil
}

// contentPath returns the path of a content below a backup, with slashes.
func contentPath(sum [32]byte) string {
	return contentsName + "/" + filepath.ToSlash(attach.Name(sum))
}

// made is a finished backup in a folder of backups.
type made struct {
	path string
	*Manifest
}

// list returns the finished backups in a folder, the oldest first. What is not
// a backup of Flowdrive, and what cannot be read, is left out.
func list(folder string) ([]made, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []made
	for _, e := range entries {
		if !e.IsDir() || !isFolderName(e.Name()) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if m, err := readHead(path); err == nil {
			all = append(all, made{path, m})
		}
	}
	slices.SortFunc(all, func(a, b made) int {
		if c := a.Instant.Compare(b.Instant); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	return all, nil
}

// readHead reads a manifest without its files.
func readHead(folder string) (*Manifest, error) {
	f, err := os.Open(filepath.Join(folder, manifestName))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	m := new(Manifest)
	d := json.NewDecoder(f)
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	fields := map[string]any{
		"format": &m.Format, "program": &m.Program, "version": &m.Version, "instant": &m.Instant, "host": &m.Host,
		"data": &m.Data, "schema": &m.Schema, "counts": &m.Counts, "bytes": &m.Bytes, "missing": &m.Missing,
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if name == "files" {
			break
		}
		into, known := fields[name]
		if !known {
			into = new(any)
		}
		if err := d.Decode(into); err != nil {
			return nil, err
		}
	}
	if m.Program != manifestProgram || m.Instant.IsZero() {
		return nil, errors.New("it is not the manifest of a backup")
	}
	return m, nil
}
