package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/schedule"
)

const (
	daysOfWeek = 7
	// fewMinutes is up to how many firings in an hour are told by their minutes.
	fewMinutes = 3
	// mostInHour is up to how many firings of an entry in an hour are counted.
	mostInHour = 60
	// mostInCell is how many entries a cell of the text names.
	mostInCell = 8
	cellWidth  = 24 // characters
)

// Week is the grid of the coming week: what fires in which hour of which day.
type Week struct {
	Zone  Zone
	From  time.Time // the midnight with which it begins
	Cells [daysOfWeek][24][]Firing
	More  int // entries that are not shown
}

// Firing is what an entry does in an hour of a day.
type Firing struct {
	Name    string
	Title   string
	Hour    int
	Minutes []int // of the first firings, ascending
	Count   int   // mostInHour+1: more than that
}

// NewWeek returns the empty week that begins with the day of now.
func NewWeek(zone Zone, now time.Time) *Week { return &Week{Zone: zone, From: zone.Day(now)} }

// End returns the end of the week.
func (w *Week) End() time.Time { return w.midnight(daysOfWeek) }

func (w *Week) midnight(day int) time.Time {
	year, month, first := w.From.Date()
	return time.Date(year, month, first+day, 0, 0, 0, 0, w.Zone.Location)
}

// Add adds the firings of an entry, under the name of its file. If an entry has a
// repeat, no more than that are added.
func (w *Week) Add(name string, e *schedule.Entry) {
	s, end := e.Schedule(), w.End()
	if s == nil {
		return
	}
	left := e.IterationsRemaining
	for at := e.NextIteration; !at.IsZero() && at.Before(end) && left != 0; left-- {
		if at.Before(w.From) { // it is overdue
			at = s.Next(at)
			continue
		}
		f := w.firing(at, name, cmp.Or(e.Title, e.Route))
		if f.Count++; len(f.Minutes) < fewMinutes {
			f.Minutes = append(f.Minutes, at.In(w.Zone.Location).Minute())
		}
		if f.Count > mostInHour && left < 0 { // the rest of the hour is not counted
			at = at.Truncate(time.Hour).Add(time.Hour - 1)
		}
		at = s.Next(at)
	}
}

// firing returns what the entry does in the hour of the instant.
func (w *Week) firing(at time.Time, name, title string) *Firing {
	local := at.In(w.Zone.Location)
	day := 0
	for day < daysOfWeek-1 && !at.Before(w.midnight(day+1)) {
		day++
	}
	cell := &w.Cells[day][local.Hour()]
	if i := slices.IndexFunc(*cell, func(f Firing) bool { return f.Name == name }); i >= 0 {
		return &(*cell)[i]
	}
	*cell = append(*cell, Firing{Name: name, Title: title, Hour: local.Hour()})
	return &(*cell)[len(*cell)-1]
}

// Sort puts what fires in an hour into the order of time.
func (w *Week) Sort() {
	for day := range w.Cells {
		for _, cell := range w.Cells[day] {
			slices.SortStableFunc(cell, func(a, b Firing) int {
				return cmp.Or(slices.Compare(a.Minutes, b.Minutes), cmp.Compare(a.Name, b.Name))
			})
		}
	}
}

// shown returns by what people know the entry: its name, or its title if "flowdrive crontab import"
// has made the name from a line of a crontab.
func (f *Firing) shown() string {
	const digits = 12
	hash, is := strings.CutPrefix(f.Name, "crontab-")
	hash, _, _ = strings.Cut(hash, "@") // of another author
	if is && len(hash) == digits && strings.Trim(hash, "0123456789abcdef") == "" {
		return f.Title
	}
	return f.Name
}

// words returns what a cell says of an entry.
func (f *Firing) words() string {
	text := fmt.Sprintf("%d× %s", f.Count, f.shown())
	switch {
	case f.Count > mostInHour:
		text = fmt.Sprintf("over %d× %s", mostInHour, f.shown())
	case f.Count <= len(f.Minutes):
		text = ""
		for _, m := range f.Minutes {
			text += fmt.Sprintf("%02d:%02d ", f.Hour, m)
		}
		text += f.shown()
	}
	text = machine.OneLine(text)
	if utf8.RuneCountInString(text) > cellWidth {
		return string([]rune(text)[:cellWidth-1]) + "…"
	}
	return text
}

// Text returns the file for people.
func (w *Week) Text() []byte {
	var p page
	p.line("The coming week, from %s to %s. Times are those of %s.", w.From.Format(dayForm), w.midnight(daysOfWeek-1).Format(dayForm), w.Zone)
	p.line("Hours in which nothing fires are left out. A file of schedule/ tells more of each entry.")
	p.line("")
	head := []string{"Hour"}
	for day := range daysOfWeek {
		head = append(head, w.midnight(day).Format("Mon 2006-01-02"))
	}
	rows := [][]string{head}
	for hour := range 24 {
		rows = append(rows, w.rows(hour)...)
	}
	if len(rows) == 1 {
		p.line("Nothing fires in this week.")
	} else {
		p.table(rows, "")
	}
	if w.More > 0 {
		p.line("\n%s not shown.", english.Plural(w.More, "more entry is", "more entries are"))
	}
	return p.bytes()
}

// rows returns the lines of an hour, none if nothing fires in it.
func (w *Week) rows(hour int) (rows [][]string) {
	for day := range daysOfWeek {
		cell := w.Cells[day][hour]
		for i := range cell[:min(len(cell), mostInCell)] {
			if i == len(rows) {
				rows = append(rows, make([]string, daysOfWeek+1))
			}
			rows[i][day+1] = cell[i].words()
			if more := len(cell) - mostInCell; i == mostInCell-1 && more > 0 {
				rows[i][day+1] = fmt.Sprintf("+ %d more", more+1)
			}
		}
	}
	if len(rows) > 0 {
		rows[0][0] = fmt.Sprintf("%02d:00", hour)
	}
	return rows
}

type weekForm struct {
	Timezone string        `json:"timezone"`
	From     string        `json:"from"`
	Days     []weekdayForm `json:"days"`
	More     int           `json:"notShown"`
}

type weekdayForm struct {
	Date  string     `json:"date"`
	Hours []hourForm `json:"hours"`
}

type hourForm struct {
	Hour    int          `json:"hour"`
	Firings []firingForm `json:"firings"`
}

type firingForm struct {
	Entry   string `json:"entry"`
	Title   string `json:"title"`
	Count   int    `json:"count"`
	Minutes []int  `json:"minutes"`
}

// JSON returns the file for programs. It has the hours in which something fires.
func (w *Week) JSON() []byte {
	f := weekForm{Timezone: w.Zone.String(), From: w.From.Format(dayForm), Days: make([]weekdayForm, daysOfWeek), More: w.More}
	for day := range daysOfWeek {
		d := weekdayForm{Date: w.midnight(day).Format(dayForm), Hours: []hourForm{}}
		for hour, cell := range w.Cells[day] {
			if len(cell) == 0 {
				continue
			}
			h := hourForm{Hour: hour, Firings: make([]firingForm, len(cell))}
			for i, firing := range cell {
				h.Firings[i] = firingForm{firing.Name, firing.Title, firing.Count, firing.Minutes}
			}
			d.Hours = append(d.Hours, h)
		}
		f.Days[day] = d
	}
	return document.Form(f)
}
