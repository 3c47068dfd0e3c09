package plaintext

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"flowdrive/internal/document"
)

// Table says how the rows of a text are written (RFC 4180).
type Table struct {
	Delimiter rune // 0: the one of , ; tab and | that makes the most columns
	Header    bool // the first row names the columns
	Min       int  // so many rows at least
}

// JSON returns the rows as a list: of objects by the names of the columns, or of
// lists if there is no header. Every value is a text. The error tells the line of
// a row that has more or fewer columns than the first, a quote that does not end,
// or a header whose names are missing or equal; that there is no header; that there are
// fewer rows than Min; or that it is not a text. It goes on a sentence about the text.
func (t Table) JSON(text string) ([]byte, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("which is not a text: it has the character NUL")
	}
	if t.Delimiter == 0 {
		t.Delimiter, text = detect(text)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = t.Delimiter
	r.ReuseRecord = true
	var names []string
	out := []byte{'['}
	rows := 0
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return append(out, ']'), t.enough(first, rows)
		}
		if err != nil {
			return nil, explain(err)
		}
		if first && t.Header {
			if names, err = header(row); err != nil {
				return nil, err
			}
			continue
		}
		if rows++; rows > 1 {
			out = append(out, ',')
		}
		out = appendRow(out, names, row)
	}
}

// enough returns the error of a text that has no row at all, if it should have a header,
// or fewer rows than it should have.
func (t Table) enough(empty bool, rows int) error {
	switch {
	case empty && t.Header:
		return errors.New("which has no row, not even one that names the columns")
	case rows >= t.Min:
		return nil
	case rows == 0 && t.Header:
		return fmt.Errorf("which has no row below the names of the columns, and must have at least %d", t.Min)
	case rows == 0:
		return fmt.Errorf("which has no row, and must have at least %d", t.Min)
	}
	return fmt.Errorf("which has only %d of at least %d rows", rows, t.Min)
}

func appendRow(out []byte, names, row []string) []byte {
	begin, end := byte('['), byte(']')
	if names != nil {
		begin, end = '{', '}'
	}
	out = append(out, begin)
	for i, value := range row {
		if i > 0 {
			out = append(out, ',')
		}
		if names != nil {
			out = append(document.AppendString(out, names[i]), ':')
		}
		out = document.AppendString(out, value)
	}
	return append(out, end)
}

// header returns the names of the columns.
func header(row []string) ([]string, error) {
	names := make([]string, len(row))
	column := map[string]int{}
	for i, name := range row {
		name = strings.TrimSpace(name)
		if name == "" {
			return nil, fmt.Errorf("line 1: the column %d has no name", i+1)
		}
		if other, taken := column[name]; taken {
			return nil, fmt.Errorf("line 1: the columns %d and %d are both called %q", other, i+1, name)
		}
		names[i], column[name] = name, i+1
	}
	return names, nil
}

func explain(err error) error {
	fault, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return err
	case errors.Is(fault.Err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: it has more or fewer columns than the first row", fault.StartLine)
	case errors.Is(fault.Err, csv.ErrQuote):
		return fmt.Errorf("line %d: a quoted value does not end, or goes on behind its quote", fault.StartLine)
	case errors.Is(fault.Err, csv.ErrBareQuote):
		return fmt.Errorf("line %d: a quote stands in the middle of a value", fault.Line)
	}
	return fmt.Errorf("line %d: %w", fault.StartLine, fault.Err)
}

// detect returns the delimiter of a text, and the text without the line "sep=;" by
// which spreadsheets tell it. The first rows decide: the delimiter with which all
// of them have equally many columns, and the most. If none makes several columns of all,
// the first row alone decides: a row that is broken must not hide the others' columns.
func detect(text string) (rune, string) {
	if line, rest, found := strings.Cut(text, "\n"); found {
		if told, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "sep="); ok && len(told) == 1 && strings.Contains(delimiters, told) {
			return rune(told[0]), rest
		}
	}
	for _, rows := range []int{20, 1} {
		best, most := ',', 1
		for _, delimiter := range delimiters {
			if n := columns(text, delimiter, rows); n > most {
				best, most = delimiter, n
			}
		}
		if most > 1 {
			return best, text
		}
	}
	return ',', text
}

// delimiters are those that are detected.
const delimiters = ",;\t|"

// columns returns how many columns the first rows have, 0 if they differ.
func columns(text string, delimiter rune, rows int) int {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.ReuseRecord = delimiter, true
	n := 0
	for range rows {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0
		}
		n = len(row)
	}
	return n
}
