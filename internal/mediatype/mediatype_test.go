package mediatype

import "testing"

func TestTypeIsThatOfTheEnding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"rates.csv":       "text/csv",
		"RATES.CSV":       "text/csv",
		"a.b.xml":         "application/xml",
		"Zahlen 2012.ods": "application/vnd.oasis.opendocument.spreadsheet",
		"a.xlsx":          "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		"photo.JPEG":      "image/jpeg",
		"dump.tar.gz":     "application/gzip",
		".yaml":           "application/yaml",
		"Makefile":        Unknown,
		"a.":              Unknown,
		"a.unknown":       Unknown,
		"a.csv/b":         Unknown,
		"":                Unknown,
	} {
		if got := Of(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
