package manual

import (
	"cmp"
	"slices"
	"strings"
)

// passage is a part of a page from one heading to the next.
type passage struct{ id, heading, text string }

// Found is a passage that has the words of a search.
type Found struct {
	Path, ID string // of the page, and of the heading on it: "" for its beginning
	Page     string // the title of the page
	Heading  string
	Text     string // the words around the first one that was found
	score    int
}

// How many passages a search finds at most, and how many characters of each are shown.
const (
	mostFound = 30
	shownText = 180
)

// Find returns the passages that have all words of the query, the best first: a word in a
// title counts more than one in a heading, and that more than one in the text.
func (m *Manual) Find(query string) (found []Found) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	for _, p := range m.Paths() {
		page := m.pages[p]
		if strings.HasPrefix(p, "decisions/") {
			continue
		}
		for _, s := range page.passages {
			if score := s.score(words, page.Title); score > 0 {
				found = append(found, Found{Path: p, ID: s.id, Page: page.Title, Heading: s.heading, Text: s.around(words[0]), score: score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.score, a.score) })
	return found[:min(len(found), mostFound)]
}

// score returns how well a passage answers a search, 0 if a word is missing.
func (s passage) score(words []string, title string) (score int) {
	title, heading, text := strings.ToLower(title), strings.ToLower(s.heading), strings.ToLower(s.text)
	for _, w := range words {
		n := min(strings.Count(text, w), 5)
		if strings.Contains(heading, w) {
			n += 20
		}
		if n == 0 {
			return 0
		}
		if strings.Contains(title, w) {
			n += 30
		}
		if heading == w {
			n += 40
		}
		score += n
	}
	return score
}

// around returns what is shown of the passage: the text around the word.
func (s passage) around(word string) string {
	text := []rune(strings.Join(strings.Fields(s.text), " "))
	at := 0
	if i := strings.Index(strings.ToLower(string(text)), word); i > 0 {
		at = min(len([]rune(strings.ToLower(string(text))[:i])), len(text))
	}
	from := max(0, at-shownText/3)
	to := min(len(text), from+shownText)
	out := string(text[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}
