package main

import "testing"

func TestByteSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]byteSize{
		"1": 1, "10737418240": 10 << 30, "10GiB": 10 << 30, "500 MiB": 500 << 20, "1KiB": 1024, "8388607TiB": 8388607 << 40,
	} {
		var got byteSize
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
		var again byteSize
		if err := again.Set(got.String()); err != nil || again != want {
			t.Errorf("%q is written %q, which is read as %d, %v", text, got.String(), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "ten", "10GB", "10gib", "1.5GiB", "GiB", "8388608TiB", "9223372036854775808"} {
		got := byteSize(7)
		if err := got.Set(text); err == nil || got != 7 {
			t.Errorf("%q: got %d, %v, want it refused", text, got, err)
		}
	}
	if zero := new(byteSize); zero.String() != "" {
		t.Errorf("no size is written %q", zero.String())
	}
}
