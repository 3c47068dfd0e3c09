package store_test

import (
	"strings"
	"testing"

	"flowdrive/store"
)

func TestParseUUID(t *testing.T) {
	t.Parallel()
	const plain = "c658993adcf1410b80035dc134feb564"
	for _, text := range []string{
		plain, strings.ToUpper(plain), "{" + plain + "}",
		"c658993a-dcf1-410b-8003-5dc134feb564", "{C658993A-DCF1-410B-8003-5DC134FEB564}",
	} {
		if u, ok := store.ParseUUID(text); !ok || u.String() != plain {
			t.Errorf("ParseUUID(%q) = %s, %t; want %s", text, u, ok, plain)
		}
	}
	for _, text := range []string{
		"", "{}", plain[1:], plain + "0", "{" + plain, plain + "}", "{{" + plain + "}}", strings.Repeat("g", 32),
		"c658993ad-cf1-410b-8003-5dc134feb564", "c658993a-dcf1-410b-8003-5dc134feb56", " " + plain,
	} {
		if u, ok := store.ParseUUID(text); ok {
			t.Errorf("ParseUUID(%q) = %s; want none", text, u)
		}
	}
}

// FuzzParseUUID wants every text that is taken for a UUID to be one of the
// five forms of it.
func FuzzParseUUID(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		u, ok := store.ParseUUID(text)
		if !ok {
			return
		}
		lower := strings.ToLower(text)
		braced := u.Braced()
		dashed := braced[1 : len(braced)-1]
		for _, form := range []string{u.String(), "{" + u.String() + "}", dashed, braced} {
			if lower == form {
				return
			}
		}
		t.Errorf("%q was read as %s", text, u)
	})
}
