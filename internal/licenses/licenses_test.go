package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mit = "Permission is hereby granted, free of charge,\nto any person obtaining a copy of this software"

// TestProgram wants every module of the program to be under a license that is
// permitted, and to be named with its text.
func TestProgram(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), "../..", &out, write); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo (BSD-3-Clause)\n", "\ngithub.com/mattn/go-sqlite3 v", "Redistribution and use in source and binary forms", "Apache License"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the notices lack %q", want)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"                                 Apache License\n                           Version 2.0, January 2004\n", []string{"Apache-2.0"}},
		{mit, []string{"MIT"}},
		{"Redistribution and use in source and binary\nforms, with or without modification", []string{"BSD-2-Clause"}},
		{"Redistribution and use in source and binary forms … may be used to endorse or promote products", []string{"BSD-3-Clause"}},
		{mit + "\n\nApache License\nVersion 2.0, January 2004", []string{"Apache-2.0", "MIT"}},
		{"GNU GENERAL PUBLIC LICENSE\nVersion 3", []string{"GPL"}},
		{"All rights reserved.", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, classify(test.text)); diff != "" {
			t.Errorf("classify(%q), want -, got +:\n%s", test.text, diff)
		}
	}
}

// TestCollect collects from modules that are made up: what is beside a
// package and above it counts, what a file names by SPDX too, and a module
// without a permitted license is an error that names it.
func TestCollect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		files    map[string]string
		licenses []string
		texts    int
		fault    string
	}{
		{"at the root", map[string]string{"LICENSE": mit, "p/a.go": "package p"}, []string{"MIT"}, 1, ""},
		{"beside the package", map[string]string{"LICENSE.md": mit, "p/COPYING": "Apache License Version 2.0, January 2004", "p/a.go": "package p"}, []string{"Apache-2.0", "MIT"}, 2, ""},
		{"not of another package", map[string]string{"LICENSE": mit, "q/LICENSE": "GNU General Public License", "p/a.go": "package p"}, []string{"MIT"}, 1, ""},
		{
			"by SPDX",
			map[string]string{
				"LICENSE": mit, "LICENSES/BSD-3-Clause.txt": "three clauses", "LICENSES/CC-BY-4.0.txt": "for pictures",
				"p/a.go": "// SPDX-License-Identifier: (MIT AND BSD-3-Clause)\npackage p",
			},
			[]string{"BSD-3-Clause", "MIT"},
			2, "",
		},
		{"none", map[string]string{"README": "free", "p/a.go": "package p"}, nil, 0, "example.org/m v1.0.0: no license that is known"},
		{"not known", map[string]string{"LICENSE": "Do no harm.", "p/a.go": "package p"}, nil, 1, "example.org/m v1.0.0: no license that is known"},
		{"not permitted", map[string]string{"LICENSE": "GNU Affero General Public License", "p/a.go": "package p"}, []string{"AGPL"}, 1, "example.org/m v1.0.0: the license AGPL is not permitted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for name, text := range test.files {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all, err := collect([]linkedPackage{{module: "example.org/m", version: "v1.0.0", root: root, dir: filepath.Join(root, "p"), files: []string{"a.go"}}})
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if fault != test.fault {
				t.Errorf("error %q, want %q", fault, test.fault)
			}
			if diff := cmp.Diff(test.licenses, all[0].licenses); diff != "" {
				t.Errorf("licenses, want -, got +:\n%s", diff)
			}
			if len(all[0].texts) != test.texts {
				t.Errorf("%d texts, want %d", len(all[0].texts), test.texts)
			}
		})
	}
}
