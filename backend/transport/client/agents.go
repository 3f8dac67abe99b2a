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

// Message has an agent answer a message, in a session or, without one, in a new one. It blocks until the answer, at the longest for
// wait (or MaxWait): the status is working then, and the same message of the session waits for the answer again.
func (c *Client) Message(ctx context.Context, name, message, session string, wait time.Duration) (r agent.Response, err error) {
	ctx, query, cancel := held(ctx, max(wait, time.Millisecond))
	defer cancel()
	in := struct {
		Message string `json:"message"`
		Session string `json:"session_id,omitempty"`
	}{message, session}
	_, err = c.call(ctx, http.MethodPost, "/api/agent/"+url.PathEscape(name)+"/messages?"+query.Encode(), in, &r)
	return r, err
}
