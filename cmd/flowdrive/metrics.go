package main

import (
	"errors"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"flowdrive/engine"
	"flowdrive/engine/machine"
)

// observer counts what the engine does.
type observer struct {
	firings   *prometheus.CounterVec
	lag       prometheus.Histogram
	performed *prometheus.CounterVec
	started   prometheus.Counter
	ended     *prometheus.CounterVec
	failed    *prometheus.CounterVec
	damaged   prometheus.Counter
	traces    *traces // nil: none
}

var _ engine.Observer = (*observer)(nil)

func newObserver(registry *prometheus.Registry, traces *traces) (*observer, error) {
	o := &observer{
		traces: traces,
		firings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "flowdrive_schedule_firings_total", Help: "Instants of schedule entries, by what became of them.",
		}, []string{"outcome"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "flowdrive_schedule_lag_seconds", Help: "How late instants were fired.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 60, 3600},
		}),
		performed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "flowdrive_actions_performed_total", Help: "Actions performed, by what set them off.",
		}, []string{"trigger"}),
		started: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "flowdrive_cases_created_total", Help: "Cases created.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "flowdrive_cases_ended_total", Help: "Cases ended, by how.",
		}, []string{"state"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "flowdrive_failures_total", Help: "What could not be done in cases for good, by the way in which it failed.",
		}, []string{"kind"}),
		damaged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "flowdrive_damaged_contents_total", Help: "Contents that were read and are not what was stored.",
		}),
	}
	// What an alert looks at is there before it happens: a rate misses the first event else.
	for _, outcome := range []string{engine.OutcomeFired, engine.OutcomeLate, engine.OutcomeSkipped, engine.OutcomeFailed, engine.OutcomeTriggered, engine.OutcomeBackfilled} {
		o.firings.WithLabelValues(outcome)
	}
	for _, life := range []machine.Life{machine.Completed, machine.Closed, machine.Canceled, machine.Failed} {
		o.ended.WithLabelValues(string(life))
	}
	for _, kind := range []machine.FailureKind{machine.FailureExit, machine.FailureTimeout, machine.FailureSignal, machine.FailureStatus, machine.FailureNetwork, machine.FailureFault} {
		o.failed.WithLabelValues(string(kind))
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "flowdrive_build_info", Help: "1, with what runs as labels.",
		ConstLabels: prometheus.Labels{"version": version(), "goversion": runtime.Version()},
	})
	build.Set(1)
	var err error
	for _, c := range []prometheus.Collector{
		o.firings, o.lag, o.performed, o.started, o.ended, o.failed, o.damaged, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		err = errors.Join(err, registry.Register(c))
	}
	return o, err
}

// Fired implements engine.Observer.
func (o *observer) Fired(f engine.Firing) {
	o.firings.WithLabelValues(f.Outcome).Inc()
	o.lag.Observe(f.Lag.Seconds())
	o.traces.fired(f)
}

// Performed implements engine.Observer.
func (o *observer) Performed(trigger string) { o.performed.WithLabelValues(trigger).Inc() }

// CaseStarted implements engine.Observer.
func (o *observer) CaseStarted() { o.started.Inc() }

// CaseEnded implements engine.Observer.
func (o *observer) CaseEnded(state string) { o.ended.WithLabelValues(state).Inc() }

// Failed implements engine.Observer.
func (o *observer) Failed(kind string) { o.failed.WithLabelValues(kind).Inc() }
