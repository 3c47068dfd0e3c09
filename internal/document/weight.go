package document

import "math"

// What reading a document takes in memory, about: its text in several forms, and
// what is made of each value. Marks are characters that can begin a value or a key.
const (
	weightOfByte = 4
	weightOfMark = 400
)

// MostWeight returns how many bytes of memory a document of that length takes at
// most while it is read and judged.
func MostWeight(length int64) int64 {
	if length > math.MaxInt64/(weightOfByte+weightOfMark) {
		return math.MaxInt64
	}
	return weightOfByte*length + weightOfMark*min(length, maxMarks)
}

// Weight returns how many bytes of memory the document takes while it is read and
// judged, about: at most MostWeight of its length.
func Weight(text []byte) int64 {
	marks := int64(0)
	for _, c := range text {
		switch c {
		case ',', ':', '[', '{', '-', '\n', '&', '*':
			marks++
		}
	}
	return weightOfByte*int64(len(text)) + weightOfMark*min(marks, maxMarks)
}
