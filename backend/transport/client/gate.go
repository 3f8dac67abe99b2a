package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// An evaluation is api.Evaluation.
type evaluation struct {
	human.ToolCall
	OperationID human.OperationID `json:"operation_id,omitempty"`
	Timeout     float64           `json:"timeout,omitempty"` // seconds
	Process     int               `json:"process_id,omitempty"`
	Parent      int               `json:"parent_id,omitempty"`
}

const evaluatePath = "/api/gate/evaluate"

// Evaluate asks the gatekeeper about a call, as an agent. It blocks until that is decided, at the longest for how.Wait
// (or MaxWait): an operator may still be being asked then.
func (c *Client) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (j human.Judgement, err error) {
	if call.Home == "" {
		call.Home, _ = os.UserHomeDir() // without it the engine is the more careful
	}
	most := max(0, min(how.Wait, MaxWait))
	ctx, cancel := context.WithTimeout(ctx, most+callTime)
	defer cancel()
	_, err = c.call(ctx, http.MethodPost, fmt.Sprintf("%s?wait=%g", evaluatePath, most.Seconds()), evaluation{call, how.Question, how.Timeout.Seconds(), how.Process, how.Parent}, &j)
	return j, err
}

// Question returns what an operation of kind permission asks.
func (c *Client) Question(ctx context.Context, id human.OperationID) (q service.QuestionView, err error) {
	_, err = c.call(ctx, http.MethodGet, questionPath(id), nil, &q)
	return q, err
}

// Difference says what the call that is asked about would change.
func (c *Client) Difference(ctx context.Context, id human.OperationID) (d service.Difference, err error) {
	_, err = c.call(ctx, http.MethodGet, questionPath(id)+"/difference", nil, &d)
	return d, err
}

// AnswerQuestion answers it. It blocks while a backup is made.
func (c *Client) AnswerQuestion(ctx context.Context, id human.OperationID, r service.AnswerRequest) (op human.Operation, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	_, err = c.call(ctx, http.MethodPost, questionPath(id)+"/answer", r, &op)
	return op, err
}

func questionPath(id human.OperationID) string {
	return "/api/gate/questions/" + url.PathEscape(string(id))
}

// Decisions returns the newest lines of the gatekeeper's log, at most so many.
func (c *Client) Decisions(ctx context.Context, most int) (page service.LogPage, err error) {
	_, err = c.call(ctx, http.MethodGet, fmt.Sprintf("/api/gate/decisions?limit=%d", most), nil, &page)
	return page, err
}
