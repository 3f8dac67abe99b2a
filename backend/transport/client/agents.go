package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"deskbell/backend/agent"
)

// Agents returns the agents that are declared; of an agent's client, those that are open to agents.
func (c *Client) Agents(ctx context.Context) ([]agent.Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var list struct {
		Agents []agent.Profile `json:"agents"`
	}
	_, err := c.call(ctx, http.MethodGet, "/api/agent", nil, &list)
	return list.Agents, err
}

// Message has an agent answer a message. It blocks until the answer, at the longest for wait (or MaxWait): the status is working
// then, and the same message of the session waits for the answer again.
func (c *Client) Message(ctx context.Context, name string, sent agent.Sent, wait time.Duration) (r agent.Response, err error) {
	ctx, query, cancel := held(ctx, max(wait, time.Millisecond))
	defer cancel()
	_, err = c.call(ctx, http.MethodPost, "/api/agent/"+url.PathEscape(name)+"/messages?"+query.Encode(), sent, &r)
	return r, err
}
