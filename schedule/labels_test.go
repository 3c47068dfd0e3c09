package schedule

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWarnsOfLabels: labels that nothing fills in the title and the XATTRs of an entry are
// warned of (docs/contract/labels-attachments.md#rules-of-substitution).
func TestWarnsOfLabels(t *testing.T) {
	t.Parallel()
	many := &Entry{Type: TypeSimple, Title: "Many"}
	for i := range 30 {
		many.XattrDict = append(many.XattrDict, XAttr{Key: "k" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), Value: "$__NOSUCHLABEL__;"})
	}
	for name, test := range map[string]struct {
		entry *Entry
		want  []string
	}{
		"all is filled": {&Entry{Type: TypeSimple, Title: "Report of $__TODAY+3D__; for $__XATTR_who__;", XattrDict: []XAttr{{"Who", "$__LOGIN__; $__PARENTPID__;"}, {"n", true}}}, nil},
		"a slip":        {&Entry{Type: TypeSimple, Title: "Report of $__TODAYY__;"}, []string{`title: there is no label $__TODAYY__;; did you mean "TODAY"?`}},
		"in an XATTR":   {&Entry{Type: TypeSimple, XattrDict: []XAttr{{"Day", "$__YESTERDY__; $__YESTERDY__;"}}}, []string{`xattrDict/day: there is no label $__YESTERDY__;; did you mean "YESTERDAY"?`}},
		"without end":   {&Entry{Type: TypeSimple, Title: "$__TODAY"}, []string{"title: $__TODAY is not replaced: a label ends with two underscores and a semicolon"}},
		"no such XATTR": {&Entry{Type: TypeSimple, Title: "$__XATTR_who__;"}, []string{"title: $__XATTR_who__; is not replaced: the entry has no XATTR who"}},
		"in a circle":   {&Entry{Type: TypeSimple, XattrDict: []XAttr{{"a", "$__XATTR_a__;"}}}, []string{"xattrDict/a: $__XATTR_a__; is not replaced: it leads back to itself"}},
	} {
		if diff := cmp.Diff(test.want, test.entry.Warnings()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := strings.Contains(string(test.entry.Form()), "is not replaced") || strings.Contains(string(test.entry.Form()), "there is no label"); got != (test.want != nil) {
			t.Errorf("%s: the complete form warns: %v\n%s", name, got, test.entry.Form())
		}
	}
	if got := many.Warnings(); len(got) != mostUnfilled+1 || got[mostUnfilled] != "10 further labels are not replaced" {
		t.Errorf("of many: %q", got)
	}
}
