// Package filename makes names of files from what people have written, as
// docs/contract/drive.md#legal-names says of generated names.
package filename

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// Illegal are the marks that stand in no legal name.
	Illegal = `\/:*?"<>|@`
	// MaxBytes is how many bytes a legal name has at most.
	MaxBytes = 200
	// MaxCharacters is how many characters a generated name keeps before its
	// extension.
	MaxCharacters = 80
)

// Unwritable reports whether a character cannot stand in a listing: control
// characters, and the two that XML 1.0 does not have.
func Unwritable(r rune) bool { return unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF }

// Safe returns the text in NFC with _ for every character that cannot stand in
// a legal name.
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		if Unwritable(r) || r == utf8.RuneError || strings.ContainsRune(Illegal, r) {
			return '_'
		}
		return r
	}, norm.NFC.String(text))
}

// Titled returns "<head> <title><ext>", the title made safe. What is before the
// extension is cut to MaxCharacters, and the whole to MaxBytes. A title without
// characters leaves "<head><ext>".
func Titled(head, title, ext string) string {
	return strings.TrimSpace(Cut(head+" "+Safe(title), MaxBytes-len(ext))) + ext
}

// Cut returns the beginning of a name: at most MaxCharacters characters, and at
// most that many bytes.
func Cut(name string, most int) string {
	characters := 0
	for i, r := range name {
		if characters == MaxCharacters || i+utf8.RuneLen(r) > most {
			return name[:i]
		}
		characters++
	}
	return name
}
