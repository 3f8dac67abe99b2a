// Package telemetry shows how the queue stands to others' monitoring: metrics for Prometheus, and traces by OTLP. Neither has
// a text of a request.
package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/observe"
)

// scrapeTime bounds what a scrape reads from storage.
const scrapeTime = 5 * time.Second

// Server is what metrics are read from at a scrape.
type Server struct {
	Version string
	Agents  bool // metrics may have agents' names

	Alike   func(context.Context) ([]observe.Alike, error)
	Head    func(context.Context) (uint64, error)
	Bytes   func() (int64, error)       // of the journal's files
	Ready   func(context.Context) error // whether a request would be stored now
	Healthy func() bool                 // nothing of the data is missing or damaged
	Behind  func() uint64               // entries of the team's journal that are not here yet; nil: it is in no team

	Now func() time.Time
	Log *slog.Logger
}

// Metrics are those of one server. Safe for concurrent use.
type Metrics struct {
	server   Server
	registry *prometheus.Registry

	requests, ended, decisions *prometheus.CounterVec
	see, append                prometheus.Histogram
	answer                     *prometheus.HistogramVec
}

// times are the bounds of how long people take, in seconds: from 0.1 s to a day.
var times = []float64{.1, .25, .5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400}

// NewMetrics makes metrics that count from now on.
func NewMetrics(d Server) *Metrics {
	m := &Metrics{server: d, registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	of := []string{"kind", "risk"}
	if d.Agents {
		of = append(of, "agent")
	}
	m.requests = counter("deskbell_requests_total", "Requests that were stored, since the start.", of...)
	m.ended = counter("deskbell_operations_total", "Operations that ended, since the start, by how they ended.", append([]string{"outcome"}, of...)...)
	m.decisions = counter("deskbell_gate_decisions_total", "Decisions of the gatekeeper, since the start.", "decision")
	m.see = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "deskbell_time_to_see_seconds", Buckets: times,
		Help: "From a request until an operator looked at it first."})
	m.answer = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "deskbell_time_to_answer_seconds", Buckets: times,
		Help: "From a request to its end."}, []string{"kind", "outcome"})
	m.append = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "deskbell_append_seconds", Buckets: prometheus.ExponentialBuckets(.0001, 2, 16),
		Help: "How long it took to store an event durably."})
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "deskbell_build_info", Help: "1, with the version of Deskbell.", ConstLabels: prometheus.Labels{"version": d.Version}})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.ended, m.decisions, m.see, m.answer, m.append, build, gauges{m},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers scrapes. Who may read it is for the caller to say.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(m.server.Log.Handler(), slog.LevelWarn), CoalesceGather: true,
	})
}

// Run counts what is in the journal after a seq until ctx ends.
func (m *Metrics) Run(ctx context.Context, q observe.Queue, by human.Actor, after uint64) error {
	return observe.Follow(ctx, q, by, after, func(ctx context.Context, e human.Entry) error { return m.count(ctx, q, by, e) })
}

func (m *Metrics) count(ctx context.Context, q observe.Queue, by human.Actor, e human.Entry) error {
	switch event := e.Event; {
	case event.Imported != nil: // it happened elsewhere
	case event.Type == human.Invoked:
		r := event.Request
		m.requests.WithLabelValues(m.of(r.Kind, r.Risk(), r.AgentID)...).Inc()
	case event.Type == human.Seen || observe.Ends(event):
		op, _, err := observe.Read(ctx, q, by, e)
		if err != nil {
			return unread(ctx, m.server.Log, e, err)
		}
		if after, is := observe.FirstSeen(op, e); is {
			m.see.Observe(after.Seconds())
		}
		if observe.Ends(event) {
			outcome := observe.Outcome(op)
			m.ended.WithLabelValues(append([]string{outcome}, m.of(op.Kind, op.Risk, op.AgentID)...)...).Inc()
			m.answer.WithLabelValues(string(op.Kind), outcome).Observe(event.At.Sub(op.CreatedAt).Seconds())
		}
	}
	return nil
}

// unread notes an operation that cannot be read, which is left out. It returns an error when ctx ended.
func unread(ctx context.Context, log *slog.Logger, e human.Entry, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if human.KindOf(err) != human.NotFound { // it was deleted meanwhile
		log.Warn("an operation is not in metrics or traces: it cannot be read", "operation_id", e.ID, "err", err)
	}
	return nil
}

// of are the values of labels that say what an operation is.
func (m *Metrics) of(kind human.Kind, risk human.Risk, agent string) []string {
	if m.server.Agents {
		return []string{string(kind), string(risk), agent}
	}
	return []string{string(kind), string(risk)}
}

// Decided counts a decision of the gatekeeper.
func (m *Metrics) Decided(d human.Ruling) { m.decisions.WithLabelValues(string(d)).Inc() }

// Journal is j, with what an Append takes measured.
func (m *Metrics) Journal(j queue.Journal) queue.Journal { return timed{j, m} }

type timed struct {
	queue.Journal
	*Metrics
}

// Append implements queue.Journal.
func (t timed) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	began := time.Now()
	seq, err := t.Journal.Append(ctx, id, expected, events...)
	if err == nil {
		t.append.Observe(time.Since(began).Seconds())
	}
	return seq, err
}

// gauges are what is read at a scrape.
type gauges struct{ *Metrics }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	openOperations = gauge("deskbell_operations_open", "Operations that have not ended.", "kind", "state")
	overdue        = gauge("deskbell_operations_overdue", "Open operations whose time limit has passed.")
	oldestOpen     = gauge("deskbell_oldest_open_seconds", "How long ago the oldest open operation was requested; 0 for none.")
	oldestUnseen   = gauge("deskbell_oldest_unseen_seconds", "How long ago the oldest open operation that no operator has looked at was requested, by its risk; 0 for none.", "risk")
	journalSeq     = gauge("deskbell_journal_seq", "The number of the journal's last entry.")
	journalBytes   = gauge("deskbell_journal_bytes", "Bytes of the journal's files.")
	healthy        = gauge("deskbell_healthy", "1 while nothing of the data is missing or damaged, else 0.")
	isReady        = gauge("deskbell_ready", "1 while requests can be stored, else 0.")
	behindTeam     = gauge("deskbell_behind_team_entries", "Entries of the team's journal that are not here yet; 0 in no team.")
)

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{openOperations, overdue, oldestOpen, oldestUnseen, journalSeq, journalBytes, healthy, isReady, behindTeam} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	put := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	truth := func(d *prometheus.Desc, is bool) {
		if is {
			put(d, 1)
		} else {
			put(d, 0)
		}
	}
	truth(healthy, g.server.Healthy())
	truth(isReady, g.server.Ready(ctx) == nil)
	if g.server.Behind != nil {
		put(behindTeam, float64(g.server.Behind()))
	} else {
		put(behindTeam, 0)
	}
	if head, err := g.server.Head(ctx); err != nil {
		to <- prometheus.NewInvalidMetric(journalSeq, err)
	} else {
		put(journalSeq, float64(head))
	}
	if bytes, err := g.server.Bytes(); err != nil {
		to <- prometheus.NewInvalidMetric(journalBytes, err)
	} else {
		put(journalBytes, float64(bytes))
	}
	alike, err := g.server.Alike(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(openOperations, err)
		return
	}
	g.open(put, alike)
}

// open puts what is said of open operations.
func (g gauges) open(put func(*prometheus.Desc, float64, ...string), alike []observe.Alike) {
	type group struct {
		kind  human.Kind
		state human.State
	}
	counts, late, oldest := map[group]int{}, 0, 0.0
	unseen := map[human.Risk]float64{"": 0, human.LowRisk: 0, human.MediumRisk: 0, human.HighRisk: 0, human.CriticalRisk: 0}
	for _, a := range alike {
		counts[group{a.Kind, a.State}] += a.Count
		age := max(0, g.server.Now().Sub(a.Oldest).Seconds())
		oldest = max(oldest, age)
		if a.Overdue {
			late += a.Count
		}
		if !a.Seen {
			unseen[a.Risk] = max(unseen[a.Risk], age)
		}
	}
	for of, n := range counts {
		put(openOperations, float64(n), string(of.kind), string(of.state))
	}
	put(overdue, float64(late))
	put(oldestOpen, oldest)
	for risk, age := range unseen {
		put(oldestUnseen, age, string(risk))
	}
}
