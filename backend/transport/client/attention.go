package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"deskbell/backend/gate/service"
	"deskbell/backend/queue"
)

// Attention is how often people were interrupted, and which questions never changed an outcome.
type Attention struct {
	queue.Attention
	Questions []service.UnchangedQuestion `json:"questions"`
}

// Attention counts the last days, in a time zone as the API takes it.
func (c *Client) Attention(ctx context.Context, days int, zone string) (a Attention, err error) {
	query := url.Values{"days": {strconv.Itoa(days)}, "zone": {zone}}
	_, err = c.call(ctx, http.MethodGet, "/api/attention?"+query.Encode(), nil, &a)
	return a, err
}
