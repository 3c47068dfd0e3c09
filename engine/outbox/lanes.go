package outbox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/mediatype"
)

// Key is the idempotency key of what a step of a case asks for
// (docs/contract/engine.md#the-machine-is-a-pure-function).
func Key(guid string, seq, step int64) string { return fmt.Sprintf("%s-%d-%d", guid, seq, step) }

// LaneOf returns the lane of a request: the mail server, a host, a command, a
// callback or a destination of notices. A slow lane does not delay the others.
func LaneOf(r *machine.Request) string {
	switch {
	case r.Mail != nil:
		return MailLane
	case r.HTTP != nil && r.HTTP.URLSecret != "":
		return "http:{secret: " + r.HTTP.URLSecret + "}"
	case r.HTTP != nil:
		if u, err := url.Parse(r.HTTP.URL); err == nil {
			return "http:" + strings.ToLower(u.Host)
		}
		return "http:"
	case r.Exec != nil:
		return laneOfCommands + r.Exec.Name
	case r.News != nil:
		return NewsLane(r.News.Destination)
	}
	return "call:" + r.Call.Name
}

// laneOfCommands begins the lanes of commands.
const laneOfCommands = "exec:"

func isCommand(lane string) bool { return strings.HasPrefix(lane, laneOfCommands) }

// MailLane is the lane of all mails.
const MailLane = "mail"

// NewsLane returns the lane of what a destination of notices is told.
func NewsLane(destination string) string { return newsPrefix + destination }

// DestinationOf returns the ID of the destination whose lane it is.
func DestinationOf(lane string) (destination string, ok bool) {
	return strings.CutPrefix(lane, newsPrefix)
}

const newsPrefix = "notify:"

// prefixOfNotice is how long the prefix of the key of a notice is.
const prefixOfNotice = 16

// NoticePrefix returns how the keys begin of all notices that tell the same recipient
// of the same thing, as of a case. They are sent in the order in which they were
// stored: nobody learns that something is over before that it is wrong.
func NoticePrefix(r *machine.Request) string {
	lane, about := LaneOf(r), ""
	switch {
	case r.Heartbeat != "":
		lane, about = "heartbeat", r.Heartbeat // in order, whichever address is called
	case r.Mail != nil:
		if about = strings.Join(r.Mail.To, " ") + "\x00" + r.Mail.Thread; r.Mail.Thread == "" {
			about += r.Mail.Subject + r.Mail.Text // a digest is about nothing that others are about
		}
	case r.News != nil:
		about = r.News.About
	}
	sum := sha256.Sum256([]byte(lane + "\x00" + about))
	return hex.EncodeToString(sum[:prefixOfNotice/2])
}

// NoticeKey returns the key of a notice with that prefix, by a UUID.
func NoticeKey(prefix, uuid string) string { return prefix + uuid[len(prefix):] }

// PrefixOfNotice returns the prefix of the key of a notice.
func PrefixOfNotice(key string) string { return key[:min(len(key), prefixOfNotice)] }

// What is not delivered is tried again with growing pauses, for about a day.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Hour
	// MostAttempts is how often a delivery is tried.
	MostAttempts = 33
	// LongestLater is the longest pause that the outside may ask for.
	LongestLater = 24 * time.Hour
)

// PauseAfter returns how long to wait after so many attempts. Each pause is
// twice the one before, up to an hour; a part of it that key and attempt give
// is added or taken away, so that what failed together does not come back
// together.
func PauseAfter(key string, attempts int64) time.Duration {
	pause := longestPause
	if shift := attempts - 1; shift < 16 {
		pause = min(pause, firstPause<<shift)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, attempts))
	const share = 5 // a fifth more or less
	spread := int64(2 * pause / share)
	return pause - pause/share + time.Duration(int64(binary.BigEndian.Uint64(sum[:8])>>1)%spread)
}

// CleanType returns the media type of an answer, or the type of unknown
// contents if it is not a valid one.
func CleanType(text string) string {
	const longest = 200
	main, sub, found := strings.Cut(text, "/")
	legal := found && main != "" && sub != "" && len(text) <= longest
	for i := range len(text) {
		legal = legal && text[i] >= ' ' && text[i] < 0x7f
	}
	if !legal {
		return mediatype.Unknown
	}
	return text
}
