package route

import "flowdrive/internal/document"

// OfSecret reports whether what is outside is a secret, whatever it is for.
func (k ReachKind) OfSecret() bool {
	switch k {
	case ReachSecret, ReachSecretURL, ReachSecretMail, ReachSecretText, ReachSecretBody:
		return true
	case ReachURL, ReachAddress, ReachCommand, ReachCallback:
	}
	return false
}

// secret reads {secret: <name>}: what an administrator has set under that name
// stands there when the step is done, and nowhere else
// (docs/contract/routes.md#secrets). It reports whether the value is one.
func (c *compiler) secret(v document.Value, use ReachKind) (name string, ok bool) {
	if !isKind(v, document.Object) {
		return "", false
	}
	at := v.Get("secret")
	if name, ok = str(at); ok {
		c.reach(use, name, at)
	}
	return name, ok
}
