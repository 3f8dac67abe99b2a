package api

import (
	"context"
	"net/http"
	"time"

	"deskbell/backend/record"
)

// A Capturer takes pictures of this machine's desktop, as PNGs.
type Capturer interface {
	Capturable(ctx context.Context) (record.Capturable, error)
	Capture(ctx context.Context, r record.CaptureRequest) ([]byte, error)
}

// captureTime is how long a capture may take, with the time in which a person is asked what it may show.
const captureTime = 100 * time.Second

// captured is a picture, which is not kept.
type captured struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

// captures are single pictures of the desktop that an operator may attach to an answer. They are not stored here.
func (s *Server) captures(c catalogue) {
	add(c, route{http.MethodGet, "/api/captures", "getCapturable", "What can be captured of this machine's desktop", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*record.Capturable], error) {
			is, err := s.deps.Capturer.Capturable(ctx)
			return ok(&is, err)
		})
	add(c, route{http.MethodPost, "/api/captures", "capture", "Take a picture of this machine's desktop. Nothing on it is masked, and it is not stored", operators, 0},
		func(ctx context.Context, _ *exchange, in *payload[record.CaptureRequest]) (*captured, error) {
			ctx, stop := context.WithTimeout(ctx, captureTime)
			defer stop()
			png, err := s.deps.Capturer.Capture(ctx, in.JSON)
			return &captured{"image/png", "no-store", png}, err
		})
}
