// Package plaintext reads texts as they come from outside: in any charset, searched
// at any length, and the rows of a table.
package plaintext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// NewReader returns the text of a content as UTF-8, without a byte order mark. The
// charset is that of the byte order mark, else of the media type, else UTF-8. It
// returns an error if the charset is not known.
func NewReader(content io.Reader, mediaType string) (io.Reader, error) {
	from := encoding.Encoding(encoding.Nop)
	_, params, err := mime.ParseMediaType(mediaType)
	if charset := params["charset"]; err == nil && charset != "" && !strings.EqualFold(charset, "utf-8") {
		if from, err = htmlindex.Get(charset); err != nil {
			return nil, fmt.Errorf("the charset %q is not known", charset)
		}
	}
	return transform.NewReader(content, unicode.BOMOverride(from.NewDecoder())), nil
}

// ErrNotUTF8 is the error of a content whose bytes are no characters.
var ErrNotUTF8 = errors.New("it is not UTF-8, and its media type names no other charset")

// Decode returns the text of a content as NewReader does. It returns ErrNotUTF8
// if what should be UTF-8 is not: characters would be lost.
func Decode(content []byte, mediaType string) (string, error) {
	r, err := NewReader(bytes.NewReader(content), mediaType)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", ErrNotUTF8
	}
	return string(text), nil
}

// Search is what a text is searched for: any of the words. A search of no words
// finds nothing.
type Search struct {
	Words      []string
	IgnoreCase bool
}

// In reports whether the text, UTF-8, contains one of the words. It keeps no more
// of the text than a part at a time. Letters are the same however their accents are
// written: what is written on a Mac often has them apart. Errors are those of the reader.
func (s Search) In(text io.Reader) (bool, error) {
	const part = 64 << 10
	text = norm.NFC.Reader(text)
	words, longest := make([][]byte, len(s.Words)), 0
	for i, word := range s.Words {
		word = norm.NFC.String(word)
		if s.IgnoreCase {
			word = strings.ToLower(word)
		}
		words[i] = []byte(word)
		longest = max(longest, len(word))
	}
	buffer := make([]byte, part)
	var window, rest []byte // rest is a character of which not all bytes were read
	for {
		n, err := text.Read(buffer)
		read := append(rest, buffer[:n]...)
		whole := len(read)
		if err == nil {
			whole -= cut(read)
		}
		next := read[:whole]
		rest = bytes.Clone(read[whole:])
		if s.IgnoreCase {
			next = bytes.ToLower(next)
		}
		window = append(window, next...)
		for _, word := range words {
			if bytes.Contains(window, word) {
				return true, nil
			}
		}
		if keep := longest - 1; len(window) > keep {
			window = bytes.Clone(window[len(window)-max(keep, 0):])
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// cut returns how many bytes at the end are the beginning of a character.
func cut(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
