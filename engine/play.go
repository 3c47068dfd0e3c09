package engine

import (
	"context"
	"errors"
	"fmt"

	"flowdrive/engine/prefetch"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// Story is a scenario with the routes that it is played with.
type Story = prefetch.Story

// StoryRoute is one of the routes of a story.
type StoryRoute = prefetch.StoryRoute

// Played is how a story went.
type Played = prefetch.Played

// Player plays the scenarios beside routes, each on a drive of its own that knows
// nothing of this one (docs/contract/routes.md#9-scenarios).
type Player interface {
	// Read reads a scenario without playing it, and returns its title. What is wrong
	// with it is errs.NotParseable, or errs.Invalid with every fault.
	Read(scenario []byte, yaml bool) (title string, err error)
	// Play plays a story within bounds of time and memory. What it does not get
	// through is in the result. by is the user for whom it is played: one story of
	// each user is played at a time. It returns an error if stories cannot be played
	// at the moment.
	Play(ctx context.Context, by identity.Name, s *Story) (Played, error)
}

// Bounds of a story. Longer ones are refused.
const (
	mostStoryRoutes = 100
	mostStoryBytes  = 16 << 20
)

// playAhead is the error of a decision that needs to know how a story goes. That may
// take seconds, and neither the writer nor a reader may wait for it: the decision is
// given up, the story is played, and the decision is made again.
type playAhead struct {
	by    identity.Name
	story *Story
}

// Error implements error.
func (*playAhead) Error() string { return "a scenario is to be played first" }

// Unwrap says that it is not a defect: the same change succeeds later.
func (*playAhead) Unwrap() error {
	return errs.New(errs.Unavailable, "The scenario has not been played yet; try again.")
}

// playStory plays what a decision waits for.
func (e *base) playStory(ctx context.Context, ahead *playAhead) error {
	result, err := e.player.Play(ctx, ahead.by, ahead.story)
	if err == nil {
		e.plays.Put(ahead.story, result)
	}
	return err
}

// play returns how the scenario goes with the routes. A story that does not hold is
// errs.ScenarioBroken. The result is nil if this engine plays none.
func (e *base) play(r store.Reader, by identity.Principal, s *store.Scenario, first storyRoute) (*Played, error) {
	if e.player == nil {
		return nil, nil
	}
	story, err := e.story(r, by, s, first)
	if err != nil {
		return nil, err
	}
	played, known := e.plays.Get(story)
	if !known {
		return nil, &playAhead{by.Name, story}
	}
	return &played, brokenStory(scenarioName(first.name, s.YAML), &played)
}

// storyRoute is a route as a story is played with it.
type storyRoute struct {
	name   string // by which the story's other routes name it
	yaml   bool
	source []byte
	node   *document.Node
	meant  route.Meant
}

// story gathers the routes that a scenario is played with: the one that it is about,
// and those that this one starts and the caller sees, as they are stored.
func (e *base) story(r store.Reader, by identity.Principal, s *store.Scenario, first storyRoute) (*Story, error) {
	story := &Story{Scenario: s.Source, YAML: s.YAML}
	seen := map[string]bool{identity.Fold(first.name): true}
	for queue := []storyRoute{first}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		story.Routes = append(story.Routes, StoryRoute{Name: at.name, YAML: at.yaml, Source: at.source})
		if len(story.Routes) > mostStoryRoutes || story.Size() > mostStoryBytes {
			long := fmt.Sprintf("the route and those that it starts are more than %d, or larger than %d MiB.", mostStoryRoutes, mostStoryBytes>>20)
			return nil, brokenStory(scenarioName(first.name, s.YAML), &Played{Unplayable: long})
		}
		for _, name := range route.Named(at.node) {
			folded := identity.Fold(name)
			if seen[folded] {
				continue
			}
			seen[folded] = true
			next, err := e.storyRouteNamed(r, by, name, at.meant.Route(name))
			if err != nil {
				return nil, err
			}
			if next != nil {
				queue = append(queue, *next)
			}
		}
	}
	return story, nil
}

// storyRouteNamed returns the stored route that a text names and that is called so
// now; nil if the caller sees none.
func (e *base) storyRouteNamed(r store.Reader, by identity.Principal, name, called string) (*storyRoute, error) {
	info := e.rights.Visible(by, called)
	if info == nil {
		return nil, nil
	}
	stored, err := store.OrNil(r.Routes().Get(info.ID))
	if err != nil || stored == nil {
		return nil, err
	}
	out := &storyRoute{name: name, yaml: stored.YAML, source: stored.Source}
	if out.node, err = document.Parse(stored.Source, stored.YAML); err != nil {
		return nil, errs.Wrap("read the source of the route "+stored.Name, err)
	}
	out.meant, err = meantIn(r, stored.ID, stored.Version)
	return out, err
}

// brokenStory returns the error of a story that does not hold, nil for one that does.
func brokenStory(file string, p *Played) error {
	if p.Holds() {
		return nil
	}
	e := &errs.Error{Kind: errs.ScenarioBroken, Extra: map[string]any{"scenario": href("Workflow", "Routes", file), "log": p.Log}}
	if p.Step > 0 {
		e.Extra["step"] = p.Step
	}
	if p.Unplayable != "" {
		e.Detail = fmt.Sprintf("The scenario %s cannot be played: %s", file, p.Unplayable)
		return e
	}
	e.Faults = p.Faults
	invalid, _ := errors.AsType[*errs.Error](errs.InvalidDocument(p.Faults))
	e.Detail = fmt.Sprintf("The scenario %s does not hold. %s", file, invalid.Detail)
	return e
}

// scenarioName returns the name of the file of a route's scenario.
func scenarioName(name string, yaml bool) string {
	if yaml {
		return name + ".scenario.yaml"
	}
	return name + ".scenario.json"
}
