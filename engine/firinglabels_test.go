package engine_test

import (
	"strings"
	"testing"
	"time"
)

// TestLabelsOfAFiring: the occurrence of an entry says which labels nothing has filled.
func TestLabelsOfAFiring(t *testing.T) {
	t.Parallel()
	w := troubleWorld(t)
	entry := w.as("sam").mustPutEntry("often.json", `{"type": "cron", "minute": "0", "route": "desk", "title": "Often", "xattrDict": {"day": "$__NOPE__;"}}`)
	w.advance(2 * time.Hour)
	res := try(w.Schedules.Occurrences(t.Context(), w.as("sam").by(), w.as("sam").ref(entry.Name).Entry)).must(w, "GET of the occurrences")
	if text := string(res.Form); !strings.Contains(text, "The label $__NOPE__; has no value here") {
		t.Errorf("the occurrences are\n%s", text)
	}
}
