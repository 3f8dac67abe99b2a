package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// onePixel is a desktop of one pixel.
type onePixel struct{}

func (onePixel) Capturable(context.Context) (record.Capturable, error) {
	return record.Capturable{Source: human.SourceState{Source: human.ScreenSource, Status: "complete"}, Displays: []human.Screen{{W: 1, H: 1, Scale: 1}}, Windows: []record.CapturedWindow{}}, nil
}

func (onePixel) Capture(_ context.Context, r record.CaptureRequest) ([]byte, error) {
	if r.Kind == record.CaptureWindow {
		return nil, human.Errorf(human.Conflict, "that window is closed or hidden; choose another")
	}
	return []byte("a picture"), nil
}

func TestACaptureIsAPictureThatIsNotKept(t *testing.T) {
	h := openFixture(t, nil)
	take := func(body string) (*http.Response, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/api/captures", strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+h.op)
		req.Header.Set("Content-Type", "application/json")
		res, err := h.http.Do(req)
		must(t, err)
		defer func() { _ = res.Body.Close() }()
		data, err := io.ReadAll(res.Body)
		must(t, err)
		return res, data
	}
	res, data := take(`{"kind":"display"}`)
	if string(data) != "a picture" || res.StatusCode != 200 || res.Header.Get("Content-Type") != "image/png" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v: %s", res.StatusCode, res.Header, data)
	}
	if res, data = take(`{"kind":"window","window":"7"}`); res.StatusCode != 409 || !bytes.Contains(data, []byte("choose another")) {
		t.Errorf("%d %s", res.StatusCode, data)
	}
}
