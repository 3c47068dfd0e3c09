package davfs

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

func TestLegalName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		legal bool
	}{
		{"a.json", true},
		{"Nightly run (2).json", true},
		{"café.json", true},
		{"日本.yaml", true},
		{"a.b.c", true},
		{"$x", true},
		{"console.json", true},
		{"COM.json", true},
		{"COM10.json", true},
		{"com¹²", true},
		{strings.Repeat("x", 200), true},
		{strings.Repeat("x", 201), false},
		{"", false},
		{"a/b", false},
		{`a\b`, false},
		{"a:b", false},
		{"a*b", false},
		{"a?b", false},
		{`a"b`, false},
		{"a<b", false},
		{"a>b", false},
		{"a|b", false},
		{"a@b", false},
		{" a", false},
		{"a ", false},
		{"a\u00a0", false},
		{"a.", false},
		{"a\x00", false},
		{"a\nb", false},
		{"a\u0085b", false},
		{"a\uffff", false},
		{"a\xff", false},
		{"con", false},
		{"Con.json", false},
		{"aux .json", false},
		{"lpt9.json", false},
		{"com³", false},
		{"CONIN$.txt", false},
	}
	for _, tt := range tests {
		if err := legalName(tt.name); (err == nil) != tt.legal || err != nil && !errs.Is(err, errs.NameNotAllowed) {
			t.Errorf("legalName(%q) = %v, want legal %v", tt.name, err, tt.legal)
		}
	}
}

func TestSideFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".DS_Store": true, "._a.json": true, ".a.json.swp": true, ".goutputstream-AB12CD": true, "~$a.json": true,
		"#a.json#": true, "a.json~": true, "a.TMP": true, "a.bak": true, "a.json.swx": true, "a.part": true,
		"a.json.partial": true, "a.crdownload": true, "a.json.sb-1a2b-Xy": true, "a.json___jb_tmp___": true,
		"a.json___jb_old___": true, "a.json.Xy12Zz": true, "a.YML.abcdef": true, "4913": true, "Thumbs.db": true,
		"desktop.ini": true, "AUTORUN.INF": true,
		"a.json": false, "request": false, "#": false, "##": false, "a.json.abcdefg": false, "a.txt.abcdef": false,
		"49130": false, "tmp": false, "a~b": false, "part.json": false,
	} {
		if got := sideFile(name); got != want {
			t.Errorf("sideFile(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestSplitName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"a.json": {"a", ".json"}, "a.JSON": {"a", ".json"}, "a.b.yaml": {"a.b", ".yaml"}, "a.yml": {"a", ".yml"},
		".json": {".json", ""}, "json": {"json", ""}, "a.txt": {"a.txt", ""}, "": {"", ""},
	} {
		if stem, ext := splitName(name); stem != want[0] || ext != want[1] {
			t.Errorf("splitName(%q) = %q, %q, want %q", name, stem, ext, want)
		}
	}
}

func TestParseUUID(t *testing.T) {
	t.Parallel()
	const want = "c658993adcf1410b80035dc134feb564"
	for text, ok := range map[string]bool{
		want:                                     true,
		strings.ToUpper(want):                    true,
		"c658993a-dcf1-410b-8003-5dc134feb564":   true,
		"{c658993a-dcf1-410b-8003-5dc134feb564}": true,
		"{" + want + "}":                         true,
		"urn:uuid:c658993a-dcf1-410b-8003-5dc134feb564": true,
		"c658993a-dcf1-410b-8003-5dc134feb56":           false,
		"{c658993adcf1410b80035dc134feb564":             false,
		"c658993adcf1410b80035dc134feb56g":              false,
		"urn:uuid:":                                     false,
		"":                                              false,
	} {
		got, parsed := parseUUID(text)
		if parsed != ok || ok && got.String() != want {
			t.Errorf("parseUUID(%q) = %v, %v, want %v", text, got, parsed, ok)
		}
	}
}

func TestLegalWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "9": true, "Approve_2-b": true, strings.Repeat("x", 63): true,
		"": false, "_a": false, "-a": false, "a.b": false, "é": false, strings.Repeat("x", 64): false,
	} {
		if got := legalWord(name); got != want {
			t.Errorf("legalWord(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestNamesAreComparedFolded wants names to be compared as they are folded, whatever they are
// made of.
func TestNamesAreComparedFolded(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"Cases", "cases"},
		{"cases", "case"},
		{"", ""},
		{"a[", "A{"},
		{"É", "é"},
		{"é", "e\u0301"},
		{"\u212a", "k"},
		{"s", "\u017f"},
		{"\u0130", "i"},
		{"a\x80", "A\x80"},
		{"@", "`"},
	} {
		if got, want := same(names[0], names[1]), identity.Fold(names[0]) == identity.Fold(names[1]); got != want {
			t.Errorf("%q and %q: %t, want %t", names[0], names[1], got, want)
		}
	}
}
