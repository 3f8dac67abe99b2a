package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"deskbell/backend/human"
	"deskbell/backend/queue/observe"
)

// Limits of what is sent.
const (
	mostSpans  = 512              // in one request
	exportTime = 10 * time.Second // of one request
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Traces send each operation as a trace when it has ended. Use: NewTraces, then Run once.
type Traces struct {
	provider *trace.TracerProvider
	tracer   api.Tracer
	exporter *otlptrace.Exporter
	ended    collector
	log      *slog.Logger
}

// NewTraces makes traces for a collector's address, such as http://127.0.0.1:4318; /v1/traces is added where it has no path. machine
// names this one. It sends nothing yet.
func NewTraces(ctx context.Context, endpoint, machine, version string, log *slog.Logger) (*Traces, error) {
	if u, err := url.Parse(endpoint); err == nil && strings.Trim(u.Path, "/") == "" {
		endpoint = u.JoinPath("v1", "traces").String()
	}
	exporter, err := otlptrace.New(ctx, &collectorClient{endpoint, &http.Client{Timeout: exportTime}, log})
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "traces cannot be sent to %s (telemetry.otlp_endpoint)", endpoint)
	}
	t := &Traces{exporter: exporter, log: log}
	t.provider = trace.NewTracerProvider(
		trace.WithIDGenerator(ids{}), trace.WithSampler(trace.AlwaysSample()), trace.WithSpanProcessor(&t.ended),
		trace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "deskbell"), attribute.String("service.version", version), attribute.String("service.instance.id", machine))),
	)
	t.tracer = t.provider.Tracer("deskbell")
	return t, nil
}

// Run sends what ends after a seq until ctx ends. While the collector does not take it, Run tries again and reads on from the
// journal later, so nothing is lost before the process ends.
func (t *Traces) Run(ctx context.Context, q observe.Queue, by human.Actor, after uint64) error {
	added := after
	err := observe.Follow(ctx, q, by, after, func(ctx context.Context, e human.Entry) error {
		if e.Seq > added {
			if err := t.add(ctx, q, by, e); err != nil {
				return err
			}
			added = e.Seq
		}
		head, err := q.Head(ctx)
		if err != nil || len(t.ended.spans) == 0 || e.Seq < head && len(t.ended.spans) < mostSpans {
			return err
		}
		return t.send(ctx)
	})
	if n := len(t.ended.spans); n > 0 {
		t.log.Warn("the last traces were not sent", "spans", n)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = t.exporter.Shutdown(last) // it holds nothing
	return err
}

// send sends what has ended, again until it is taken or ctx ends.
func (t *Traces) send(ctx context.Context) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := t.exporter.ExportSpans(ctx, t.ended.spans)
		if err == nil {
			t.ended.spans = nil
			return nil
		}
		if wait == firstRetry {
			t.log.Warn("traces cannot be sent; trying again", "err", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// add makes the spans that an entry ends.
func (t *Traces) add(ctx context.Context, q observe.Queue, by human.Actor, e human.Entry) error {
	ends := observe.Ends(e.Event)
	if !ends && e.Event.Type != human.Delivered {
		return nil
	}
	op, entries, err := observe.Read(ctx, q, by, e)
	if err != nil {
		return unread(ctx, t.log, e, err)
	}
	if op.Import != nil {
		return nil
	}
	for _, s := range observe.Spans(entries) {
		if s.Version == e.Version || ends {
			t.span(ctx, op, entries[0].Event.Request.Traceparent, s)
		}
	}
	return nil
}

// span makes a span, which goes to ended.
func (t *Traces) span(ctx context.Context, op human.Operation, parent string, s observe.Span) {
	within := api.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent}))
	request := ids{}.span(op.ID, observe.Request, op.CreatedAt)
	traceID := within.TraceID()
	if !traceID.IsValid() { // the trace is the operation's own
		traceID = ids{}.trace(op.ID)
	}
	if s.Name != observe.Request {
		within = api.NewSpanContext(api.SpanContextConfig{TraceID: traceID, SpanID: request, TraceFlags: api.FlagsSampled})
	}
	ctx = context.WithValue(api.ContextWithRemoteSpanContext(ctx, within), idKey{}, id{traceID, ids{}.span(op.ID, s.Name, s.From)})
	attributes := []attribute.KeyValue{attribute.String("deskbell.operation_id", string(op.ID))}
	if s.Channel != "" {
		attributes = append(attributes, attribute.String("deskbell.channel", s.Channel))
	}
	kind := api.SpanKindInternal
	if s.Name == observe.Request {
		kind = api.SpanKindServer
		attributes = append(attributes, attribute.String("deskbell.kind", string(op.Kind)), attribute.String("deskbell.risk", string(op.Risk)),
			attribute.String("deskbell.outcome", observe.Outcome(op)), attribute.String("deskbell.agent", op.AgentID))
	}
	_, span := t.tracer.Start(ctx, s.Name, api.WithTimestamp(s.From), api.WithSpanKind(kind), api.WithAttributes(attributes...))
	if s.Name == observe.Request {
		span.SetStatus(codes.Ok, "")
	}
	span.End(api.WithTimestamp(s.To))
}

// collector keeps spans that have ended until they are sent. Run alone uses it.
type collector struct{ spans []trace.ReadOnlySpan }

// OnStart implements trace.SpanProcessor.
func (*collector) OnStart(context.Context, trace.ReadWriteSpan) {}

// OnEnd implements trace.SpanProcessor.
func (c *collector) OnEnd(s trace.ReadOnlySpan) { c.spans = append(c.spans, s) }

// Shutdown implements trace.SpanProcessor.
func (*collector) Shutdown(context.Context) error { return nil }

// ForceFlush implements trace.SpanProcessor.
func (*collector) ForceFlush(context.Context) error { return nil }

// ids gives spans the ids in their context, which are made from the operation's: a span that is sent twice has one id.
type ids struct{}

type idKey struct{}

type id struct {
	trace api.TraceID
	span  api.SpanID
}

// trace is of an operation whose agent has no trace: the first 16 bytes of the SHA-256 of its id.
func (ids) trace(op human.OperationID) api.TraceID {
	sum := sha256.Sum256([]byte(op))
	return api.TraceID(sum[:16])
}

func (ids) span(op human.OperationID, name string, from time.Time) api.SpanID {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(string(op)+" "+name+" "), uint64(from.UnixNano())))
	return api.SpanID(sum[:8])
}

// NewIDs implements trace.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (api.TraceID, api.SpanID) {
	of, _ := ctx.Value(idKey{}).(id) // span put it there
	return of.trace, of.span
}

// NewSpanID implements trace.IDGenerator.
func (g ids) NewSpanID(ctx context.Context, _ api.TraceID) api.SpanID {
	_, span := g.NewIDs(ctx)
	return span
}
