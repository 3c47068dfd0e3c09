package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
)

const missedHelp = `Resumes paused schedule entries. Instants that have passed meanwhile were missed: they are due at
once, and --misfire of the entry says what becomes of them: of once, one case starts now for all of
them. With --skip-missed they are skipped, and the next instant to come is the first that fires. `

func (e *Env) scheduleResume() *cobra.Command {
	var skip bool
	c := &cobra.Command{
		Use: "resume ENTRY...", Short: "Resume paused schedule entries: what they have missed is due at once",
		Long: missedHelp + EntryNames, Args: cobra.MinimumNArgs(1),
	}
	c.Flags().BoolVar(&skip, "skip-missed", false, "start nothing for instants that were missed while the entry was paused")
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		return s.eachEntry(ctx, args, func(of namedEntry) error {
			resumed, err := s.ResumeEntry(ctx, of.entry.UUID, skip)
			if err != nil {
				return err
			}
			return s.tellResumed(ctx, of, &resumed)
		})
	})
}

// tellResumed says what an entry that goes on starts at once, and when it fires next. resumed is
// the entry as it was then.
func (s *session) tellResumed(ctx context.Context, of namedEntry, resumed *client.Entry) error {
	missed, err := s.missedWords(ctx, resumed)
	if err != nil || missed == "" {
		if err == nil {
			err = s.say("%s goes on; next %s", of.title(), orNone(s.next(ctx, resumed)))
		}
		return err
	}
	now, err := s.FindEntry(ctx, of.entry.ID())
	switch {
	case client.IsSlug(err, "not-found"): // it was the last one
		return s.say("%s goes on: %s; no instant follows.", of.title(), missed)
	case err != nil:
		return err
	case now.Next == nil || !now.Next.After(s.serverTime(ctx)): // what was missed has not fired yet
		return s.say("%s goes on: %s.", of.title(), missed)
	}
	return s.say("%s goes on: %s; next %s", of.title(), missed, s.next(ctx, &now))
}

// missedWords says what becomes of the instants that an entry has missed when it is resumed, ""
// if it has missed none.
func (s *session) missedWords(ctx context.Context, resumed *client.Entry) (string, error) {
	now := s.serverTime(ctx)
	if resumed.Paused || resumed.Next == nil || resumed.Next.After(now) {
		return "", nil
	}
	several := false
	if len(resumed.Upcoming) > 1 {
		second, err := time.Parse("2006-01-02T15:04:05", resumed.Upcoming[1])
		if err != nil {
			return "", fmt.Errorf("the answer of the server cannot be read: %w", err)
		}
		several = !second.After(now)
	}
	late := now.Sub(*resumed.Next) > time.Duration(resumed.Grace)*time.Second
	first := s.next(ctx, resumed)
	switch {
	case late && resumed.Misfire == "skip" && several:
		return fmt.Sprintf("the instants since %s that were missed are skipped, as misfire says", first), nil
	case late && resumed.Misfire == "skip":
		return fmt.Sprintf("the instant of %s that was missed is skipped, as misfire says", first), nil
	case late && resumed.Misfire == "once" && several:
		return fmt.Sprintf("one case starts now for the instants since %s that were missed", first), nil
	case several:
		return fmt.Sprintf("the instants since %s that were missed start now, a case each", first), nil
	}
	return fmt.Sprintf("the instant of %s that was missed starts now", first), nil
}
