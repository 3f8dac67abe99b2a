package app_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"deskbell/backend/human"
	"deskbell/backend/store/sqlite"
)

// scrape reads a server's metrics as Prometheus does.
func scrape(t *testing.T, url, dir string) map[string]*dto.MetricFamily {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(dir, "metrics.token"))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("GET", url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := newCaller(t, url, "").http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return families
}

// value is a counter, a gauge, or the number of a histogram's observations; labels are as name=value. It is -1 where there is none.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		var has []string
		for _, l := range m.GetLabel() {
			has = append(has, l.GetName()+"="+l.GetValue())
		}
		if slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(has, l) }) {
			continue
		}
		switch {
		case m.GetHistogram() != nil:
			return float64(m.GetHistogram().GetSampleCount())
		case m.GetCounter() != nil:
			return m.GetCounter().GetValue()
		}
		return m.GetGauge().GetValue()
	}
	return -1
}

// TestMetrics has requests of several kinds asked, seen and answered, and compares what a scrape says; a restart counts from zero and
// knows what is open.
func TestMetrics(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	bot := key(t, dir, "secret-agent-name")
	env := []string{"DESKBELL_METRICS_ENABLED=true"}
	s := serve(t, dir, env)
	agent, ada := newCaller(t, s.url, bot), operator(t, s.url, s.code)
	ring := func(kind, risk string) (op human.Operation) {
		body := map[string]any{"action_type": kind, "description": "SECRET-TEXT"}
		if risk != "" {
			body["details"] = map[string]any{"action": "SECRET-TEXT", "risk_level": risk}
		}
		agent.good(t, "POST", "/api/human/invoke", body, &op)
		return op
	}
	do := func(call string, op human.Operation, more map[string]any) {
		body := map[string]any{"operation_id": op.ID}
		for name, value := range more {
			body[name] = value
		}
		ada.good(t, "POST", "/api/human/"+call, body, nil)
	}
	yes, no, left, critical := ring("approve", "low"), ring("approve", "low"), ring("feedback", ""), ring("approve", "critical")
	do("seen", yes, map[string]any{"channel": "card"})
	do("seen", yes, map[string]any{"channel": "console"})
	do("claim", left, nil)
	do("complete", yes, map[string]any{"decision": "approve", "digest": yes.Digest})
	do("complete", no, map[string]any{"decision": "deny", "digest": no.Digest})
	agent.good(t, "POST", "/api/gate/evaluate", map[string]any{"tool": "bash", "args": map[string]any{"command": "ls"}, "cwd": dir}, nil)

	var now map[string]*dto.MetricFamily
	waitFor(t, "both ends in the metrics", func() bool {
		now = scrape(t, s.url, dir)
		return value(now, "deskbell_operations_total", "outcome=approved") == 1 && value(now, "deskbell_operations_total", "outcome=denied") == 1
	})
	for _, want := range []struct {
		value  float64
		name   string
		labels []string
	}{
		{2, "deskbell_requests_total", []string{"kind=approve", "risk=low"}},
		{1, "deskbell_requests_total", []string{"kind=feedback", "risk="}},
		{1, "deskbell_requests_total", []string{"kind=approve", "risk=critical"}},
		{1, "deskbell_time_to_see_seconds", nil},
		{1, "deskbell_time_to_answer_seconds", []string{"kind=approve", "outcome=approved"}},
		{1, "deskbell_operations_open", []string{"kind=feedback", "state=claimed"}},
		{1, "deskbell_operations_open", []string{"kind=approve", "state=pending"}},
		{0, "deskbell_operations_overdue", nil},
		{1, "deskbell_gate_decisions_total", []string{"decision=allow"}},
		{1, "deskbell_healthy", nil}, {1, "deskbell_ready", nil}, {1, "deskbell_build_info", nil},
	} {
		if got := value(now, want.name, want.labels...); got != want.value {
			t.Errorf("%s%v is %g, want %g", want.name, want.labels, got, want.value)
		}
	}
	for _, name := range []string{"deskbell_oldest_open_seconds", "deskbell_journal_seq", "deskbell_journal_bytes", "deskbell_append_seconds", "go_goroutines", "process_start_time_seconds"} {
		if value(now, name) <= 0 {
			t.Errorf("%s is %g", name, value(now, name))
		}
	}
	if unseen := value(now, "deskbell_oldest_unseen_seconds", "risk=critical"); unseen <= 0 || unseen > 120 {
		t.Errorf("the critical request is unseen for %g s", unseen)
	}
	if text := fmt.Sprint(now); strings.Contains(text, "SECRET-TEXT") || strings.Contains(text, "secret-agent-name") {
		t.Error("metrics have texts of requests, or an agent's name")
	}
	for _, file := range []string{"../../build/monitoring/alerts.yaml", "../../build/monitoring/dashboard.json", "../../docs/monitoring.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`deskbell_\w+`).FindAllString(string(text), -1) {
			if now[name] == nil && now[strings.TrimSuffix(name, "_bucket")] == nil {
				t.Errorf("%s names %s, which no scrape has", file, name)
			}
		}
		for name := range now {
			if strings.HasSuffix(file, ".md") && strings.HasPrefix(name, "deskbell_") && !strings.Contains(string(text), "| `"+name+"` |") {
				t.Errorf("%s does not have %s", file, name)
			}
		}
	}
	do("seen", critical, map[string]any{"channel": "card"})
	if unseen := value(scrape(t, s.url, dir), "deskbell_oldest_unseen_seconds", "risk=critical"); unseen != 0 {
		t.Errorf("the critical request was seen, and is unseen for %g s", unseen)
	}
	s.stop(t)

	s = serve(t, dir, append(env, "DESKBELL_METRICS_AGENTS=true"))
	now = scrape(t, s.url, dir)
	if ended, open := value(now, "deskbell_operations_total"), value(now, "deskbell_operations_open", "state=claimed"); ended != -1 || open != 1 {
		t.Errorf("after a restart: %g operations ended, %g are claimed", ended, open)
	}
	agent.url = s.url
	ring("feedback", "")
	waitFor(t, "a request with its agent's name", func() bool {
		return value(scrape(t, s.url, dir), "deskbell_requests_total", "agent=secret-agent-name") == 1
	})
	s.stop(t)
}

// Without a database nothing is ready, and a scrape says so. Without the setting there are no metrics.
func TestReadiness(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, dir, []string{"DESKBELL_METRICS_ENABLED=true"})
	newCaller(t, s.url, "").good(t, "GET", "/readyz", nil, nil)
	if now := scrape(t, s.url, dir); value(now, "deskbell_ready") != 1 || value(now, "deskbell_healthy") != 1 {
		t.Errorf("ready %g, healthy %g", value(now, "deskbell_ready"), value(now, "deskbell_healthy"))
	}
	if err := os.Remove(filepath.Join(dir, sqlite.FileName)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a server that is not ready", func() bool {
		status, words := newCaller(t, s.url, "").problem(t, "GET", "/readyz")
		return status == 503 && strings.Contains(words, "was deleted")
	})
	waitFor(t, "a scrape that says so", func() bool {
		now := scrape(t, s.url, dir)
		return value(now, "deskbell_ready") == 0 && value(now, "deskbell_healthy") == 0
	})
	s.interrupt(t)

	dir = filepath.Join(t.TempDir(), "data")
	s = serve(t, dir, []string{"DESKBELL_HUMAN_ENABLED=false"})
	if status, words := newCaller(t, s.url, "").problem(t, "GET", "/readyz"); status != 503 || !strings.Contains(words, "human.enabled") {
		t.Errorf("a server that takes no requests says %d: %s", status, words)
	}
	if status, words := newCaller(t, s.url, "").problem(t, "GET", "/metrics"); status != 404 || !strings.Contains(words, "metrics.enabled") {
		t.Errorf("without metrics: %d: %s", status, words)
	}
	if _, err := os.Stat(filepath.Join(dir, "metrics.token")); !os.IsNotExist(err) {
		t.Errorf("a token was made: %v", err)
	}
	s.stop(t)
}

// A receiver is an OTLP collector over HTTP.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	fails int // so many requests are answered with 503
	raw   []byte
	spans []*trace.Span
	about map[string]string // of the resource
}

func receive(t *testing.T) *receiver {
	r := &receiver{about: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var sent collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || req.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", req.URL, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.fails > 0 {
			r.fails--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.raw = append(r.raw, body...)
		for _, of := range sent.ResourceSpans {
			for _, a := range of.Resource.Attributes {
				r.about[a.Key] = a.Value.GetStringValue()
			}
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

// of are the spans of an operation that have come, by name; doubled ones are an error.
func (r *receiver) of(t *testing.T, id human.OperationID) map[string]*trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]*trace.Span{}
	for _, s := range r.spans {
		if attribute(s.Attributes, "deskbell.operation_id") != string(id) {
			continue
		}
		if found[s.Name] != nil {
			t.Errorf("%q came twice", s.Name)
		}
		found[s.Name] = s
	}
	return found
}

func attribute(of []*common.KeyValue, key string) string {
	i := slices.IndexFunc(of, func(a *common.KeyValue) bool { return a.Key == key })
	if i < 0 {
		return ""
	}
	return of[i].Value.GetStringValue()
}

// TestTraces has requests answered while a collector takes spans, while it does not, and as the server stops.
func TestTraces(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	bot := key(t, dir, "bot")
	to := receive(t)
	s := serve(t, dir, []string{"DESKBELL_TELEMETRY_OTLP_ENDPOINT=" + to.URL})
	agent, ada := newCaller(t, s.url, bot), operator(t, s.url, s.code)
	ring := func(parent string) (op human.Operation) {
		agent.http.Transport = header{agent.http.Transport, parent}
		agent.good(t, "POST", "/api/human/invoke", map[string]any{
			"action_type": "approve", "description": "SECRET-TEXT", "details": map[string]any{"action": "SECRET-TEXT", "risk_level": "high"},
		}, &op)
		return op
	}
	do := func(call string, op human.Operation, more ...any) {
		body := map[string]any{"operation_id": op.ID, "digest": op.Digest}
		for i := 0; i < len(more); i += 2 {
			body[more[i].(string)] = more[i+1]
		}
		if call != "complete" {
			delete(body, "digest")
		}
		ada.good(t, "POST", "/api/human/"+call, body, nil)
	}
	op := ring("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	do("shown", op, "channel", "card")
	do("seen", op, "channel", "card")
	do("claim", op)
	do("reply", op, "text", "SECRET-TEXT?")
	agent.good(t, "POST", "/api/human/reply", map[string]any{"operation_id": op.ID, "text": "SECRET-TEXT"}, nil)
	do("complete", op, "decision", "approve", "human_input", "SECRET-TEXT")
	agent.good(t, "POST", "/api/human/delivered", map[string]any{"operation_id": op.ID}, nil)
	all := []string{"answered", "claimed", "delivered", "request", "seen", "shown", "waiting for the agent"}
	var spans map[string]*trace.Span
	waitFor(t, "all spans of the operation", func() bool { spans = to.of(t, op.ID); return len(spans) == len(all) })
	root := spans["request"]
	for _, name := range all {
		span := spans[name]
		if span == nil {
			t.Fatalf("there is no %q", name)
		}
		if got := hex.EncodeToString(span.TraceId); got != "4bf92f3577b34da6a3ce929d0e0e4736" {
			t.Errorf("%q is in the trace %s", name, got)
		}
		if parent := hex.EncodeToString(span.ParentSpanId); name == "request" && parent != "00f067aa0ba902b7" || name != "request" && parent != hex.EncodeToString(root.SpanId) {
			t.Errorf("%q is below %s", name, parent)
		}
		if span.StartTimeUnixNano > span.EndTimeUnixNano || name != "delivered" && (span.StartTimeUnixNano < root.StartTimeUnixNano || span.EndTimeUnixNano > root.EndTimeUnixNano) {
			t.Errorf("%q takes from %d to %d, the request from %d to %d", name, span.StartTimeUnixNano, span.EndTimeUnixNano, root.StartTimeUnixNano, root.EndTimeUnixNano)
		}
	}
	if !time.Unix(0, int64(root.StartTimeUnixNano)).Equal(op.CreatedAt) {
		t.Errorf("the request began at %d, and was made at %s", root.StartTimeUnixNano, op.CreatedAt)
	}
	for key, want := range map[string]string{"deskbell.kind": "approve", "deskbell.risk": "high", "deskbell.outcome": "approved", "deskbell.agent": "bot"} {
		if got := attribute(root.Attributes, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}

	failing := func(n int) {
		to.mu.Lock()
		to.fails = n
		to.mu.Unlock()
	}
	failing(2)
	retried := ring("")
	do("decline", retried, "reason", "SECRET-TEXT")
	waitFor(t, "what the collector did not take", func() bool { spans = to.of(t, retried.ID); return len(spans) == 2 })
	if own := spans["request"]; len(own.ParentSpanId) != 0 || slices.Equal(own.TraceId, root.TraceId) {
		t.Errorf("a request without a traceparent is in the trace %x, below %x", own.TraceId, own.ParentSpanId)
	}

	failing(1)
	last := ring("") // it waits for a second try when the server stops
	do("complete", last, "decision", "deny")
	waitFor(t, "a try that fails", func() bool {
		to.mu.Lock()
		defer to.mu.Unlock()
		return to.fails == 0
	})
	held := human.Operation{} // its answer is held when the server stops, which sends it
	agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "SECRET-TEXT"}, &held)
	ada.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": held.ID, "human_input": "SECRET-TEXT", "undoable": true}, nil)
	s.interrupt(t) // it warned that it tries again
	for id, want := range map[human.OperationID]int{last.ID: 2, held.ID: 2, op.ID: len(all), retried.ID: 2} {
		if got := to.of(t, id); len(got) != want {
			t.Errorf("after the end %s has %d spans, want %d", id, len(got), want)
		}
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	if strings.Contains(string(to.raw), "SECRET-TEXT") {
		t.Error("spans have texts of requests")
	}
	if host, _ := os.Hostname(); to.about["service.name"] != "deskbell" || to.about["service.instance.id"] != host {
		t.Errorf("the resource is %v", to.about)
	}
}

// header adds a traceparent to requests.
type header struct {
	http.RoundTripper
	parent string
}

// RoundTrip implements http.RoundTripper.
func (h header) RoundTrip(r *http.Request) (*http.Response, error) {
	if below, is := h.RoundTripper.(header); is {
		h.RoundTripper = below.RoundTripper
	}
	r = r.Clone(r.Context())
	if h.parent != "" {
		r.Header.Set("Traceparent", h.parent)
	}
	return h.RoundTripper.RoundTrip(r)
}
