package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/store"
)

// Variables of OpenTelemetry that are judged here: its library would only complain.
const (
	otelDisabled       = "OTEL_SDK_DISABLED"
	otelExporter       = "OTEL_TRACES_EXPORTER"
	otelEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otelTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otelProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	otelTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	otelSampler        = "OTEL_TRACES_SAMPLER"
	otelSamplerArg     = "OTEL_TRACES_SAMPLER_ARG"
)

// traceSettings are the flags of serve that say where traces go.
type traceSettings struct{ endpoint string }

func (s *traceSettings) register(flags *pflag.FlagSet) {
	flags.StringVar(&s.endpoint, "otlp-endpoint", "", "where traces go, by OTLP over HTTP, such as http://127.0.0.1:4318\n(default: as OTEL_EXPORTER_OTLP_ENDPOINT says; without either there are no traces)")
}

// address returns the URL to which traces are posted, "" if there are none. The error has
// everything that is wrong with the flag and the variables.
func (s *traceSettings) address() (string, error) {
	if disabled, _ := strconv.ParseBool(os.Getenv(otelDisabled)); disabled {
		return "", nil
	}
	from, text, whole := "--otlp-endpoint", s.endpoint, false
	if text == "" {
		from, text, whole = otelTracesEndpoint, os.Getenv(otelTracesEndpoint), true
	}
	if text == "" {
		from, text, whole = otelEndpoint, os.Getenv(otelEndpoint), false
	}
	if text == "" {
		return "", nil
	}
	var wrong []error
	fault := func(format string, args ...any) { wrong = append(wrong, configError{fmt.Errorf(format, args...)}) }
	switch exporter := os.Getenv(otelExporter); exporter {
	case "none":
		return "", nil
	case "", "otlp":
	default:
		fault("%s: %q is not a known exporter; give otlp or none", otelExporter, exporter)
	}
	for _, name := range []string{otelProtocol, otelTracesProtocol} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			fault("%s: traces go by http/protobuf alone, not by %q; most receivers take that at port 4318", name, protocol)
		}
	}
	samplerFaults(fault)
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		fault("%s: the text is not an http or https URL, such as http://127.0.0.1:4318", from)
	case u.User != nil:
		fault("%s: the URL has a password; give it by OTEL_EXPORTER_OTLP_HEADERS, such as Authorization=Basic%%20…", from)
	case u.RawQuery != "" || u.Fragment != "":
		fault("%s: the URL has a query or a fragment, which has no meaning there", from)
	default:
		if !whole {
			u = u.JoinPath("v1", "traces")
		}
		return u.String(), errors.Join(wrong...)
	}
	return "", errors.Join(wrong...)
}

// samplerFaults judges the variables that say which traces are kept.
func samplerFaults(fault func(format string, args ...any)) {
	samplers := []string{"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	sampler, share := os.Getenv(otelSampler), os.Getenv(otelSamplerArg)
	if sampler != "" && !slices.Contains(samplers, sampler) {
		fault("%s: %q is not a known sampler; give one of %s", otelSampler, sampler, strings.Join(samplers, ", "))
	}
	if ratio, err := strconv.ParseFloat(share, 64); share != "" && strings.HasSuffix(sampler, "ratio") && (err != nil || !(ratio >= 0 && ratio <= 1)) {
		fault("%s: %q is not a share of all traces from 0 to 1, such as 0.1", otelSamplerArg, share)
	}
}

// traces says in spans what the server does. All that is done by itself for a case, the
// firing that created it and each delivery, is in one trace. nil does nothing.
type traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	place    string // what tells the cases of this server from those of others
	sandbox  bool   // the engine's clock is not the machine's
}

// newTraces returns nil if the settings ask for none.
func (a *app) newTraces(ctx context.Context) (*traces, error) {
	address, err := a.settings.traces.address()
	if err != nil || address == "" || a.settings.offline || a.settings.rehearsal {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "flowdrive"), attribute.String("service.version", version())),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, configError{fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)}
	}
	place := a.settings.database.address
	if place == "" {
		if place, err = filepath.Abs(a.settings.data); err != nil {
			return nil, fmt.Errorf("find the data folder: %w", err)
		}
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("find the name of the machine: %w", err)
		}
		place = host + ":" + place
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithIDGenerator(traceIDs{}), sdk.WithBatcher(&calmExporter{SpanExporter: exporter, log: a.log}))
	return &traces{provider: provider, tracer: provider.Tracer("flowdrive"), place: place, sandbox: a.sandbox != nil}, nil
}

// close sends what has not been sent, for a few seconds.
func (t *traces) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // calmExporter has said what is wrong
}

// requests returns the tracer of requests, nil for none.
func (t *traces) requests() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.tracer
}

// fired says what became of an instant of a schedule entry.
func (t *traces) fired(f engine.Firing) {
	if t == nil {
		return
	}
	began := f.Began
	if t.sandbox {
		began = time.Now()
	}
	_, span := t.tracer.Start(t.ofCase(context.Background(), f.Case), "fire", trace.WithTimestamp(began), trace.WithAttributes(
		attribute.String("flowdrive.entry", f.Entry.String()),
		attribute.String("flowdrive.instant", f.Instant.Format(time.RFC3339)),
		attribute.String("flowdrive.outcome", f.Outcome),
		attribute.Int64("flowdrive.lag_ms", f.Lag.Milliseconds()),
		attribute.Int64("flowdrive.case", f.Case),
	))
	if f.Outcome == engine.OutcomeFailed {
		span.SetStatus(codes.Error, "the entry says why")
	}
	span.End()
}

// ofCase returns the context for a span of what is done for a case, 0 for none.
func (t *traces) ofCase(ctx context.Context, id int64) context.Context {
	if id == 0 {
		return ctx
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "flowdrive case %d of %s", id, t.place))
	return context.WithValue(ctx, traceKey{}, trace.TraceID(sum[:16]))
}

type traceKey struct{}

// traceIDs gives ids to traces and spans. All spans of a case have one trace.
type traceIDs struct{}

// NewIDs implements sdk.IDGenerator.
func (g traceIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, given := ctx.Value(traceKey{}).(trace.TraceID)
	if !given {
		for i := range id {
			id[i] = byte(rand.Uint32()) //nolint:gosec // an id is not a secret
		}
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (traceIDs) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		for i := range id {
			id[i] = byte(rand.Uint32()) //nolint:gosec // an id is not a secret
		}
	}
	return id
}

// calmExporter says once that traces cannot be delivered, and once that they can again.
type calmExporter struct {
	sdk.SpanExporter
	log   zerolog.Logger
	mu    sync.Mutex
	fails bool
}

// ExportSpans implements sdk.SpanExporter. It returns no error, for the library would
// print each.
func (e *calmExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil && !e.fails:
		e.log.Warn().Err(err).Msg("traces: could not be delivered; they are lost until they can")
	case err == nil && e.fails:
		e.log.Info().Msg("traces: are delivered again")
	}
	e.fails = err != nil
	return nil
}

// stored returns the database with a span for each use of it within a traced request.
func (t *traces) stored(db store.Store) store.Store {
	if t == nil {
		return db
	}
	return tracedStore{db, t.tracer}
}

type tracedStore struct {
	store.Store
	tracer trace.Tracer
}

// View implements store.Store.
func (s tracedStore) View(ctx context.Context, f func(store.Reader) error) error {
	return s.within(ctx, "store.view", func(ctx context.Context) error { return s.Store.View(ctx, f) })
}

// Update implements store.Store.
func (s tracedStore) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.within(ctx, "store.update", func(ctx context.Context) error { return s.Store.Update(ctx, f) })
}

func (s tracedStore) within(ctx context.Context, name string, f func(context.Context) error) error {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return f(ctx)
	}
	ctx, span := s.tracer.Start(ctx, name)
	defer span.End()
	return f(ctx)
}

// outside returns the outside with a span for each delivery.
func (t *traces) outside(o outbox.Outside) outbox.Outside {
	if t == nil {
		return o
	}
	return tracedOutside{o, t}
}

type tracedOutside struct {
	outbox.Outside
	traces *traces
}

// Deliver implements outbox.Outside. The service or command is told the trace.
func (o tracedOutside) Deliver(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
	kind, about := "call", []attribute.KeyValue{
		attribute.Int64("flowdrive.case", d.Case), attribute.String("flowdrive.delivery", d.Key), attribute.Int("flowdrive.attempt", d.Attempt),
	}
	switch {
	case d.HTTP != nil:
		kind = "http"
		about = append(about, attribute.String("http.request.method", d.HTTP.Method))
		if u, err := url.Parse(d.HTTP.URL); err == nil && u.Host != "" {
			about = append(about, attribute.String("server.address", u.Hostname()))
		}
	case d.Mail != nil:
		kind = "mail"
		about = append(about, attribute.Int("flowdrive.recipients", len(d.Mail.To)))
	case d.Exec != nil:
		kind = "command"
		about = append(about, attribute.String("flowdrive.command", d.Exec.Name))
	case d.News != nil:
		kind = "notice"
	}
	ctx, span := o.traces.tracer.Start(o.traces.ofCase(ctx, d.Case), "deliver "+kind, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(about...))
	defer span.End()
	reply, err := o.Outside.Deliver(ctx, d)
	if err != nil {
		span.SetStatus(codes.Error, "the case's Outbox says why") // the error may quote what a service answered
	}
	return reply, err
}

var (
	_ sdk.IDGenerator = traceIDs{}
	_ store.Store     = tracedStore{}
	_ outbox.Outside  = tracedOutside{}
)
