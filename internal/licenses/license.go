package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// permitted returns the licenses under which a module may be linked: all of
// them allow to pass on the program under Apache-2.0, with their text. MPL-2.0 asks
// besides that people can get the source of the module itself, which is not changed
// here: the notice names it with its version.
func permitted() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}
}

// marks are sentences by which licenses are recognized, with the blanks and
// line ends of a text made one blank.
var marks = [...]struct{ name, sentence string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"GPL", "gnu general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"AGPL", "gnu affero general public license"},
	{"EPL", "eclipse public license"},
	{"BUSL", "business source license"},
}

// classify returns the names of the licenses in a text, none if it has no
// license that is known.
func classify(text string) []string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	var names []string
	for _, m := range marks {
		if strings.Contains(text, m.sentence) && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	if strings.Contains(text, "redistribution and use in source and binary forms") {
		name := "BSD-2-Clause"
		if strings.Contains(text, "endorse or promote products") {
			name = "BSD-3-Clause"
		}
		names = append(names, name)
	}
	if slices.Contains(names, "MPL-2.0") { // its text names those of GNU, to say how it goes with them
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "GPL") })
	}
	return names
}

// check returns an error if the module has no known license, or one that is
// not permitted.
func (n *notice) check() error {
	if len(n.licenses) == 0 {
		return fmt.Errorf("%s %s: no license that is known", n.module, n.version)
	}
	for _, name := range n.licenses {
		if !slices.Contains(permitted(), name) {
			return fmt.Errorf("%s %s: the license %s is not permitted", n.module, n.version, name)
		}
	}
	return nil
}

const header = `Flowdrive is licensed under the Apache License, Version 2.0.
It contains the software named below, under the licenses that follow.

github.com/mattn/go-sqlite3 contains SQLite, which is in the public domain.
The source of each is at https://proxy.golang.org/ under its name and version.
`

// write writes the notices as one text. w keeps its first error.
func write(w io.Writer, all []notice) error {
	_, _ = io.WriteString(w, header)
	for _, n := range all {
		_, _ = fmt.Fprintf(w, "\n%s\n%s (%s)\n%s\n", strings.Repeat("=", 78), strings.TrimSpace(n.module+" "+n.version), strings.Join(n.licenses, ", "), strings.Repeat("=", 78))
		for _, text := range n.texts {
			_, _ = fmt.Fprintf(w, "\n%s\n", text)
		}
	}
	return nil
}
