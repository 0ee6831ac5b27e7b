package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
)

// metrics counts what passes through, in a registry of its own. What the log and the views know already is read when
// somebody asks.
type metrics struct {
	page     http.Handler
	hooks    map[int]prometheus.Counter // by status; those that are not listed count as 0
	latency  prometheus.Histogram
	withheld prometheus.Counter
}

func newMetrics(s *statuses, n *capture.Counts) (*metrics, error) {
	counter := func(name, help string, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "cmemd", Name: name, Help: help}, func() float64 { return float64(n.Load()) })
	}
	answers := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "cmemd", Name: "hook_requests_total", Help: "Hook requests by the status of their answer; 0: the connection was cut.",
	}, []string{"status"})
	m := &metrics{
		hooks: map[int]prometheus.Counter{},
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "cmemd", Name: "hook_seconds", Help: "Time from a hook's headers to its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
		withheld: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "cmemd", Name: "context_withheld_total", Help: "Sessions that began without the memory they would have been given.",
		}),
	}
	for _, status := range []int{0, 200, 400, 404, 413, 500, 503} {
		m.hooks[status] = answers.WithLabelValues(strconv.Itoa(status))
	}
	reg := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		answers, m.latency, m.withheld,
		counter("hook_captured_total", "Hook payloads that led to new records.", &n.Recorded),
		counter("hook_duplicates_total", "Hook payloads that were on record already.", &n.Duplicates),
		counter("hook_ignored_total", "Hook payloads of which nothing is recorded.", &n.Ignored),
		counter("hook_aside_total", "Payloads that were put aside in the spool's bad folder.", &n.DeadLetters),
		counter("hook_lost_total", "Payloads that were refused and could not be put aside.", &n.Lost),
		counter("spool_drained_total", "Payloads that came out of the spool.", &n.Drained),
		newStateCollector(s), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	m.page = promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return m, nil
}

func (m *metrics) hook(status int, took time.Duration) {
	c, ok := m.hooks[status]
	if !ok {
		c = m.hooks[0]
	}
	c.Inc()
	m.latency.Observe(took.Seconds())
}

func (m *metrics) routes(to *dispatcher) []endpoint {
	return []endpoint{{Endpoint: api.Endpoint(api.MetricsRoute), serve: m.getMetrics, wrap: to.plain}}
}

func (m *metrics) getMetrics(w http.ResponseWriter, r *http.Request) error {
	m.page.ServeHTTP(w, r)
	return nil
}

// stateCollector reads what the daemon knows when it is asked.
type stateCollector struct {
	s     *statuses
	descs map[string]*prometheus.Desc
}

// stateMetric is a metric that is read when somebody asks.
type stateMetric struct {
	name, help string
	labels     []string
}

// scrapeTimeout bounds one reading. What is not known by then is left out.
const scrapeTimeout = 5 * time.Second

func newStateCollector(s *statuses) *stateCollector {
	c := &stateCollector{s: s, descs: map[string]*prometheus.Desc{}}
	for _, d := range append(healthMetrics(), []stateMetric{
		{"log_position", "Position of the log's last record.", nil},
		{"view_position", "Position up to which a view knows the log.", []string{"view"}},
		{"view_lag_records", "Records of the log that a view does not know yet.", []string{"view"}},
		{"inputs", "Captured inputs by what became of them.", []string{"outcome"}},
		{"inputs_unkept", "Inputs that were skipped or dropped, by class and reason.", []string{"outcome", "class", "reason"}},
		{"requests_waiting", "Requests that were accepted and are not on disk yet.", nil},
		{"sessions_awake", "Session actors in memory.", nil},
		{"turns_in_flight", "Requests to the observer under way.", nil},
		{"turns_queued", "Sessions that wait for a slot.", nil},
		{"turn_slots", "Turns that may be in flight at once.", nil},
		{"provider_paused", "1 while a provider is not asked.", []string{"provider", "class"}},
		{"provider_in_use", "1 for the provider that an ordinary turn is asked of.", []string{"provider"}},
		{"budget_limit", "What may be used: tokens, or US dollars.", []string{"limit"}},
		{"budget_used", "What is used of it; of a session's limit, by the session that used most.", []string{"limit"}},
		{"budget_held_sessions", "Sessions whose inputs are held because a budget is used up.", nil},
		{"degraded", "1 while events are captured only.", nil},
		{"spool_waiting", "Payloads that wait in the spool.", nil},
		{"spool_bytes", "Bytes of the payloads that wait in the spool.", nil},
		{"spool_bad", "Payloads that were put aside.", nil},
	}...) {
		c.descs[d.name] = prometheus.NewDesc("cmemd_"+d.name, d.help, d.labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	g := gauges{out: out, descs: c.descs}
	c.collectLog(ctx, g)
	c.collectActors(ctx, g)
	c.collectHealth(ctx, g)
	if s := c.s.spoolStatus(); s != nil {
		g.set("spool_waiting", float64(s.Waiting))
		g.set("spool_bytes", float64(s.Bytes))
		g.set("spool_bad", float64(s.Bad))
	}
}

type gauges struct {
	out   chan<- prometheus.Metric
	descs map[string]*prometheus.Desc
}

func (g gauges) set(name string, v float64, labels ...string) {
	g.out <- prometheus.MustNewConstMetric(g.descs[name], prometheus.GaugeValue, v, valid(labels)...)
}

func (g gauges) count(name string, v int64, labels ...string) {
	g.out <- prometheus.MustNewConstMetric(g.descs[name], prometheus.CounterValue, float64(v), valid(labels)...)
}

// valid makes labels of what the log holds: invalid UTF-8 is none.
func valid(labels []string) []string {
	for i := range labels {
		labels[i] = strings.ToValidUTF8(labels[i], "\uFFFD")
	}
	return labels
}

func (c *stateCollector) collectLog(ctx context.Context, g gauges) {
	if last, err := c.s.Log.Last(ctx); err == nil {
		g.set("log_position", float64(last))
		for _, v := range c.s.lags(last) {
			g.set("view_position", float64(v.Position), v.Name)
			g.set("view_lag_records", float64(v.Lag), v.Name)
		}
	}
	b, err := c.s.Views.Balance(ctx)
	if err != nil {
		return
	}
	for outcome, n := range map[string]int{
		"observed": b.Observed, "skipped": b.Skipped, "dropped": b.Dropped, "pending": b.Pending, "forgotten": b.Forgotten,
	} {
		g.set("inputs", float64(n), outcome)
	}
	for _, r := range b.Reasons {
		g.set("inputs_unkept", float64(r.Count), string(r.Outcome), r.Class, r.Reason)
	}
}

func (c *stateCollector) collectActors(ctx context.Context, g gauges) {
	st, err := c.s.system.Status(ctx)
	if err != nil {
		return
	}
	g.set("requests_waiting", float64(st.Waiting))
	g.set("sessions_awake", float64(st.Awake))
	g.set("turns_in_flight", float64(st.Turns))
	g.set("turns_queued", float64(st.Queued))
	g.set("turn_slots", float64(st.Slots))
	g.set("degraded", one(st.Degraded))
	for name, p := range st.Providers {
		g.set("provider_paused", one(p.Paused), name, string(p.Class))
		g.set("provider_in_use", one(name == st.InUse), name)
	}
	if b := st.Budget; b != nil {
		g.set("budget_held_sessions", float64(b.Held))
		for _, l := range b.Limits {
			g.set("budget_limit", l.Limit, l.Name)
			g.set("budget_used", l.Used, l.Name)
		}
	}
}

func one(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
