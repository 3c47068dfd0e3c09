package errs

// Clip returns a text as a message repeats it: at most so many characters, and an
// ellipsis if there were more.
func Clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
