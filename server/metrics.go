package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// area is a part of the tree, for metrics: a request's path has no place in
// a label.
type area uint8

const (
	areaOther area = iota
	areaRoot
	areaDrive
	areaWorkflow
	areaSchedule
	areaRoutes
	areaCases
	areaWorklist
	areaArchive
	areaDocuments
	areaAccount
	areaAdmin
	areaProbe
	areaMetrics
	areaClock
	areaAttach
	areaCalendar
	areaHook
	areaPages
	areaEvents
	areaAPI
	areas
)

// areaNames are the values of the label "area".
var areaNames = [areas]string{
	areaOther: "other", areaRoot: "/", areaDrive: "/dav", areaWorkflow: "/dav/Workflow", areaSchedule: "/dav/Workflow/Schedule",
	areaRoutes: "/dav/Workflow/Routes", areaCases: "/dav/Workflow/Cases", areaWorklist: "/dav/Workflow/Worklist",
	areaArchive: "/dav/Workflow/Archive", areaDocuments: "/dav/Documents", areaAccount: "/dav/Account", areaAdmin: "/dav/Admin",
	areaProbe: "/healthz", areaMetrics: "/metrics", areaClock: "/clock", areaAttach: "/attachfs", areaCalendar: "/calendar", areaHook: "/hook",
	areaPages: "pages", areaEvents: "/events", areaAPI: "/openapi.json",
}

// areaOf returns the area of a path.
func areaOf(path string) area {
	if path == "/" {
		return areaRoot
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "dav":
		return driveArea(rest)
	case "healthz", "livez", "readyz", "version":
		return areaProbe
	case "metrics":
		return areaMetrics
	case "clock":
		return areaClock
	case "attachfs":
		return areaAttach
	case "calendar":
		return areaCalendar
	case "hook":
		return areaHook
	case "ui", "assets", "login", "logout", "tasks", "cases", "routes", "schedule", "late", "documents", "attachments", "search", "account", "mount", "admin",
		"sandbox", "keys", "docs":
		return areaPages
	case "events":
		return areaEvents
	case "openapi.json":
		return areaAPI
	}
	return areaOther
}

func driveArea(path string) area {
	first, rest, _ := strings.Cut(path, "/")
	switch first {
	case "Documents":
		return areaDocuments
	case "Account":
		return areaAccount
	case "Admin":
		return areaAdmin
	case "Workflow":
	default:
		return areaDrive
	}
	second, _, _ := strings.Cut(rest, "/")
	switch second {
	case "Schedule":
		return areaSchedule
	case "Routes":
		return areaRoutes
	case "Cases":
		return areaCases
	case "Worklist":
		return areaWorklist
	case "Archive":
		return areaArchive
	}
	return areaWorkflow
}

// methodNames are the values of the label "method". Any other method counts as
// the first.
var methodNames = [...]string{
	"other", http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPost,
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK",
}

func methodIndex(method string) int {
	for i := 1; i < len(methodNames); i++ {
		if methodNames[i] == method {
			return i
		}
	}
	return 0
}

// The statuses that have a value of the label "code", and a cell of the
// cache, each; all others share the last.
const (
	firstStatus = 200
	lastStatus  = 510
	statuses    = lastStatus - firstStatus + 2
)

// metrics observes requests. The observers of the label values that occur
// are kept, as looking them up costs more than observing.
type metrics struct {
	durations *prometheus.HistogramVec
	cells     [areas][len(methodNames)]atomic.Pointer[[statuses]atomic.Pointer[prometheus.Observer]]
}

func newMetrics(registry *prometheus.Registry, s *Server) (*metrics, error) {
	m := &metrics{durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "flowdrive_http_request_duration_seconds",
		Help:    "Time from a request's head to the end of its answer.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"method", "area", "code"})}
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_http_requests_in_flight",
		Help: "Requests that have no complete answer yet.",
	}, s.requests.count)
	refused := func(reason string, count func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "flowdrive_logins_refused_total", Help: "Log-ins refused, by whether the password was wrong or was not looked at after too many wrong ones.",
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(count()) })
	}
	logins := s.config.Auth.throttle
	wrong := refused("wrong", func() uint64 { wrong, _ := logins.refused(); return wrong })
	early := refused("throttled", func() uint64 { _, early := logins.refused(); return early })
	limited := func(limit string, count func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "flowdrive_http_requests_limited_total", Help: "Requests refused with 429 because there were too many, by the limit that they passed.",
			ConstLabels: prometheus.Labels{"limit": limit},
		}, func() float64 { return float64(count()) })
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowdrive_http_connections", Help: "Connections of clients that are open.",
	}, func() float64 { open, _ := s.connections.figures(); return float64(open) })
	over := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "flowdrive_http_connections_limited_total", Help: "Connections for which there was no room: each took the place of an idle one, was for probes alone, or was closed.",
	}, func() float64 { _, over := s.connections.figures(); return float64(over) })
	var err error
	for _, c := range []prometheus.Collector{
		m.durations, gauge, wrong, early, open, over,
		limited("rate-per-user", s.userRate.refused.Load), limited("rate-per-address", s.addressRate.refused.Load),
	} {
		err = errors.Join(err, registry.Register(c))
	}
	return m, err
}

func (m *metrics) observe(at area, method string, status int, took time.Duration) {
	m.observer(at, methodIndex(method), status).Observe(took.Seconds())
}

func (m *metrics) observer(at area, method, status int) prometheus.Observer {
	row := &m.cells[at][method]
	cells := row.Load()
	if cells == nil {
		row.CompareAndSwap(nil, new([statuses]atomic.Pointer[prometheus.Observer]))
		cells = row.Load()
	}
	index := statuses - 1
	if firstStatus <= status && status <= lastStatus {
		index = status - firstStatus
	}
	cell := &cells[index]
	if o := cell.Load(); o != nil {
		return *o
	}
	code := "other"
	if index < statuses-1 {
		code = strconv.Itoa(status)
	}
	o := m.durations.WithLabelValues(methodNames[method], areaNames[at], code)
	cell.Store(&o)
	return o
}
