package client

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/record/retention"
)

// Retention says what retention would remove now; with run it removes it and says what that was. For operators.
func (c *Client) Retention(ctx context.Context, run bool) (retention.Removal, error) {
	method, path := http.MethodGet, "/api/retention/preview"
	if run {
		method, path = http.MethodPost, "/api/retention/run"
	}
	var p retention.Removal
	_, err := c.call(ctx, method, path, nil, &p)
	return p, err
}

// Delete deletes operations that ended, with all that belongs to them; everywhere means on all desks of the team. For operators.
func (c *Client) Delete(ctx context.Context, ids []human.OperationID, everywhere bool) (retention.Deletion, error) {
	var d retention.Deletion
	_, err := c.call(ctx, http.MethodPost, "/api/human/delete", map[string]any{"operations": ids, "everywhere": everywhere}, &d)
	return d, err
}
