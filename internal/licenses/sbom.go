package main

import (
	"encoding/json"
	"io"
)

// bom is a bill of materials in the form of CycloneDX 1.5
// (https://cyclonedx.org/docs/1.5/json/). It has neither a date nor a number of its own:
// the same program has the same bill.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	PURL     string    `json:"purl,omitempty"`
	Licenses []license `json:"licenses,omitempty"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

// writeBOM writes the bill of materials of the program: all modules that are linked into
// it, with their versions and licenses.
func writeBOM(w io.Writer, all []notice) error {
	b := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{component{Type: "application", Name: "flowdrive", Licenses: licensesOf([]string{"Apache-2.0"})}}}
	for i := range all {
		n := &all[i]
		c := component{Type: "library", Name: n.module, Version: n.version, Licenses: licensesOf(n.licenses)}
		if n.module == goModule {
			c.Name, c.PURL = "std", "pkg:golang/std"
		} else {
			c.PURL = "pkg:golang/" + n.module + "@" + n.version
		}
		b.Components = append(b.Components, c)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(b)
}

func licensesOf(names []string) []license {
	out := make([]license, len(names))
	for i, name := range names {
		out[i].License.ID = name
	}
	return out
}
