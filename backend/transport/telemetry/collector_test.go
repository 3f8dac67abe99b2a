package telemetry

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector that rejects a batch for good does not hold back what comes later; one that is busy gets it again.
func TestWhatACollectorAnswers(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, x-team=blue,nonsense")
	for status, again := range map[int]bool{200: false, 202: false, 400: false, 401: false, 404: false, 408: true, 429: true, 500: true, 503: true} {
		var got tracepb.TracesData
		collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || proto.Unmarshal(body, &got) != nil {
				t.Errorf("the body cannot be read: %v", err)
			}
			if h := r.Header; h.Get("Authorization") != "Bearer x" || h.Get("X-Team") != "blue" || h.Get("Content-Type") != "application/x-protobuf" {
				t.Errorf("the headers are %v", h)
			}
			w.WriteHeader(status)
		}))
		var log strings.Builder
		c := &collectorClient{collector.URL, collector.Client(), slog.New(slog.NewTextHandler(&log, nil))}
		err := c.UploadTraces(t.Context(), []*tracepb.ResourceSpans{{SchemaUrl: "sent"}})
		if (err != nil) != again {
			t.Errorf("%d: %v, want an error: %t", status, err, again)
		}
		if said := strings.Contains(log.String(), "rejects"); said != (!again && status >= 400) {
			t.Errorf("%d: the log has %q", status, log.String())
		}
		if len(got.ResourceSpans) != 1 || got.ResourceSpans[0].SchemaUrl != "sent" {
			t.Errorf("%d: the collector got %v", status, &got)
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		collector.Close()
	}
}
