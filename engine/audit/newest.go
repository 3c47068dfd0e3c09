package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// newestBytes is how much of the text of the last day FitsNewest reads.
const newestBytes = 256 << 10

// FitsNewest reports whether the newest lines of the log are as they were written: the end
// of the last day, back to the first line that is not in the order of the numbers. If they
// are not, Verify says which line it is.
func FitsNewest(r store.AuditReader) (bool, error) {
	head, err := r.Head()
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	days, err := r.Days()
	if err != nil {
		return false, err
	}
	if head.Number == 0 || len(days) == 0 {
		return head.Number == 0, nil
	}
	last := days[len(days)-1]
	text, err := readFrom(r, last, max(0, last.Size-newestBytes))
	if err != nil {
		return false, err
	}
	number, sum := head.Number, head.SHA256
	for _, line := range slices.Backward(bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))) {
		var l struct {
			Number   int64
			Previous string
		}
		if err := json.Unmarshal(line, &l); err != nil || l.Number != number {
			break // the line is cut at its beginning, or others are between
		}
		if sha256.Sum256(line) != sum {
			return false, nil
		}
		before, err := hex.DecodeString(l.Previous)
		if number--; number == 0 {
			return l.Previous == "", nil
		}
		if err != nil || len(before) != len(sum) {
			return false, nil
		}
		sum = [32]byte(before)
	}
	return number < head.Number, nil
}

// readFrom returns the text of a day from an offset, which may be within a line, to its end.
func readFrom(r store.AuditReader, day store.AuditDay, from int64) ([]byte, error) {
	const lines = 1000
	var text []byte
	for at := from; at < day.Size; {
		part, err := r.Text(day.Day, at, lines)
		if err != nil || len(part) == 0 {
			return text, err
		}
		text, at = append(text, part...), at+int64(len(part))
	}
	return text, nil
}
