package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// byteSize is a number of bytes as a flag has it: digits, then optionally one
// of the units KiB, MiB, GiB and TiB.
type byteSize int64

// Set reads the flag's text.
func (b *byteSize) Set(text string) error {
	wrong := errors.New("must be a number of bytes above zero, such as 10737418240, 500MiB or 10GiB")
	digits, shift := text, 0
	for i, unit := range [...]string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			digits, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return wrong
	}
	*b = byteSize(n << shift)
	return nil
}

// String returns the size in the largest unit that it is a multiple of; ""
// for none.
func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	n, unit := int64(*b), ""
	for _, next := range [...]string{"KiB", "MiB", "GiB", "TiB"} {
		if n%1024 != 0 {
			break
		}
		n, unit = n/1024, next
	}
	return strconv.FormatInt(n, 10) + unit
}

// Type names the kind of value in the help.
func (b *byteSize) Type() string { return "size" }
