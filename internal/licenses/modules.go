package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goModule stands for the standard library and the runtime.
const goModule = "Go"

// linkedPackage is a package that is part of a program.
type linkedPackage struct {
	module, version string
	root            string // the module's folder
	dir             string // its own folder
	files           []string
}

// notice is what is to be said of a module.
type notice struct {
	module, version string
	licenses        []string // by name, sorted
	texts           []string // without repetitions
}

// linked returns the packages of other modules that the package at path is
// linked with, as seen from dir. The packages of the standard library belong to
// goModule.
func linked(ctx context.Context, dir, path string) ([]linkedPackage, error) {
	goRoot, err := goCommand(ctx, dir, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	out, err := goCommand(ctx, dir, "list", "-deps", "-json=Dir,GoFiles,CgoFiles,Standard,Module", path)
	if err != nil {
		return nil, err
	}
	standard := linkedPackage{module: goModule, root: strings.TrimSpace(string(goRoot))}
	standard.dir = standard.root
	var all []linkedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir               string
			Standard          bool
			GoFiles, CgoFiles []string
			Module            *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		files := slices.Concat(p.GoFiles, p.CgoFiles)
		switch {
		case p.Standard:
			all = append(all, standard)
		case p.Module != nil && !p.Module.Main:
			all = append(all, linkedPackage{module: p.Module.Path, version: p.Module.Version, root: p.Module.Dir, dir: p.Dir, files: files})
		}
	}
}

// goCommand returns what the go command prints in the folder.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, faults.String())
	}
	return out, nil
}

// collect returns the notices of the packages' modules, by name of the module.
// It reads the license files in the folders from each package up to the root
// of its module, and the licenses that files name by an SPDX identifier.
func collect(packages []linkedPackage) ([]notice, error) {
	byModule := map[string]*notice{}
	var order []string
	seen := map[string]bool{}
	for _, p := range packages {
		n := byModule[p.module]
		if n == nil {
			n = &notice{module: p.module, version: p.version}
			byModule[p.module] = n
			order = append(order, p.module)
		}
		if err := n.addPackage(p, seen); err != nil {
			return nil, fmt.Errorf("%s: %w", p.module, err)
		}
	}
	slices.Sort(order)
	all := make([]notice, 0, len(order))
	var faults []error
	for _, name := range order {
		n := byModule[name]
		slices.Sort(n.licenses)
		n.licenses = slices.Compact(n.licenses)
		faults = append(faults, n.check())
		all = append(all, *n)
	}
	return all, errors.Join(faults...)
}

// addPackage adds what is said about a package; seen has the paths that were
// read before.
func (n *notice) addPackage(p linkedPackage, seen map[string]bool) error {
	for dir := p.dir; !seen[dir]; dir = filepath.Dir(dir) {
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !aboutLicense(e.Name()) {
				continue
			}
			if err := n.addFile(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		if dir == p.root {
			break
		}
	}
	for _, name := range p.files {
		ids, err := spdx(filepath.Join(p.dir, name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			n.licenses = append(n.licenses, id)
			path := filepath.Join(p.root, "LICENSES", id+".txt")
			if seen[path] {
				continue
			}
			seen[path] = true
			if err := n.addFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// aboutLicense reports whether a file of that name names the license of the
// files in its folder, or must be passed on with them.
func aboutLicense(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	return slices.Contains([]string{"license", "licence", "copying", "copyright", "notice", "patents"}, base) && !strings.HasSuffix(name, ".go")
}

func (n *notice) addFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	if !slices.Contains(n.texts, text) {
		n.texts = append(n.texts, text)
	}
	n.licenses = append(n.licenses, classify(text)...)
	return nil
}

// spdx returns the licenses that a source file names (spdx.dev, annex E of
// the specification): each one of an expression.
func spdx(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, found := range regexp.MustCompile(`(?m)^// SPDX-License-Identifier: (.+)$`).FindAllSubmatch(data, -1) {
		for word := range strings.FieldsSeq(string(found[1])) {
			if word = strings.Trim(word, "()"); word != "AND" && word != "OR" {
				ids = append(ids, word)
			}
		}
	}
	return ids, nil
}
