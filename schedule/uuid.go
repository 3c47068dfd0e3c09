package schedule

import "strings"

// parseUUID returns a UUID as 32 lower-case hexadecimal digits. It takes it
// with or without braces and with dashes in their places or none.
func parseUUID(text string) (hex string, ok bool) {
	if inner, found := strings.CutPrefix(text, "{"); found {
		if text, found = strings.CutSuffix(inner, "}"); !found {
			return "", false
		}
	}
	const digitsOf, withDashes = 32, 36
	if len(text) == withDashes {
		if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			return "", false
		}
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	}
	text = strings.ToLower(text)
	if len(text) != digitsOf || strings.Trim(text, "0123456789abcdef") != "" {
		return "", false
	}
	return text, true
}

// appendUUID appends 32 hexadecimal digits as a UUID with braces and dashes.
func appendUUID(dst []byte, hex string) []byte {
	dst = append(dst, '{')
	for i := range len(hex) {
		switch i {
		case 8, 12, 16, 20:
			dst = append(dst, '-')
		}
		dst = append(dst, hex[i])
	}
	return append(dst, '}')
}
