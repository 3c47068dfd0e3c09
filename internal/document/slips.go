package document

import (
	"slices"
	"strings"
)

// Slips says what is meant by words that a grammar does not have, and that people know
// from elsewhere. A key has such words in lower case, with blanks between them; its
// value is what to say to them, such as `did you mean "guard"?`.
type Slips map[string]string

// Hint returns "; " and what is said to the word, or the hint at the nearest of known.
func (s Slips) Hint(word string, known []string) string {
	folded := strings.ToLower(word)
	for words, says := range s { // each word is in one key
		if slices.Contains(strings.Fields(words), folded) {
			return "; " + says
		}
	}
	return Hint(word, known)
}
