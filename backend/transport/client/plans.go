package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// Submit has a plan confirmed, as an agent. It blocks until operators answered or one of them asks something, at the
// longest for wait (or MaxWait): the plan may be pending then. created is false where it joined a plan that was there, and
// where no one has to confirm it.
func (c *Client) Submit(ctx context.Context, s plan.Submission, wait time.Duration) (st plan.Status, created bool, err error) {
	ctx, query, cancel := held(ctx, wait)
	defer cancel()
	c.ack(query)
	status, err := c.call(ctx, http.MethodPost, "/api/plans?"+query.Encode(), s, &st)
	return st, status == http.StatusCreated, err
}

// PlanStatus says how the plan of a session, or of an operation, stands. It blocks until its version is greater than
// after, or with 0 until it is answered, at the longest for wait (or MaxWait). It may return early for no reason.
func (c *Client) PlanStatus(ctx context.Context, session string, wait time.Duration, after uint64) (st plan.Status, err error) {
	ctx, query, cancel := held(ctx, wait)
	defer cancel()
	c.ack(query)
	if after > 0 {
		query.Set("after_version", fmt.Sprint(after))
	}
	_, err = c.call(ctx, http.MethodGet, planPath(session)+"?"+query.Encode(), nil, &st)
	return st, err
}

// Respond answers a plan, as an operator. Where several have to agree, the plan may be pending after it.
func (c *Client) Respond(ctx context.Context, session string, r plan.Response) (st plan.Status, err error) {
	_, err = c.call(ctx, http.MethodPost, planPath(session)+"/response", r, &st)
	return st, err
}

// Progress begins a task of a confirmed plan, or says how it ended, as its agent. Beginning blocks while the plan is
// paused or an operator is asked about the task, at the longest for wait (or MaxWait).
func (c *Client) Progress(ctx context.Context, session string, p human.TaskProgress, wait time.Duration) (st plan.Standing, err error) {
	ctx, query, cancel := held(ctx, wait)
	defer cancel()
	_, err = c.call(ctx, http.MethodPost, planPath(session)+"/progress?"+query.Encode(), p, &st)
	return st, err
}

// Order tells the agent of a plan that runs, as an operator, to pause, continue, skip a task, stop, or do other tasks.
func (c *Client) Order(ctx context.Context, session string, o human.Order) (st plan.Status, err error) {
	_, err = c.call(ctx, http.MethodPost, planPath(session)+"/orders", o, &st)
	return st, err
}

// Assess says what tasks would come to in a plan. Nothing is changed.
func (c *Client) Assess(ctx context.Context, session string, tasks []human.Task) (sum human.TasksSummary, err error) {
	_, err = c.call(ctx, http.MethodPost, planPath(session)+"/assess", struct {
		Tasks []human.Task `json:"tasks"`
	}{tasks}, &sum)
	return sum, err
}

// PlanHistory says what was decided for plans like this one.
func (c *Client) PlanHistory(ctx context.Context, session string) (h plan.History, err error) {
	_, err = c.call(ctx, http.MethodGet, planPath(session)+"/history", nil, &h)
	return h, err
}

// Presets returns the lists of tasks that are kept to put into plans.
func (c *Client) Presets(ctx context.Context) ([]plan.Preset, error) {
	var answer struct{ Presets []plan.Preset }
	_, err := c.call(ctx, http.MethodGet, "/api/plan-presets", nil, &answer)
	return answer.Presets, err
}

// PutPreset keeps a preset: a new one, or with the id of one that exists, in its place.
func (c *Client) PutPreset(ctx context.Context, p plan.Preset) (kept plan.Preset, err error) {
	_, err = c.call(ctx, http.MethodPost, "/api/plan-presets", p, &kept)
	return kept, err
}

// DropPreset deletes a preset.
func (c *Client) DropPreset(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/plan-presets/"+url.PathEscape(id), nil, nil)
	return err
}

// PlansConfirmed says whether plans have to be confirmed, as an agent or as an operator.
func (c *Client) PlansConfirmed(ctx context.Context) (bool, error) {
	var is plan.Confirming
	_, err := c.call(ctx, http.MethodGet, "/api/plan-confirming", nil, &is)
	return is.ConfirmByHuman, err
}

// PlanStatistics says how plans were answered in the last days; 0 is the usual number of days.
func (c *Client) PlanStatistics(ctx context.Context, days int) (st plan.Statistics, err error) {
	_, err = c.call(ctx, http.MethodGet, fmt.Sprintf("/api/plan-statistics?days=%d", days), nil, &st)
	return st, err
}

// held is ctx for a call that may wait for so long, or MaxWait, and the query that says so.
func held(ctx context.Context, wait time.Duration) (context.Context, url.Values, context.CancelFunc) {
	wait = max(0, min(wait, MaxWait))
	ctx, cancel := context.WithTimeout(ctx, wait+callTime)
	return ctx, url.Values{"wait": {fmt.Sprintf("%g", wait.Seconds())}}, cancel
}

// ack says that reading the end does not count as delivery, where MarkDelivered is to say so.
func (c *Client) ack(query url.Values) {
	if c.Unread {
		query.Set("ack", "explicit")
	}
}

func planPath(session string) string { return "/api/plans/" + url.PathEscape(session) }
