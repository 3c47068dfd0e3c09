package server

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced begins the span of a request, if there are traces, and returns the context with
// it. Whether the server is up and its metrics are asked too often to be worth one.
//
// A request goes on with the trace that its header traceparent names
// (https://www.w3.org/TR/trace-context/) if it comes from loopback or a trusted proxy:
// anybody else could have everything recorded, or nothing.
func (s *Server) traced(ctx context.Context, x *exchange, r *http.Request) context.Context {
	if s.config.Tracer == nil || x.area == areaProbe || x.area == areaMetrics {
		return ctx
	}
	if x.peer.IsLoopback() || s.proxies.trust(x.peer) {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	route := areaNames[x.area]
	ctx, x.span = s.config.Tracer.Start(ctx, methodNames[methodIndex(r.Method)]+" "+route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(
			attribute.String("http.request.method", clip(r.Method, 32)),
			attribute.String("http.route", route),
			attribute.String("url.path", loggedPath(x.area, r.URL.EscapedPath())),
			attribute.String("client.address", x.client.String()),
			attribute.String("flowdrive.request_id", x.id[0]),
		))
	return ctx
}

// endSpan says in the span of the request, if it has one, what the log says of it.
func (x *exchange) endSpan() {
	if x.span == nil {
		return
	}
	x.span.SetAttributes(attribute.Int("http.response.status_code", x.status))
	if x.principal.ID != 0 {
		x.span.SetAttributes(attribute.String("user.name", string(x.principal.Name)))
	}
	if x.kind != "" {
		x.span.SetAttributes(attribute.String("error.type", string(x.kind)))
	}
	if x.status >= http.StatusInternalServerError || x.broken {
		x.span.SetStatus(codes.Error, string(x.kind))
	}
	x.span.End()
}
