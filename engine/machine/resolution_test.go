package machine

import "testing"

// TestReopenedHasNoResolution: a case that is taken up again has no resolution;
// its log keeps the one that it had.
func TestReopenedHasNoResolution(t *testing.T) {
	t.Parallel()
	const tracked = `
roles: {r: {assign: [starter]}}
states: {open: {type: start}, work: {}, resolved: {}, closed: {type: complete}, archived: {type: complete}}
actions:
  begin: {trigger: init}
  take: {in: [open], role: r, to: work}
  triage: {in: [open], role: r, to: open, resolutions: {later: Later}}
  resolve: {in: [work, resolved], type: resolve, role: r, to: resolved, resolutions: {fixed: Fixed, double: Double}}
  close: {in: [resolved], role: r, to: closed}
  file: {in: [closed], allowed: r, to: archived}
  again: {in: [resolved], enabledIn: [closed, archived], allowed: r, to: work}
  note: {in: [resolved], role: r, to: resolved}
  back: {in: [resolved], role: r, to: open}
`
	for _, test := range []struct {
		name  string
		steps []string
		want  string
	}{
		{"resolved", []string{"start", "sam take", "sam resolve fixed"}, "fixed"},
		{"again", []string{"start", "sam take", "sam resolve fixed", "sam resolve double"}, "double"},
		{"a note", []string{"start", "sam take", "sam resolve fixed", "sam resolve double", "sam note"}, "double"},
		{"closed", []string{"start", "sam take", "sam resolve fixed", "sam close", "sam file"}, "fixed"},
		{"reopened", []string{"start", "sam take", "sam resolve fixed", "sam close", "sam again"}, ""},
		{"reopened later", []string{"start", "sam take", "sam resolve fixed", "sam close", "sam file", "sam again"}, ""},
		{"where it was resolved", []string{"start", "sam take", "sam resolve fixed", "sam again"}, ""},
		{"at the start", []string{"start", "sam take", "sam resolve fixed", "sam back"}, ""},
		{"given on the way", []string{"start", "sam triage later"}, "later"},
		{"canceled and reopened", []string{"start", "sam take", "sam resolve fixed", "admin !cancel", "admin !reopen"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, parsed(t, tracked))
			resolved := ""
			for _, step := range test.steps {
				if err := p.do(step); err != nil {
					t.Fatalf("%s: %v", step, err)
				}
				if p.c.Resolution != "" {
					resolved = p.c.Resolution
				}
			}
			if p.c.Resolution != test.want {
				t.Errorf("resolution %q; want %q", p.c.Resolution, test.want)
			}
			kept := ""
			for _, e := range p.log {
				if e.Resolution != nil {
					kept = *e.Resolution
				}
			}
			if kept == "" || kept != resolved {
				t.Errorf("the log has the resolution %q; want %q", kept, resolved)
			}
		})
	}
}
