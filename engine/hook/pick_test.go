package hook

import (
	"encoding/json"
	"net/url"
	"runtime"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

func TestPick(t *testing.T) {
	t.Parallel()
	const text = `{"skip": {"a": [{"b": 1}, []]}, "a": {"b": "x", "c/d~e": true, "": 7}, "n": 1.50, "none": null,
		"list": [10, {"of": ["p", "q"]}, [[]]], "twice": 1, "twice": "2", "turned": 1, "turned": {}, "a.b": "dotted"}`
	paths := []string{"a.b", "/a/b", "/a/c~1d~0e", "/a/", "n", "none", "list.0", "/list/1/of/1", "list.1.of", "list.2.0.0", "list.01", "twice", "turned", "/a.b", "a", "gone.b", "skip.a.0.b"}
	want := map[string]any{
		"a.b": "x", "/a/b": "x", "/a/c~1d~0e": true, "/a/": json.Number("7"), "n": json.Number("1.50"), "none": nil,
		"list.0": json.Number("10"), "/list/1/of/1": "q", "twice": "2", "/a.b": "dotted", "skip.a.0.b": json.Number("1"),
	}
	if diff := gocmp.Diff(want, pick([]byte(text), paths)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := pick([]byte(`"alone"`), []string{"a"}); len(got) != 0 {
		t.Errorf("a text alone: %v", got)
	}
	if got := pick([]byte(`{"a": 1, "b": [`), []string{"a", "b.0"}); got["a"] != json.Number("1") {
		t.Errorf("a text that is cut short: %v", got)
	}
}

// TestPickKeepsLittle: what is not wanted takes no memory, however many values it has and
// however deep they are. A stranger writes it.
func TestPickKeepsLittle(t *testing.T) {
	for name, text := range map[string]string{
		"wide": `{"z": [` + strings.Repeat(`[],{},`, 500_000) + `0], "a": 1}`,
		"deep": `{"z": ` + strings.Repeat(`[`, 5_000) + strings.Repeat(`]`, 5_000) + `, "a": 1}`,
	} {
		var before, after runtime.MemStats
		body := []byte(text)
		runtime.ReadMemStats(&before)
		got := pick(body, []string{"a", "a.b", "z.x"})
		runtime.ReadMemStats(&after)
		if got["a"] != json.Number("1") {
			t.Errorf("%s: got %v", name, got)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*uint64(max(len(text), 64<<10)) {
			t.Errorf("%s: %d bytes were allocated for a text of %d", name, taken, len(text))
		}
	}
}

// TestParametersThatStandTwice: it is not said which of two values counts; a sender that gives
// both is told so.
func TestParametersThatStandTwice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings Settings
		query    string
		refused  bool
	}{
		"taken":         {Settings{Xattrs: XattrMap{{Key: "a", Named: Named{Query: "a"}}}}, "a=1&a=2", true},
		"once":          {Settings{Xattrs: XattrMap{{Key: "a", Named: Named{Query: "a"}}}}, "a=1", false},
		"not taken":     {Settings{Xattrs: XattrMap{{Key: "a", Named: Named{JSON: "a"}}}}, "b=1&b=2&=&=", false},
		"names a case":  {Settings{Deliver: &Deliver{Label: "Answer", Case: Named{Query: "case"}}}, "case=1&case=2", true},
		"of no meaning": {Settings{Deliver: &Deliver{Label: "Answer", Case: Named{Header: "X-Case"}}}, "case=1&case=2", false},
	} {
		query, err := url.ParseQuery(test.query)
		if err != nil {
			t.Fatal(err)
		}
		r := &Received{Settings: test.settings, In: &Request{Query: query}}
		if err := r.Readable(); errs.Is(err, errs.NotParseable) != test.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
