package errs_test

import (
	"testing"

	"flowdrive/internal/errs"
)

func TestClip(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"äöüß", 3, "äöü…"}, {"\xff\xff", 1, "\ufffd…"}} {
		if got := errs.Clip(test.text, test.most); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
		}
	}
}
