package mediatype

import "testing"

func TestQuality(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		accept []string
		want   float64 // of JSON
	}{
		{nil, 0},
		{[]string{""}, 0},
		{[]string{"*/*"}, 0},
		{[]string{"application/json"}, 1},
		{[]string{"text/html, Application/JSON ; q=0.5"}, 0.5},
		{[]string{"text/html", "application/*;q=0.3;x=y, application/json;q=.2"}, 0.3},
		{[]string{"application/json;q=2"}, 0},
		{[]string{"application/json;q=NaN"}, 0},
		{[]string{"application/json;Q=0"}, 0},
	} {
		if got := Quality(test.accept, "application/json", "application/*"); got != test.want {
			t.Errorf("%q: %v; want %v", test.accept, got, test.want)
		}
	}
}
