package mediatype

import (
	"strconv"
	"strings"
)

// Quality returns the highest weight, from 0 to 1, that the Accept header fields (RFC
// 9110, section 12.5.1) give to one of the media ranges, which are in lower case. It
// is 0 if they name none of them.
func Quality(accept []string, ranges ...string) float64 {
	best := 0.0
	for _, line := range accept {
		for item := range strings.SplitSeq(line, ",") {
			mediaRange, parameters, _ := strings.Cut(item, ";")
			mediaRange = strings.ToLower(strings.TrimSpace(mediaRange))
			for _, r := range ranges {
				if mediaRange == r {
					best = max(best, weight(parameters))
				}
			}
		}
	}
	return best
}

// weight reads q of a media range's parameters; it is 1 by default.
func weight(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
