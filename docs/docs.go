// Package docs holds the manual, as Markdown, and the pictures in it. Package manual
// renders it.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed *
var files embed.FS

// Files returns the files of the manual, by their paths below docs/.
func Files() fs.FS { return files }
