package davfs

import (
	"encoding/json"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/document"
)

// A program that mounts the drive shows nobody the answer to a PUT, in which a new secret
// stands this once. So the file that was saved has it for its maker, for some minutes. It is
// in memory alone, and nobody gets it who is logged in with an app password
// (docs/contract/drive.md#app-passwords-and-calendar-links).
const (
	newSecretLifetime = 10 * time.Minute
	maxNewSecrets     = 1000

	// davfs2 asks for the ETag right after a PUT and takes what it has sent for that version.
	// It reads the file again if the ETag is another one a moment later.
	newSecretSettles = time.Second
)

// newSecret is what is secret in an app password, a calendar link or a hook that a mounting
// client made a moment ago.
type newSecret struct {
	Created, Secret, URL string

	at time.Time // when it was made
}

// newSecrets are those of all users.
type newSecrets = recentActions[newSecret]

func startNewSecrets(now func() time.Time) *newSecrets {
	return newRecentActions[newSecret](now, newSecretLifetime, maxNewSecrets, maxNewSecrets)
}

// noteSecret keeps what is secret in the answer for the file that was saved, or forgets that
// of an earlier one.
func (p *putRequest) noteSecret(o *engine.Outcome) {
	if !p.rules.secret || o.Once == nil || p.dryRun {
		return
	}
	var made newSecret
	if err := json.Unmarshal(o.Once, &made); err != nil {
		p.Log.Warn().Err(err).Msg("drive: could not read the answer with a secret, so that its file does not show it")
		return
	}
	made.at = p.wall
	p.request.secrets.forget(p.userPath())
	if !p.script {
		p.request.secrets.add(p.userPath(), made, 1)
	}
}

// withNewSecret adds to the form what is secret if the caller has just made it there: not
// another one of the same name. The file has another ETag as long as it is shown.
func (s *scope) withNewSecret(path []string, r *engine.Resource) *engine.Resource {
	if s.secrets == nil || s.script || s.by.Device {
		return r
	}
	var there newSecret
	made, found := s.secrets.find(userPathOf(s.by.ID, addressOf(path)))
	if !found || json.Unmarshal(r.Form, &there) != nil || there.Created != made.Created {
		return r
	}
	shown := *r
	if made.Secret != "" {
		shown.Form = document.WithMember(r.Form, "secret", document.AppendString(nil, made.Secret))
	} else {
		shown.Form = document.WithMember(r.Form, "url", document.AppendString(nil, made.URL))
	}
	mark := "new-"
	if s.wall.Sub(made.at) >= newSecretSettles {
		mark = "shown-"
	}
	shown.FormETag = r.Definition + mark + strings.TrimPrefix(r.FormETag, r.Definition)
	return &shown
}
