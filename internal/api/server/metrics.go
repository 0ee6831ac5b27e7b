package server

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
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

func newMetrics(s *statuses, n *capture.Counts) *metrics {
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
	reg.MustRegister(answers, m.latency, m.withheld, &stateCollector{s, n},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return m
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
	return []endpoint{{Operation: api.Operation{Endpoint: api.Endpoint(api.MetricsRoute), Query: reflect.TypeFor[api.NoQuery]()}, serve: m.getMetrics, wrap: to.unary}}
}

func (m *metrics) getMetrics(w http.ResponseWriter, r *http.Request) error {
	m.page.ServeHTTP(w, r)
	return nil
}

// stateCollector reads what the daemon knows when it is asked. Prometheus does not learn beforehand what that will be.
type stateCollector struct {
	s *statuses
	n *capture.Counts
}

// scrapeTimeout bounds one reading. What is not known by then is left out.
const scrapeTimeout = 5 * time.Second

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	g := gauges{out}
	c.collectCapture(g)
	c.collectLog(ctx, g)
	c.collectActors(ctx, g)
	c.collectHealth(ctx, g)
	if s := c.s.spoolStatus(); s != nil {
		g.set("spool_waiting", "Payloads that wait in the spool.", float64(s.Waiting))
		g.set("spool_bytes", "Bytes of the payloads that wait in the spool.", float64(s.Bytes))
		g.set("spool_bad", "Dead letters: payloads that could not be taken for good, kept with the reason.", float64(s.Bad))
	}
}

func (c *stateCollector) collectCapture(g gauges) {
	g.count("hook_captured_total", "Hook payloads that led to new records.", c.n.Recorded.Load())
	g.count("hook_duplicates_total", "Hook payloads that were on record already.", c.n.Duplicates.Load())
	g.count("hook_ignored_total", "Hook payloads of which nothing is recorded.", c.n.Ignored.Load())
	g.count("hook_aside_total", "Payloads that became dead letters in the spool's bad folder.", c.n.DeadLetters.Load())
	g.count("hook_lost_total", "Payloads that were refused and could not be kept as dead letters.", c.n.Lost.Load())
	g.count("spool_drained_total", "Payloads that came out of the spool.", c.n.Drained.Load())
}

// gauges writes metrics; labels are names, each with its value behind it.
type gauges struct{ out chan<- prometheus.Metric }

func (g gauges) set(name, help string, v float64, labels ...string) {
	g.put(prometheus.GaugeValue, name, help, v, labels)
}

func (g gauges) count(name, help string, v int64, labels ...string) {
	g.put(prometheus.CounterValue, name, help, float64(v), labels)
}

// put writes one metric. What the log holds may be invalid UTF-8, which is no label.
func (g gauges) put(kind prometheus.ValueType, name, help string, v float64, labels []string) {
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, strings.ToValidUTF8(pair[1], "\uFFFD"))
	}
	g.out <- prometheus.MustNewConstMetric(prometheus.NewDesc("cmemd_"+name, help, names, nil), kind, v, values...)
}

func (c *stateCollector) collectLog(ctx context.Context, g gauges) {
	damage := c.s.Damage()
	g.set("log_damaged", "1 while damage of the log is known.", zeroOrOne(damage != nil))
	if damage != nil {
		g.set("log_damage_position", "Position of the first damage of the log that is known; 0: of the file itself.", float64(damage.Position))
	}
	if last, err := c.s.Log.Last(ctx); err == nil {
		g.set("log_position", "Position of the log's last record.", float64(last))
		for _, v := range c.s.lags(last) {
			g.set("view_position", "Position up to which a view knows the log.", float64(v.Position), "view", v.Name)
			g.set("view_lag_records", "Records of the log that a view does not know yet.", float64(v.Lag), "view", v.Name)
		}
	}
	b, err := c.s.Views.Balance(ctx)
	if err != nil {
		return
	}
	for outcome, n := range map[string]int{
		"observed": b.Observed, "skipped": b.Skipped, "dropped": b.Dropped, "pending": b.Pending, "forgotten": b.Forgotten,
	} {
		g.set("inputs", "Captured inputs by what became of them.", float64(n), "outcome", outcome)
	}
	for _, r := range b.Reasons {
		g.set("inputs_unkept", "Inputs that were skipped or dropped, by class and reason.",
			float64(r.Count), "outcome", string(r.Outcome), "class", r.Class, "reason", r.Reason)
	}
}

func (c *stateCollector) collectActors(ctx context.Context, g gauges) {
	st, err := c.s.system.Status(ctx)
	if err != nil {
		return
	}
	g.set("requests_waiting", "Requests that were accepted and are not on disk yet.", float64(st.Waiting))
	g.set("sessions_awake", "Session actors in memory.", float64(st.Awake))
	g.set("turns_in_flight", "Requests to the observer under way.", float64(st.Turns))
	g.set("turns_queued", "Sessions that wait for a slot.", float64(st.Queued))
	g.set("turn_slots", "Turns that may be in flight at once.", float64(st.Slots))
	g.set("degraded", "1 while events are captured only.", zeroOrOne(st.Degraded))
	for name, p := range st.Providers {
		g.set("provider_paused", "1 while a provider is not asked.",
			zeroOrOne(p.Paused), "provider", name, "class", string(p.Class))
		g.set("provider_in_use", "1 for the provider that an ordinary turn is asked of.",
			zeroOrOne(name == st.InUse), "provider", name)
	}
	if b := st.Budget; b != nil {
		g.set("budget_held_sessions", "Sessions whose inputs are held because a budget is used up.", float64(b.Held))
		for _, l := range b.Limits {
			g.set("budget_limit", "What may be used: tokens, or US dollars.", l.Limit, "limit", l.Name)
			g.set("budget_used", "What is used of it; of a session's limit, by the session that used most.",
				l.Used, "limit", l.Name)
		}
	}
}

func zeroOrOne(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
