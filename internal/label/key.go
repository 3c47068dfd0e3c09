package label

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/errs"
)

// MaxKey is the longest key of an XATTR, in characters.
const MaxKey = 127

// NormalizeKey returns the key as a case has it: lower-cased, without blanks.
// It returns an error unless that is 1 to MaxKey letters, digits, "_", "-" and
// ".". Letters are those of ASCII, because keys become names in expressions and
// in XML.
func NormalizeKey(key string) (string, error) {
	normal := strings.ToLower(strings.ReplaceAll(key, " ", ""))
	legal := len(normal) >= 1 && len(normal) <= MaxKey
	for i := 0; legal && i < len(normal); i++ {
		legal = inName(normal[i]) && normal[i] != '+'
	}
	if !legal {
		return "", fmt.Errorf("the name of an XATTR must be 1 to %d characters of letters, digits, _, - and ., not %q", MaxKey, clip(key))
	}
	return normal, nil
}

func clip(text string) string { return errs.Clip(text, 40) }

func byKey(a, b XAttr) int { return strings.Compare(a.Key, b.Key) }

// index returns the place of the key in a sorted dictionary, or -1.
func index(d Dict, key string) int {
	i, found := slices.BinarySearchFunc(d, key, func(x XAttr, k string) int { return strings.Compare(x.Key, k) })
	if !found {
		return -1
	}
	return i
}

// find returns the value of the key in a sorted dictionary.
func find(d Dict, key string) (Value, bool) {
	i := index(d, key)
	if i < 0 {
		return Value{}, false
	}
	return d[i].Value, true
}
