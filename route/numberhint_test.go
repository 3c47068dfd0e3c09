package route_test

import (
	"testing"

	"flowdrive/internal/label"
	"flowdrive/route"
)

// TestNumberHint: a hint never proposes another number than the one that was meant. What may
// be a slip of the finger or a short form has none.
func TestNumberHint(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"12,50":              "; write it with a point: 12.50",
		"+7,5":               "; write it with a point: 7.5",
		"300 EUR":            "; write 300, without currency or spaces",
		"eur300":             "; write 300, without currency or spaces",
		"€ 300":              "; write 300, without currency or spaces",
		"250 kr":             "; write 250, without currency or spaces",
		"1 200":              "; write 1200, without currency or spaces",
		"1\u202f200":         "; write 1200, without currency or spaces",
		"1.200":              "; write 1200, or 1.2",
		"1.200 EUR":          "; write 1200, or 1.2",
		"9.000,50":           "; write 9000.50",
		"9,000.50":           "; write 9000.50",
		"1.000.000":          "; write 1000000",
		"1'200.50":           "; write 1200.50, without currency or spaces",
		"€ 12.345.678,90":    "; write 12345678.90",
		"30O":                "",
		"3l":                 "",
		"30k":                "",
		"3 Mio":              "",
		"12,5,1":             "",
		"1,2.3":              "",
		"a hundred":          "",
		"":                   "",
		"30":                 "",
		"2026-01-02":         "",
		"EUR":                "",
		"12,50 bottles":      "",
		"1,00,000 of rupees": "",
	} {
		if got := route.NumberHint(label.Text(typed)); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
