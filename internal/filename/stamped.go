package filename

import (
	"strings"
	"time"
)

// Stamp is how times stand in names.
const Stamp = "20060102T150405Z"

// Stamped returns "<time> <name>" (docs/contract/drive.md#legal-names). A name that
// is cut keeps its extension.
func Stamped(when time.Time, name string) string {
	stem, ext := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= len(".partial") {
		stem, ext = name[:i], Safe(name[i:])
	}
	return Titled(when.UTC().Format(Stamp), stem, ext)
}
