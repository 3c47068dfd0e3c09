package filename

import (
	"strings"
	"unicode/utf8"
)

// Temporary reports whether the name is one that editors and desktops write beside a
// document (docs/contract/drive.md#side-files): temporary files, locks and backups.
func Temporary(name string) bool {
	folded := strings.ToLower(name)
	switch folded {
	case "4913", "thumbs.db", "desktop.ini", "autorun.inf":
		return true
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") || strings.HasSuffix(name, "~") ||
		len(name) > 2 && name[0] == '#' && name[len(name)-1] == '#' {
		return true
	}
	for _, end := range [...]string{
		".tmp", ".bak", ".swp", ".swx", ".swo", ".part", ".partial", ".crdownload", "___jb_tmp___", "___jb_old___",
	} {
		if strings.HasSuffix(folded, end) {
			return true
		}
	}
	return strings.Contains(folded, ".sb-") || sixMore(folded)
}

// sixMore reports whether a document's extension is followed by a dot and
// six characters, as temporary files of libraries are ("a.json.Xy12Zz").
func sixMore(folded string) bool {
	i := strings.LastIndexByte(folded, '.')
	if i < 0 || utf8.RuneCountInString(folded[i+1:]) != 6 {
		return false
	}
	for _, ext := range [...]string{".json", ".yaml", ".yml"} {
		if stem, found := strings.CutSuffix(folded[:i], ext); found && stem != "" {
			return true
		}
	}
	return false
}
