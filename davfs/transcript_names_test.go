package davfs

import (
	"fmt"
	"regexp"
	"strings"
)

// names replaces what is random in answers, so that transcripts can be
// compared. The nth UUID that answers tell is written as a, zeros and n in the
// form of a UUID, and requests name it so. Of the entity tag of a revision,
// which begins with eight random digits, these are numbered in the same way,
// and so are secrets.
type names struct {
	written map[string]string // by what is real
	actual  map[string]string // by what is written
}

var (
	aUUID   = regexp.MustCompile(`\b[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[45][0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}\b`)
	aTag    = regexp.MustCompile(`"[0-9a-f]{8}-[0-9]+\.`)
	aSecret = regexp.MustCompile(`\b[a-z2-7]{32}\b`)
	aLink   = regexp.MustCompile(`"previous":"[0-9a-f]{64}"`) // of the audit log: every line before is in it

	writtenUUID = regexp.MustCompile(`[aA]0{7}-?0{4}-?0{4}-?0{4}-?0{8}[0-9]{4}\b`)
	writtenTag  = regexp.MustCompile(`"a0{3}[0-9]{4}-`)
)

func newNames() *names { return &names{map[string]string{}, map[string]string{}} }

// write returns an answer as the transcript has it.
func (n *names) write(text string) string {
	for _, at := range aUUID.FindAllStringIndex(text, -1) {
		if certain(text, at) {
			n.name(bare(text[at[0]:at[1]]), 32)
		}
	}
	var out strings.Builder
	end := 0
	for _, at := range aUUID.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		out.WriteString(text[end:at[0]])
		if name := n.written[bare(found)]; name != "" {
			found = shaped(name, found)
		}
		out.WriteString(found)
		end = at[1]
	}
	text = out.String() + text[end:]
	text = aTag.ReplaceAllStringFunc(text, func(found string) string {
		return `"` + n.name(found[1:9], 8) + found[9:]
	})
	text = aLink.ReplaceAllString(text, `"previous":"…"`)
	return aSecret.ReplaceAllStringFunc(text, func(found string) string {
		if !strings.ContainsAny(found, "ghijklmnopqrstuvwxyz") {
			return found // hexadecimal digits
		}
		return n.name(found, 4)
	})
}

// certain says whether what was found is a UUID: the entity tag of a document
// has as many digits.
func certain(text string, at []int) bool {
	before, after := text[:at[0]], text[at[1]:]
	quoted := strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`)
	return strings.Contains(text[at[0]:at[1]], "-") || !quoted || strings.HasSuffix(before, `uid":"`) || strings.HasSuffix(before, `uid": "`)
}

// name returns how something is written, a number of so many digits.
func (n *names) name(actual string, digits int) string {
	if n.written[actual] == "" {
		numbered := func(order int) string { return fmt.Sprintf("a%0*d", digits-1, order) }
		order := 1
		for n.actual[numbered(order)] != "" {
			order++
		}
		name := numbered(order)
		n.written[actual], n.actual[name] = name, actual
	}
	return n.written[actual]
}

// read returns a request with what its names stand for.
func (n *names) read(text string) string {
	text = writtenUUID.ReplaceAllStringFunc(text, func(found string) string {
		if actual := n.actual[bare(found)]; actual != "" {
			return shaped(actual, found)
		}
		return found
	})
	return writtenTag.ReplaceAllStringFunc(text, func(found string) string {
		if actual := n.actual[found[1:9]]; actual != "" {
			return `"` + actual + "-"
		}
		return found
	})
}

// readAll is read for the lines of a request.
func (n *names) readAll(lines []string) (actual []string) {
	for _, line := range lines {
		actual = append(actual, n.read(line))
	}
	return actual
}

// bare returns the digits of a UUID.
func bare(uuid string) string { return strings.ToLower(strings.ReplaceAll(uuid, "-", "")) }

// shaped writes the digits with dashes and in upper case if like is.
func shaped(digits, like string) string {
	if strings.Contains(like, "-") {
		digits = digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
	}
	if strings.ContainsAny(like, "ABCDEF") {
		return strings.ToUpper(digits)
	}
	return digits
}
