package filename

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitled(t *testing.T) {
	for _, tt := range []struct{ head, title, ext, want string }{
		{"17", "Desk", ".json", "17 Desk.json"},
		{"17.approve", "Desk", ".json", "17.approve Desk.json"},
		{"17", "", ".json", "17.json"},
		{"17", "  ", ".json", "17.json"},
		{"17", "Fire: printer/2 \"burns\"", ".json", "17 Fire_ printer_2 _burns_.json"},
		{"17", "a\x00b\nc\uFFFEd\xFFe", ".json", "17 a_b_c_d_e.json"},
		{"17", "u\u0308ber", ".json", "17 \u00FCber.json"},
		{"17", strings.Repeat("x", 90), ".json", "17 " + strings.Repeat("x", 77) + ".json"},
		{"17", strings.Repeat("x", 76) + " yz", ".json", "17 " + strings.Repeat("x", 76) + ".json"},
		{"17", strings.Repeat("\u4E2D", 90), ".json", "17 " + strings.Repeat("\u4E2D", 64) + ".json"},
	} {
		got := Titled(tt.head, tt.title, tt.ext)
		if got != tt.want {
			t.Errorf("Titled(%q, %q, %q) = %q, want %q", tt.head, tt.title, tt.ext, got, tt.want)
		}
		if len(got) > MaxBytes || !utf8.ValidString(got) {
			t.Errorf("Titled(%q, %q, %q) = %q: not a legal name", tt.head, tt.title, tt.ext, got)
		}
	}
}
