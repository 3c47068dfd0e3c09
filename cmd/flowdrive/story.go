package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"flowdrive/engine"
	"flowdrive/internal/confine"
	"flowdrive/internal/errs"
	"flowdrive/internal/simulate"
)

// storyFailed is the exit status of a process that could not play its story for a
// reason that is none of the story's.
const storyFailed = 3

// serveStory is the process that plays a story in a data folder of its own: it sets its
// limits, reads the story, and writes how it went. It returns the exit status.
func serveStory(folder string, in io.Reader, out io.Writer) (status int) {
	if err := confine.Self(confine.Limits{Processor: storyProcessor, Memory: storyMemory, File: storyFile}); err != nil {
		return storyFailed
	}
	var s engine.Story
	if err := json.NewDecoder(in).Decode(&s); err != nil {
		return storyFailed
	}
	ctx, cancel := context.WithTimeout(context.Background(), storyPatience)
	defer cancel()
	played, err := playStory(ctx, folder, &s)
	if err != nil {
		return storyFailed
	}
	if err := json.NewEncoder(out).Encode(played); err != nil {
		return storyFailed
	}
	return 0
}

// playStory plays a story on the whole server in this process. It returns an error if
// something failed that is not the story's.
func playStory(ctx context.Context, folder string, s *engine.Story) (*engine.Played, error) {
	scenario, err := simulate.ParseIn(s.Scenario, s.YAML)
	if err != nil {
		return storyRefused("it can no longer be read", err)
	}
	routes := make([]simulate.Route, len(s.Routes))
	for i, r := range s.Routes {
		file := r.Name + ".json"
		if r.YAML {
			file = r.Name + ".yaml"
		}
		routes[i] = simulate.Route{File: file, Name: r.Name, Source: r.Source}
	}
	server := settings{data: folder, logLevel: "error"}
	report, err := server.play(ctx, io.Discard, scenario, routes)
	if err != nil {
		return storyRefused("something that it needs is refused", err)
	}
	return playedOf(report), nil
}

// storyRefused says that a story cannot be played because something in it is refused.
func storyRefused(what string, err error) (*engine.Played, error) {
	refusal, ok := errors.AsType[*errs.Error](err)
	if !ok || refusal.Kind == errs.Internal || refusal.Kind == errs.Unavailable {
		return nil, err
	}
	return &engine.Played{Unplayable: clipText(what+": "+strings.ReplaceAll(err.Error(), "\n", " "), mostRefusal)}, nil
}

// Bounds of what is told of a story, in bytes.
const (
	mostRefusal   = 2 << 10
	mostStoryLog  = 64 << 10
	mostFault     = 1 << 10
	mostFaultsOut = 20
)

func playedOf(report *simulate.Report) *engine.Played {
	out := &engine.Played{Steps: int64(report.Steps), Expectations: int64(report.Checked), Log: clipText(report.Log, mostStoryLog)}
	if report.Step == nil {
		return out
	}
	out.Step = out.Steps
	for _, f := range report.Failures[:min(len(report.Failures), mostFaultsOut)] {
		f.Detail = clipText(fmt.Sprintf("step %d (%s): %s", out.Step, report.Step, f.Detail), mostFault)
		out.Faults = append(out.Faults, f)
	}
	return out
}

// clipText cuts a text after so many bytes.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
