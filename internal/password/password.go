// Package password judges whether people may choose a password: it must be long, and
// not one of those that are tried first.
package password

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shortest is how many characters a password has at least
// (docs/contract/drive.md#passwords).
const Shortest = 12

// leftOver is how many letters and digits must remain of a password without what is
// known.
const leftOver = 3

// leastUnit is how many letters and digits a text must have that a password repeats: a
// shorter one is a word.
const leastUnit = 8

// quoted are sentences that explain how to choose a password, and so are tried first.
var quoted = [...]string{"correcthorsebatterystaple", "troub4dor3"}

//go:embed known.txt
var known string

// rows are characters in orders that people type.
var rows = [...]string{
	"abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0",
}

// Fault says what is wrong with a password, or returns "". names are the user's, which
// others know.
func Fault(password string, names ...string) string {
	if utf8.RuneCountInString(password) < Shortest {
		return fmt.Sprintf("must have at least %d characters; several words are easier to remember than strange characters", Shortest)
	}
	if strings.Trim(password, password[:1]) == "" || isRepeated(password) || isQuoted(password) || isKnown(password, names) {
		return "is among those that are tried first: it consists of known words, names, rows of keys or repetitions; choose several words that do not belong together"
	}
	return ""
}

// isRepeated reports whether the letters and digits of a password are a short text, said
// again and again.
func isRepeated(password string) bool {
	text := lettersAndDigits(password)
	for n := 1; n < leastUnit && n <= len(text)/2; n++ {
		if len(text)%n == 0 && slices.Equal(text[n:], text[:len(text)-n]) {
			return true
		}
	}
	return false
}

// isQuoted reports whether hardly anything stands around a sentence that everybody quotes.
func isQuoted(password string) bool {
	text := string(lettersAndDigits(password))
	return slices.ContainsFunc(quoted[:], func(q string) bool {
		return strings.Contains(text, q) && utf8.RuneCountInString(strings.ReplaceAll(text, q, "")) < leftOver
	})
}

// lettersAndDigits returns those of a password, in lower case.
func lettersAndDigits(password string) (text []rune) {
	for _, r := range strings.ToLower(password) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			text = append(text, r)
		}
	}
	return text
}

// isKnown reports whether hardly anything is left of the password once words, names,
// rows and repetitions are taken out of it.
func isKnown(password string, names []string) bool {
	folded := strings.ToLower(password)
	words := strings.Fields(known)
	for _, name := range names {
		for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if utf8.RuneCountInString(word) >= leftOver {
				words = append(words, word)
			}
		}
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // the longest first
	for _, text := range [...]string{folded, plain.Replace(folded)} {
		if rest := without(text, words); len(rest) < leftOver {
			return true
		}
	}
	return false
}

// plain undoes how people write letters to meet rules.
var plain = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "$", "s", "5", "s", "7", "t")

// without returns the letters and digits that are left of the text.
func without(text string, words []string) []rune {
	for _, word := range words {
		text = strings.ReplaceAll(text, word, " ")
	}
	var rest []rune
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		rest = append(rest, withoutRows([]rune(part))...)
	}
	return distinct(rest)
}

// withoutRows takes out of the text what is a part of a row, forwards or backwards, and
// digits alone, which are years and counts.
func withoutRows(text []rune) (rest []rune) {
	for at := 0; at < len(text); {
		n := 1
		for n < len(text)-at && inRow(string(text[at:at+n+1])) {
			n++
		}
		if n < leftOver && !unicode.IsDigit(text[at]) {
			rest = append(rest, text[at:at+n]...)
		}
		at += n
	}
	return rest
}

func inRow(part string) bool {
	back := []rune(part)
	slices.Reverse(back)
	return slices.ContainsFunc(rows[:], func(row string) bool {
		return strings.Contains(row, part) || strings.Contains(row, string(back))
	})
}

// distinct returns each character of the text once: repetitions tell nothing new.
func distinct(text []rune) []rune {
	text = slices.Clone(text)
	slices.Sort(text)
	return slices.Compact(text)
}
