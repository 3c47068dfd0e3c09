package errs

import "unicode/utf8"

// Clip returns a text as a message repeats it: at most so many characters, and an
// ellipsis if there were more.
func Clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// ClipBytes returns a text as it is kept: at most so many bytes, and an ellipsis if there
// were more. No character is cut in two.
func ClipBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
