package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/server"
)

const (
	// certificateInterval is how often the files of the certificate are looked at.
	certificateInterval = 20 * time.Second
	// soonExpires is how long before its end a certificate should have been renewed.
	soonExpires = 14 * 24 * time.Hour
	// partExpires is the part of its time after which one that lives for days only should
	// have been: authorities advise to renew when a third is left.
	partExpires = 5
)

// expiresSoon reports whether a certificate that is good at now should have been renewed:
// two weeks before its end, or when a fifth of its time is left if that is less.
func expiresSoon(leaf *x509.Certificate, now time.Time) bool {
	return leaf.NotAfter.Sub(now) < min(soonExpires, leaf.NotAfter.Sub(leaf.NotBefore)/partExpires)
}

// expiryFault says that a certificate has ended or soon will, "" if it will not.
func expiryFault(leaf *x509.Certificate, now time.Time) string {
	until := leaf.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case !now.Before(leaf.NotAfter):
		return fmt.Sprintf("it has expired on %s; renew it", until)
	case expiresSoon(leaf, now):
		return fmt.Sprintf("it expires on %s; renew it", until)
	}
	return ""
}

// certificateErr says why the certificate from files cannot be used.
func (s *settings) certificateErr() error {
	if s.tlsCert == "" {
		return nil
	}
	if _, err := server.LoadCertificate(s.tlsCert, s.tlsKey); err != nil {
		return configError{fmt.Errorf("--tls-cert: %w", err)}
	}
	return nil
}

// followCertificate takes a certificate from files that was renewed without a signal, and
// tells administrators of one that soon expires or cannot be taken, until ctx ends.
func (a *app) followCertificate(ctx context.Context) error {
	if a.certificate == nil {
		return nil
	}
	said := "unknown"
	return regularly(ctx, certificateInterval, func(context.Context) {
		if wrong := a.lookAtCertificate(clock.Real{}.Now()); wrong != said {
			said = wrong
			a.told.note(engine.ServerCertificate, wrong)
		}
	})
}

// lookAtCertificate takes the certificate from its files if they have changed. It returns
// what is wrong with it, "" for nothing.
func (a *app) lookAtCertificate(now time.Time) string {
	var wrong []string
	switch changed, err := a.certificate.ReloadIfChanged(); {
	case err != nil:
		wrong = append(wrong, fmt.Sprintf("it was renewed and cannot be used, the one before is served: %v", err))
		if err.Error() != a.unusable {
			a.log.Error().Err(err).Msg("server: the certificate has changed and cannot be used; the one before is served")
		}
		a.unusable = err.Error()
	case changed:
		a.unusable = ""
		a.log.Info().Msg("server: serves the certificate that was renewed")
	default:
		a.unusable = ""
	}
	if fault := expiryFault(a.certificate.Leaf(), now); fault != "" {
		wrong = append(wrong, fault)
	}
	return strings.Join(wrong, "; ")
}

// measureCertificate registers the metric of the certificate's end.
func (a *app) measureCertificate(registry *prometheus.Registry) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_certificate_end_timestamp_seconds", Help: "Instant at which the first certificate of the server expires, 0 for none.",
	}, func() float64 {
		switch {
		case a.certificate != nil:
			return float64(a.certificate.Leaf().NotAfter.Unix())
		case !a.settings.secure():
			return 0
		}
		served, err := a.settings.servedCertificates()
		if err != nil {
			return 0 // one by ACME may not be there yet; administrators are told why
		}
		return float64(firstEnd(served).Unix())
	}))
}

// firstEnd returns when the first of certificates expires.
func firstEnd(served []servedCertificate) (end time.Time) {
	for _, c := range served {
		if end.IsZero() || c.leaf.NotAfter.Before(end) {
			end = c.leaf.NotAfter
		}
	}
	return end
}
