package client

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/summary"
)

// TrySummarizer has one recording summarized and returns the draft; nothing is kept. It blocks until that is
// done. Denied where what the summarizer reads would leave the machine of Deskbell and r has no consent.
func (c *Client) TrySummarizer(ctx context.Context, id human.RecordingID, r summary.DraftRequest) (sum human.Summary, err error) {
	_, err = c.call(ctx, http.MethodPost, recordingPath(id)+"/summary", r, &sum)
	return sum, err
}

// Summarizers tells what can write summaries, how each fared, and what was agreed.
func (c *Client) Summarizers(ctx context.Context) (all summary.Summarizers, err error) {
	_, err = c.call(ctx, http.MethodGet, "/api/summarizers", nil, &all)
	return all, err
}
