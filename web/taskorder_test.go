package web

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
)

// TestFirstTasks: pages of a list, one behind the other, are the whole list in its order,
// as if all of it had been sorted.
func TestFirstTasks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2012, 11, 10, 9, 0, 0, 0, time.UTC)
	rows := make([]sorted, 500)
	for i := range rows {
		rows[i] = sorted{TaskCase: &engine.TaskCase{ID: int64(i + 1), Priority: random.IntN(3), Route: []string{"bug", "Bug", "article"}[random.IntN(3)]}, offered: begin.Add(time.Duration(random.IntN(50)) * time.Second)}
		if n := random.IntN(4); n > 0 {
			rows[i].due = begin.Add(time.Duration(n) * time.Hour)
		}
	}
	list := func(rows []sorted) (said []int64) {
		for _, row := range rows {
			said = append(said, row.ID)
		}
		return said
	}
	for _, order := range orders() {
		whole := slices.SortedFunc(slices.Values(rows), compareTasks(order))
		var paged []sorted
		place := ""
		for range len(rows) {
			at, err := readPlace(place)
			if err != nil {
				t.Fatal(err)
			}
			some := firstTasks(rows, at, order, 7)
			if len(some) == 0 {
				break
			}
			paged = append(paged, some...)
			place = placeOf(some[len(some)-1], order)
		}
		if got, want := list(paged), list(whole); !slices.Equal(got, want) {
			t.Errorf("%s: the pages are %v, want %v", order, got, want)
		}
		slices.Reverse(rows) // the order in which they come does not matter
	}
}

// TestGroupsOfTasks: the group of a task is that of its day in the reader's zone.
func TestGroupsOfTasks(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("east", 2*60*60)
	now := time.Date(2012, 11, 10, 21, 30, 0, 0, time.UTC) // 23:30 there
	x := taskDrawing{&visit{Words: words{now: now, zone: zone}, now: now}}
	for due, want := range map[string]int{
		"2012-11-10T21:30:00Z": 0, "2012-11-10T21:59:59Z": 1, "2012-11-10T22:00:00Z": 2, "2012-11-17T21:59:59Z": 2, "2012-11-17T22:00:00Z": 3, "": 3,
	} {
		at, err := time.Parse(time.RFC3339, cmp.Or(due, "0001-01-01T00:00:00Z"))
		if err != nil {
			t.Fatal(err)
		}
		if got := x.grouping()(sorted{due: at}); got != want {
			t.Errorf("what is due %q is in group %d, want %d", due, got, want)
		}
	}
	waits := &engine.TaskCase{Tasks: []engine.CaseTask{{Lists: machine.OnOffered}, {Lists: machine.OnOffered, Optional: true}}}
	lede := string(x.ledeOfTasks([]sorted{{due: now.Add(-time.Hour), TaskCase: waits}, {due: now.Add(time.Hour), TaskCase: waits}, {due: now.AddDate(0, 0, 9), TaskCase: waits}}, engine.WorklistOffered))
	if want := "3 cases wait for you. <b>1 is overdue</b>, 1 is due this week."; !strings.Contains(lede, want) {
		t.Errorf("the page says %q, want %q", lede, want)
	}
	own := &engine.TaskCase{Tasks: waits.Tasks[1:]}
	for want, rows := range map[string][]sorted{ // a starter's own Withdraw waits for nobody
		"Nothing waits for you. 1 case can be taken back by you.": {{TaskCase: own}},
		"1 case waits for you. 2 cases can be taken back by you.": {{TaskCase: own}, {TaskCase: waits}, {TaskCase: own}},
	} {
		if lede := string(x.ledeOfTasks(rows, engine.WorklistOffered)); lede != "<span>"+want+"</span>" && lede != want {
			t.Errorf("the page says %q, want %q", lede, want)
		}
	}
}

// TestFormBeginsWithYes: the form of a case begins with what agrees, then with what the route
// names first, and that is chosen. The buttons of a list end with it.
func TestFormBeginsWithYes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	page := g.browse(t, "ann").get(t, "/cases/17").body
	if yes, no := strings.Index(page, `name="action" value="approve" checked>`), strings.Index(page, `name="action" value="refuse">`); yes < 0 || no < yes {
		t.Errorf("approve is at %d, refuse at %d of the page", yes, no)
	}
	list := g.browse(t, "ann").get(t, "/tasks?q=17").body
	if yes, no := strings.Index(list, `>Approve</a>`), strings.Index(list, `>Refuse</a>`); no < 0 || yes < no {
		t.Errorf("Approve is at %d, Refuse at %d of the list", yes, no)
	}
	if !strings.Contains(list, ` data-first>Approve</a>`) || strings.Contains(list, ` data-first>Refuse</a>`) {
		t.Errorf("the key e does not press Approve in the list\n%s", list)
	}
}

// TestIconsOfActions: the button of an action has the icon of what it does.
func TestIconsOfActions(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	for _, one := range []struct{ user, path, title, icon string }{
		{"sam", "/cases/21", "Withdraw", "x"},
		{"ann", "/cases/17", "Approve", "check"},
		{"ann", "/cases/17", "Refuse", "x"},
	} {
		page := g.browse(t, one.user).get(t, one.path).body
		_, button, _ := strings.Cut(page, `class="b main-act"`)
		button, _, _ = strings.Cut(button, "</button>")
		before, _, ok := strings.Cut(button, "</svg>"+one.title)
		if icon := before[strings.LastIndex(before, "#")+1:]; !ok || !strings.HasPrefix(icon, one.icon+`"`) {
			t.Errorf("%s of %s has not the icon %s: %s", one.title, one.path, one.icon, button)
		}
	}
}
