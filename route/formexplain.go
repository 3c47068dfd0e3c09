package route

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"github.com/dustin/go-humanize/english"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"flowdrive/internal/document"
)

// explainForm says to the person who has sent a value why it does not fit a form, in the
// words of declared XATTRs. Values are texts, numbers, true and false, so that keywords
// about lists say nothing of them.
func explainForm(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return "must be " + oneOfWords(k.Want) + not(k.Got) + choiceHint(k)
	case *kind.Const:
		return "must be " + wordOf(k.Want) + not(k.Got)
	case *kind.Format:
		return "must be " + formatWords(k.Want) + not(k.Got)
	case *kind.Pattern:
		return "must match the pattern " + clip(k.Want) + not(k.Got)
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %s, not %d", english.Plural(k.Want, "character", ""), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s, not %d", english.Plural(k.Want, "character", ""), k.Got)
	case *kind.Minimum:
		return "must be at least " + decimalOf(k.Want) + not(k.Got)
	case *kind.Maximum:
		return "must be at most " + decimalOf(k.Want) + not(k.Got)
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimalOf(k.Want) + not(k.Got)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimalOf(k.Want) + not(k.Got)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimalOf(k.Want) + not(k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %s, not %d", english.Plural(k.Want, "XATTR", ""), k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %s, not %d", english.Plural(k.Want, "XATTR", ""), k.Got)
	case *kind.ContentEncoding:
		return "must be encoded as " + clip(k.Want)
	case *kind.ContentMediaType:
		return "must be of the type " + clip(k.Want)
	case *kind.FalseSchema:
		return "is not taken by the form"
	case *kind.Not:
		return "is what the form excludes"
	case *kind.OneOf:
		return "fits several of the alternatives of the form, and must fit exactly one"
	}
	return "does not fit the form: " + clipLong(k.LocalizedString(message.NewPrinter(language.English)))
}

// formatWords says what a text of the format is, with an example.
func formatWords(format string) string {
	words, known := map[string]string{
		"date":          "a date as 2026-12-24",
		"time":          "a time with its offset as 08:30:00Z",
		"date-time":     "a date and time with its offset as 2026-12-24T08:30:00+01:00",
		"duration":      "a duration as P3D or PT4H",
		"period":        "a period as 2026-12-24T08:30:00Z/P3D",
		"email":         "a mail address as ann@example.org",
		"idn-email":     "a mail address as ann@example.org",
		"hostname":      "the name of a host as www.example.org",
		"idn-hostname":  "the name of a host as www.example.org",
		"uri":           "an address as https://example.org/page",
		"iri":           "an address as https://example.org/page",
		"uri-reference": "an address as https://example.org/page or /page",
		"iri-reference": "an address as https://example.org/page or /page",
		"uri-template":  "a pattern of addresses as https://example.org/{page}",
		"ipv4":          "an IPv4 address as 192.0.2.1",
		"ipv6":          "an IPv6 address as 2001:db8::1",
		"uuid":          "a UUID as 123e4567-e89b-42d3-a456-426614174000",
		"regex":         "a regular expression",
		"json-pointer":  "a JSON pointer as /a/b",
		"semver":        "a version as 1.2.3",
	}[format]
	if !known {
		return "of the format " + clip(format)
	}
	return words
}

// not says what was sent instead.
func not(got any) string { return ", not " + wordOf(got) }

// choiceHint says which of the texts that can be chosen may be meant by the one that was sent.
func choiceHint(k *kind.Enum) string {
	got, is := k.Got.(string)
	if !is {
		return ""
	}
	var known []string
	for _, v := range k.Want {
		if text, is := v.(string); is {
			known = append(known, text)
		}
	}
	return document.Hint(got, known)
}

// wordOf writes a value of JSON as people type it.
func wordOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return "empty"
		}
		return clip(v)
	case json.Number:
		return clip(v.String())
	case *big.Rat:
		return decimalOf(v)
	}
	return clip(fmt.Sprint(v))
}

// oneOfWords lists values of which one is wanted.
func oneOfWords(want []any) string {
	const most = 20
	words := make([]string, 0, min(len(want), most)+1)
	for _, v := range want[:min(len(want), most)] {
		words = append(words, wordOf(v))
	}
	if more := len(want) - most; more > 0 {
		words = append(words, fmt.Sprintf("one of %d others", more))
	}
	return alternatives(words)
}

// decimalOf writes a number without a fraction bar, and with an exponent if it is long.
func decimalOf(r *big.Rat) string {
	f, _ := r.Float64()
	if text := strconv.FormatFloat(f, 'f', -1, 64); len(text) <= longestNumber {
		return text
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
