package signon

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-ldap/ldap/v3"

	"flowdrive/internal/errs"
)

// Why says in words for administrators why a provider or a directory does not let anybody in.
// Names of hosts and what the other side has sent are in the log alone.
func Why(err error) string {
	if said, is := errors.AsType[*errs.Error](err); is && said.Kind == errs.LogIn {
		return "its last answer lets nobody in: " + strings.TrimSuffix(strings.TrimPrefix(said.Detail, notTaken), ".")
	}
	if at, is := errors.AsType[*addressError](err); is {
		return at.use + " (" + at.member + "): " + Why(at.err)
	}
	if _, is := errors.AsType[*oidc.IssuerMismatchError](err); is {
		return "it calls itself something else than oidc-issuer does"
	}
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return "its certificate is not valid for this machine"
	}
	if _, is := errors.AsType[*net.DNSError](err); is {
		return "the name of its host is not known"
	}
	if failed, is := errors.AsType[net.Error](err); is && failed.Timeout() {
		return "it does not answer in time"
	}
	if _, is := errors.AsType[*net.OpError](err); is {
		return "it cannot be reached"
	}
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultInvalidCredentials):
		return "it refuses ldap-bind-dn with the password that the settings have"
	case ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject):
		return "there is nothing at ldap-base that ldap-bind-dn may read"
	case ldap.IsErrorWithCode(err, ldap.ErrorNetwork):
		return "it does not answer in time"
	}
	return "it does not answer as it should"
}
