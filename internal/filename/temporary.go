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
	return strings.Contains(folded, ".sb-") || sixMore(folded) || ofSed(name)
}

// ofSed reports whether the name is that of the file which sed -i writes and renames: "sed"
// and six letters and digits. A word of small letters is a name that a person has chosen.
func ofSed(name string) bool {
	six, is := strings.CutPrefix(name, "sed")
	if !is || len(six) != 6 {
		return false
	}
	word := true
	for _, c := range []byte(six) {
		switch {
		case 'a' <= c && c <= 'z':
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			word = false
		default:
			return false
		}
	}
	return !word
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
