package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collectorClient sends spans to a collector by OTLP over HTTP. OpenTelemetry's own client for that links gRPC, which made the program
// 8 MB larger.
type collectorClient struct {
	endpoint string
	http     *http.Client
	log      *slog.Logger
}

// Start implements otlptrace.Client.
func (c *collectorClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collectorClient) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. What the collector rejects for good is left out, and in the log; after other errors it can be
// sent again (OTLP 1.9, "Failures").
func (c *collectorClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // the same bytes as an ExportTraceServiceRequest
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for pair := range strings.SplitSeq(os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		if name, value, is := strings.Cut(pair, "="); is {
			if decoded, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
				request.Header.Set(strings.TrimSpace(name), decoded)
			}
		}
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	switch {
	case answer.StatusCode < 300:
		return nil
	case answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode == http.StatusRequestTimeout, answer.StatusCode >= 500, answer.StatusCode < 400:
		return fmt.Errorf("the collector answers %s", answer.Status)
	}
	c.log.Warn("the collector rejects traces; they are left out", "answer", answer.Status)
	return nil
}
