package route_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	days := func(n int) *clock.Duration { return &clock.Duration{Exact: time.Duration(n) * 24 * time.Hour} }
	for _, tt := range []struct {
		document  string
		retention *clock.Duration
		then      route.Then
	}{
		{"", days(15), route.ThenArchive},
		{"retention: ~\nthen: ~", days(15), route.ThenArchive},
		{"retention: P3D\nthen: archive", days(3), route.ThenArchive},
		{"retention: 86400\nthen: delete", days(1), route.ThenDelete},
		{"retention: 0", days(0), route.ThenArchive},
		{"retention: P1Y2M", &clock.Duration{Months: 14}, route.ThenArchive},
		{"retention: forever", nil, route.ThenArchive},
	} {
		r, warnings := mustParse(t, "test", tt.document+"\n"+base)
		if len(warnings) > 0 {
			t.Errorf("%q: warnings %v", tt.document, warnings)
		}
		same := r.Retention == nil && tt.retention == nil || r.Retention != nil && tt.retention != nil && *r.Retention == *tt.retention
		if !same || r.Then != tt.then {
			t.Errorf("%q: %v, then %s; want %v, then %s", tt.document, r.Retention, r.Then, tt.retention, tt.then)
		}
	}
}

func TestRetentionFaults(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		"retention: long":      "/retention",
		"retention: P":         "/retention",
		"retention: PP1D":      "/retention",
		"retention: P1D2Y":     "/retention",
		"retention: -1":        "/retention",
		"retention: 1.5":       "/retention",
		"retention: [P1D]":     "/retention",
		"retention: P9999999Y": "/retention",
		"then: keep":           "/then",
		"then: true":           "/then",
	} {
		_, _, err := route.Parse("test", readYAML(t, document+"\n"+base))
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", document, err)
		}
	}
}
