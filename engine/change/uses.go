package change

import (
	"fmt"
	"strings"

	"flowdrive/internal/errs"
)

// Use is something that needs what somebody wants to delete.
type Use struct {
	Href  string `json:"href"`  // its path, percent-encoded
	Kind  string `json:"kind"`  // "case", "schedule entry", "route", "team", "user", "documents"
	Title string `json:"title"` // what people call it

	Case int64 `json:"-"` // number of a case, by which commands name it
}

// String calls the use by its kind and title, a case by its number as well.
func (u *Use) String() string {
	if u.Case != 0 {
		return fmt.Sprintf("the %s %d %q", u.Kind, u.Case, u.Title)
	}
	return fmt.Sprintf("the %s %q", u.Kind, u.Title)
}

// Uses are what needs something: those that the caller may see, and how many
// there are besides.
type Uses struct {
	List []Use
	More int
}

// mostUses is how many uses an answer names.
const mostUses = 100

// Add adds a use; one that the caller may not see is only counted.
func (u *Uses) Add(seen bool, use Use) {
	if seen && len(u.List) < mostUses {
		u.List = append(u.List, use)
	} else {
		u.More++
	}
}

// None reports whether nothing uses it.
func (u *Uses) None() bool { return len(u.List) == 0 && u.More == 0 }

// InUse returns the error for something that is used: it names the uses. advice
// is a sentence that says what can be done about it.
func (u *Uses) InUse(what, advice string) error {
	const most = 5 // in the sentence
	names := make([]string, 0, most)
	for i := range u.List[:min(len(u.List), most)] {
		names = append(names, u.List[i].String())
	}
	more := u.More + len(u.List) - len(names)
	text := strings.Join(names, ", ")
	switch {
	case text == "":
		text = fmt.Sprintf("%d that you may not see", more)
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	e := errs.New(errs.InUse, "%s is in use by %s. %s", what, text, advice)
	list := u.List
	if list == nil {
		list = []Use{}
	}
	e.Extra = map[string]any{"usedBy": list}
	if u.More > 0 {
		e.Extra["more"] = u.More
	}
	return e
}
