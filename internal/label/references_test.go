package label_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/label"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []label.Reference
	}{
		{"nothing of $5; or $__; here", nil},
		{"$__TODAY__; $__TODAY+3D__;", []label.Reference{{Written: "$__TODAY__;", Known: true}, {Written: "$__TODAY+3D__;", Known: true}}},
		{"$__TITEL__;", []label.Reference{{Written: "$__TITEL__;"}}},
		{"$__TODAY+3H__;", []label.Reference{{Written: "$__TODAY+3H__;"}}},
		{"$__TODAY+9999Y__;", []label.Reference{{Written: "$__TODAY+9999Y__;"}}},
		{"$__XATTR_Amount__;", []label.Reference{{Written: "$__XATTR_Amount__;", Key: "amount", Known: true}}},
		{"$__TITLE__ of $__TITLE__;", []label.Reference{{Written: "$__TITLE__"}, {Written: "$__TITLE__;", Known: true}}},
		{"$__TITLE_; $__XATTR_a__ $__OTHER__", []label.Reference{{Written: "$__TITLE_"}, {Written: "$__XATTR_a__"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, label.References(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestNames compares the names with the tables of the contract and with what is
// replaced.
func TestNames(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/contract/labels-attachments.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(page), "### Date arithmetic")
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[A-Z].*?`) \\|").FindAllStringSubmatch(tables, -1) {
		for _, name := range regexp.MustCompile("`([A-Z0-9_]+)`").FindAllStringSubmatch(row[1], -1) {
			documented = append(documented, name[1])
		}
	}
	names := label.Names()
	for _, name := range names {
		if !label.References("$__" + name + "__;")[0].Known {
			t.Errorf("%s is not known", name)
		}
	}
	slices.Sort(names)
	slices.Sort(documented)
	if diff := cmp.Diff(documented, names); diff != "" {
		t.Errorf("names (-documented +got):\n%s", diff)
	}
}
