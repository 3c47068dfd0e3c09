package prefetch

import (
	"crypto/sha256"
	"strconv"

	"flowdrive/internal/errs"
)

// Story is a scenario with the routes that it is played with.
type Story struct {
	Scenario []byte
	YAML     bool
	Routes   []StoryRoute // the first is the one that it is about
}

// StoryRoute is one of the routes of a story, under the name by which the others
// name it.
type StoryRoute struct {
	Name   string
	YAML   bool
	Source []byte
}

// Size returns how many bytes the documents of the story have.
func (s *Story) Size() int {
	size := len(s.Scenario)
	for i := range s.Routes {
		size += len(s.Routes[i].Source)
	}
	return size
}

// Played is how a story went.
type Played struct {
	Steps        int64        // that were played
	Expectations int64        // that were met
	Log          string       // of its cases
	Step         int64        // the number of the step that broke it, 0 for none
	Faults       []errs.Fault // what did not go as the step says
	Unplayable   string       // why it could not be played to its end, "" if it was
}

// Holds reports whether the story went as it says.
func (p *Played) Holds() bool { return len(p.Faults) == 0 && p.Unplayable == "" }

// Plays holds how stories went, as much as there is room for, until the decisions that
// need it are made. A story is played on a clock and a drive of its own, so that it
// goes the same way each time.
type Plays struct {
	kept[storyKey, Played]
}

type storyKey [sha256.Size]byte

// playRoom bounds what is held, in bytes.
const playRoom = 4 << 20

func keyOfStory(s *Story) storyKey {
	h := sha256.New()
	add := func(part []byte) {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	add([]byte(strconv.FormatBool(s.YAML)))
	add(s.Scenario)
	for i := range s.Routes {
		r := &s.Routes[i]
		add([]byte(strconv.FormatBool(r.YAML) + r.Name))
		add(r.Source)
	}
	return storyKey(h.Sum(nil))
}

// Get returns how a story went, false for one that was not played.
func (c *Plays) Get(s *Story) (Played, bool) { return c.get(keyOfStory(s)) }

// Put keeps how a story went.
func (c *Plays) Put(s *Story, result Played) {
	c.put(keyOfStory(s), result, playRoom, func(p Played) int { return len(p.Log) + 1<<10 })
}
