package main

import "testing"

func TestRateFlag(t *testing.T) {
	t.Parallel()
	good := []struct {
		text  string
		want  rateFlag
		again string
	}{
		{"200/s", rateFlag{PerSecond: 200, Burst: 4000}, "200/s,4000"},
		{"200", rateFlag{PerSecond: 200, Burst: 4000}, "200/s,4000"},
		{"200/s, 10", rateFlag{PerSecond: 200, Burst: 10}, "200/s,10"},
		{"0.01/s", rateFlag{PerSecond: .01, Burst: 1}, "0.01/s,1"},
		{"off", rateFlag{}, "off"},
		{"0", rateFlag{}, "off"},
	}
	for _, g := range good {
		got := rateFlag{PerSecond: 7, Burst: 7}
		if err := got.Set(g.text); err != nil || got != g.want || got.String() != g.again {
			t.Errorf("%q: got %+v (%s), %v", g.text, got, got.String(), err)
		}
	}
	for _, text := range []string{"", "-1/s", "many", "5/min", "5/s,0", "5/s,x", "NaN", "Inf/s", "1e99", "5/s,9999999999"} {
		got := rateFlag{PerSecond: 7, Burst: 7}
		if err := got.Set(text); err == nil || got.PerSecond != 7 {
			t.Errorf("%q: got %+v, %v, want it refused", text, got, err)
		}
	}
}
