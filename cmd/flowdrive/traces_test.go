package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver takes traces as a collector does.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*spans.Span
	about []string
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var told collector.ExportTraceServiceRequest
		if err = errors.Join(err, proto.Unmarshal(body, &told)); err != nil || req.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", req.URL, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, of := range told.GetResourceSpans() {
			for _, a := range of.GetResource().GetAttributes() {
				r.about = append(r.about, a.GetKey()+"="+a.GetValue().GetStringValue())
			}
			for _, scope := range of.GetScopeSpans() {
				r.spans = append(r.spans, scope.GetSpans()...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

// find returns the spans of that name with the attribute, or all if it is "".
func (r *receiver) find(name, key, value string) (found []*spans.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.GetName() == name && (key == "" || attributeOf(s, key) == value) {
			found = append(found, s)
		}
	}
	return found
}

func attributeOf(s *spans.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return cmp.Or(a.GetValue().GetStringValue(), strconv.FormatInt(a.GetValue().GetIntValue(), 10))
		}
	}
	return ""
}

// TestTraces: a request goes on with the trace that it names, and has a span for each use
// of the database. The firing of an entry, and the call and the command of its case, are in
// one trace, of which the called service is told.
func TestTraces(t *testing.T) {
	t.Parallel()
	to := startReceiver(t)
	s := startService(t, func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusTeapot) })
	p := startConfigured(t, fmt.Sprintf(`
allow-host: %q
otlp-endpoint: %s
commands: {say: {path: /bin/sh, args: [-c, 'printf %%s "$TRACEPARENT"']}}
`, strings.TrimPrefix(s.URL, "http://"), to.URL))
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/call.yaml", strings.ReplaceAll(`
access: {start: [everyone]}
states:
  begun: {type: start, onEnter: [{exec: {command: say, into: Said}}]}
  said: {onEnter: [{http: {url: "SERVICE/?secret=1", method: GET}}]}
  done: {type: complete}
actions:
  begin: {trigger: init}
  hear: {trigger: message, message: Said, in: [begun], to: said}
  over: {trigger: auto, in: [said], to: done}
`, "SERVICE", s.URL))
	entry := p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Schedule/now.json", `{"type": "interval", "weeks": 100, "route": "call"}`).header.Get("Location")
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	p.must(t, http.StatusNoContent, "PUT", entry, `{"do": "trigger"}`, "traceparent", "00-"+parent+"-00f067aa0ba902b7-01")
	eventually(t, func() string { return strings.Repeat("not called", 1-min(len(s.seen()), 1)) })
	if err := p.stop(); err != nil { // what is left is sent
		t.Fatal(err)
	}

	one := func(name, key, value string) *spans.Span {
		t.Helper()
		found := to.find(name, key, value)
		if len(found) != 1 {
			t.Fatalf("got %d spans %s with %s=%s: %v", len(found), name, key, value, found)
		}
		return found[0]
	}
	request := one("PUT /dav/Workflow/Schedule", "url.path", entry)
	if got := hex.EncodeToString(request.GetTraceId()); got != parent || attributeOf(request, "http.response.status_code") != "204" || attributeOf(request, "user.name") != "admin" {
		t.Errorf("the request is %v", request)
	}
	stored := slices.ContainsFunc(to.find("store.update", "", ""), func(s *spans.Span) bool {
		return bytes.Equal(s.GetParentSpanId(), request.GetSpanId()) && bytes.Equal(s.GetTraceId(), request.GetTraceId())
	})
	if !stored {
		t.Error("the request has no span of what it stored")
	}
	fired, run, called := one("fire", "flowdrive.outcome", "triggered"), one("deliver command", "flowdrive.command", "say"), one("deliver http", "server.address", "127.0.0.1")
	if !bytes.Equal(fired.GetTraceId(), run.GetTraceId()) || !bytes.Equal(fired.GetTraceId(), called.GetTraceId()) || bytes.Equal(fired.GetTraceId(), request.GetTraceId()) {
		t.Errorf("what is done for the case is not in one trace: %v, %v, %v", fired, run, called)
	}
	if strings.Contains(called.GetStatus().GetMessage(), "418") {
		t.Errorf("a span tells what the service has answered: %v", called.GetStatus())
	}
	if called.GetStatus().GetCode() != spans.Status_STATUS_CODE_ERROR || run.GetStatus().GetCode() == spans.Status_STATUS_CODE_ERROR {
		t.Errorf("the call ended with %v, the command with %v", called.GetStatus(), run.GetStatus())
	}
	if got, want := s.seen()[0].header.Get("traceparent"), fmt.Sprintf("00-%x-%x-01", called.GetTraceId(), called.GetSpanId()); got != want {
		t.Errorf("the service was told %q, want %q", got, want)
	}
	if strings.Contains(fmt.Sprint(to.spans), "secret=1") {
		t.Error("a span has the query of an address, which may hold a secret")
	}
	if !slices.Contains(to.about, "service.name=flowdrive") {
		t.Errorf("the receiver is told of %v", to.about)
	}
}

// TestTraceSettings: each wrong variable has a sentence, and none is asked without an address.
func TestTraceSettings(t *testing.T) {
	const base, at = "http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"
	for name, c := range map[string]struct {
		flag, variables, want, fault string
	}{
		"nothing":    {},
		"unused":     {variables: "OTEL_TRACES_SAMPLER=often"},
		"flag":       {flag: base, want: at},
		"path":       {flag: base + "/otlp/", want: base + "/otlp/v1/traces"},
		"variable":   {variables: "OTEL_EXPORTER_OTLP_ENDPOINT=" + base, want: at},
		"flag first": {flag: base, variables: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://other", want: at},
		"whole":      {variables: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + base + "/x", want: base + "/x"},
		"disabled":   {flag: base, variables: "OTEL_SDK_DISABLED=true"},
		"none":       {flag: base, variables: "OTEL_TRACES_EXPORTER=none"},
		"exporter":   {flag: base, variables: "OTEL_TRACES_EXPORTER=jaeger", want: at, fault: `OTEL_TRACES_EXPORTER: "jaeger" is not a known exporter; give otlp or none`},
		"grpc":       {flag: base, variables: "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", want: at, fault: `OTEL_EXPORTER_OTLP_PROTOCOL: traces go by http/protobuf alone, not by "grpc"; most receivers take that at port 4318`},
		"sampler":    {flag: base, variables: "OTEL_TRACES_SAMPLER=often", want: at, fault: `OTEL_TRACES_SAMPLER: "often" is not a known sampler; give one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio`},
		"share":      {flag: base, variables: "OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=10%", want: at, fault: `OTEL_TRACES_SAMPLER_ARG: "10%" is not a share of all traces from 0 to 1, such as 0.1`},
		"no URL":     {flag: "127.0.0.1:4318", fault: "--otlp-endpoint: the text is not an http or https URL, such as http://127.0.0.1:4318"},
		"password":   {flag: "http://a:geheim@127.0.0.1", fault: "--otlp-endpoint: the URL has a password; give it by OTEL_EXPORTER_OTLP_HEADERS, such as Authorization=Basic%20…"},
		"query":      {flag: base + "?a=b", fault: "--otlp-endpoint: the URL has a query or a fragment, which has no meaning there"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			got, err := (&traceSettings{endpoint: c.flag}).address()
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if got != c.want || fault != c.fault {
				t.Errorf("got %q, %q; want %q, %q", got, fault, c.want, c.fault)
			}
		})
	}
}

type failing struct {
	sdk.SpanExporter
	err error
}

func (f *failing) ExportSpans(context.Context, []sdk.ReadOnlySpan) error { return f.err }

// TestTracesAreNotTaken: a receiver that is away is named once, and once when it is back.
func TestTracesAreNotTaken(t *testing.T) {
	t.Parallel()
	log := &watched{}
	to := &failing{}
	e := &calmExporter{SpanExporter: to, log: zerolog.New(log)}
	for _, to.err = range []error{nil, errors.New("connection refused"), errors.New("connection refused"), nil, nil} {
		if err := e.ExportSpans(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"connection refused", "delivered again"} {
		if n := strings.Count(log.String(), text); n != 1 {
			t.Errorf("%q is said %d times: %s", text, n, log.String())
		}
	}
}
