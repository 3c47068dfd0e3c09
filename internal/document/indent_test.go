package document

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestIndent(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"{}\n", "{}\n"},
		{"[]", "[]"},
		{`null`, `null`},
		{
			`{"a":1,"b":"x, {\"y\": [\\","c":[1,"[",null],"d":{},"e":[{"f":[],"g":true},{}]}` + "\n",
			`{
  "a": 1,
  "b": "x, {\"y\": [\\",
  "c": [1, "[", null],
  "d": {},
  "e": [
    {
      "f": [],
      "g": true
    },
    {}
  ]
}
`,
		},
		{"{ \"a\" :\n [ 1 ,\t2 ] }", "{\n  \"a\": [1, 2]\n}"},
		{
			`{"1":{"2":{"3":{"4":{"5":{"6":{"7":{"8":[1,{"9":0}]},"also":1}}}}}}}`,
			`{
  "1": {
    "2": {
      "3": {
        "4": {
          "5": {
            "6": {"7": {"8": [1, {"9": 0}]}, "also": 1}
          }
        }
      }
    }
  }
}`,
		},
	} {
		if got := string(Indent([]byte(tt.in))); got != tt.want {
			t.Errorf("%s became\n%s\nwant\n%s", tt.in, got, tt.want)
		}
	}
}

// FuzzIndent: the value stays the same, a second time changes nothing, and a deep
// text does not grow many times.
func FuzzIndent(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\\\""}],"c":[]}`))
	f.Add([]byte(strings.Repeat(`[{"a":`, 30) + "1" + strings.Repeat("}]", 30)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var compact bytes.Buffer
		if json.Compact(&compact, text) != nil {
			return
		}
		out := Indent(compact.Bytes())
		var again bytes.Buffer
		if err := json.Compact(&again, out); err != nil || !bytes.Equal(again.Bytes(), compact.Bytes()) {
			t.Fatalf("%s became %s (%v)", text, out, err)
		}
		if twice := Indent(out); !bytes.Equal(twice, out) {
			t.Errorf("%s became %s, then %s", text, out, twice)
		}
		if most := 14 * (compact.Len() + 1); len(out) > most {
			t.Errorf("%d bytes became %d, more than %d", compact.Len(), len(out), most)
		}
	})
}
