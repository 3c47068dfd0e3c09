package engine

import "testing"

// TestErasedWords: a name goes if it stands for itself, and stays if it is a part of another
// word or the name of something else.
func TestErasedWords(t *testing.T) {
	t.Parallel()
	who := erased{name: "sam", address: "sam@example.org", fullName: "Samuel Stone", pseudonym: "erased-7"}
	for text, want := range map[string]string{
		"Delegated to sam":                        "Delegated to erased-7",
		"sam, Sam and SAM.":                       "erased-7, erased-7 and erased-7.",
		"same, balsam, sam-2, sam.stone, my_sam":  "same, balsam, sam-2, sam.stone, my_sam",
		"to sam@example.org, not sam@example.com": "to erased-7, not sam@example.com",
		"by samuel stone; not by Samuel Stoneham": "by erased-7; not by Samuel Stoneham",
		"é sam é":    "é erased-7 é",
		"ésam, samé": "ésam, samé",
		"":           "",
	} {
		if got := who.inText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for in, want := range map[string]string{
		`[{"seq":1,"kind":"action","action":"sam","actor":"Sam","from":"sam","to":"sam","comment":"for \"sam\"","text":"Sam"}]`: `[{"seq":1,"kind":"action","action":"sam","actor":"erased-7","from":"sam","to":"sam","comment":"for \"erased-7\"","text":"Sam"}]`,
		`[{"kind":"task","actor":null,"text":"Delegated to sam"},{"kind":"state","text":"sam"}]`:                                `[{"kind":"task","actor":null,"text":"Delegated to erased-7"},{"kind":"state","text":"sam"}]`,
		`{ "holders": ["ann", "sam"],  "n": 1.50, "x": "sam" }`:                                                                 `{ "holders": ["ann", "erased-7"],  "n": 1.50, "x": "sam" }`,
		`{"text": "unfinished`: `{"text": "unfinished`,
	} {
		if got := string(who.inJSON([]byte(in))); got != want {
			t.Errorf("%s:\n%s, want\n%s", in, got, want)
		}
	}
}
