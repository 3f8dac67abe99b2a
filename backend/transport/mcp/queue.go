package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record/library"
)

// Recordings give out what an operator released; library.Library does.
type Recordings interface {
	Actions(ctx context.Context, by human.Actor, id human.RecordingID, language, after string) (library.Actions, error)
	Evidence(ctx context.Context, by human.Actor, op human.OperationID, label, language string) (library.Evidence, error)
	EvidencePicture(ctx context.Context, by human.Actor, op human.OperationID, label, which string, look library.Look) (library.Picture, error)
}

// ForQueue is the Ringer of one agent over a queue in this process, and the recordings made for it (nil
// where there are none). by is the agent; it is shown as waiting while it waits.
func ForQueue(q *queue.Queue, recordings Recordings, by human.Actor) Ringer {
	return queueRinger{q, recordings, by}
}

type queueRinger struct {
	q          *queue.Queue
	recordings Recordings
	by         human.Actor
}

func (r queueRinger) Ring(ctx context.Context, ring Ring) (human.Operation, bool, error) {
	timeout := r.q.DefaultTimeout()
	if ring.Timeout != nil {
		timeout = *ring.Timeout
	}
	files := make([]human.Attachment, len(ring.Attachments))
	for i, id := range ring.Attachments {
		files[i].ID = id
	}
	op, created, err := r.q.Ring(ctx, human.Request{
		Kind: ring.Kind, Description: ring.Description, Details: ring.Details, Context: ring.Context,
		AgentID: r.by.Name, SessionID: ring.SessionID, IdempotencyKey: ring.IdempotencyKey,
		Priority: ring.Priority, Timeout: timeout, OnTimeout: ring.OnTimeout, Attachments: files, Traceparent: ring.Traceparent,
	}, true)
	return op.ForAgent(), created, err
}

func (r queueRinger) Attach(ctx context.Context, name string, data []byte) (human.Attachment, error) {
	return r.q.Attach(ctx, r.by, name, data)
}

func (r queueRinger) Attachment(ctx context.Context, id human.AttachmentID, width int) ([]byte, error) {
	_, data, err := r.q.AttachmentData(ctx, r.by, id, width)
	return data, err
}

func (r queueRinger) Get(ctx context.Context, id human.OperationID) (human.Operation, error) {
	return r.q.Get(ctx, r.by, id)
}

func (r queueRinger) Wait(ctx context.Context, id human.OperationID, after uint64, most time.Duration) (human.Operation, error) {
	wait, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return r.q.Wait(wait, r.by, id, after)
}

func (r queueRinger) Reply(ctx context.Context, id human.OperationID, text string) (human.Operation, error) {
	return r.q.Reply(ctx, r.by, id, text)
}

func (r queueRinger) Cancel(ctx context.Context, id human.OperationID, reason string) (human.Operation, error) {
	return r.q.Cancel(ctx, r.by, id, reason)
}

func (r queueRinger) MarkDelivered(ctx context.Context, id human.OperationID) error {
	return r.q.MarkDelivered(ctx, r.by, id)
}

func (r queueRinger) Summary(ctx context.Context, limit int, since time.Time, tokens int) (string, error) {
	s, err := r.q.Summary(ctx, r.by, queue.SummaryQuery{Limit: limit, Since: since, MaxTokens: tokens})
	return s.Text, err
}

func (r queueRinger) List(ctx context.Context, states []human.State, text string, limit int) ([]human.Operation, error) {
	page, err := r.q.List(ctx, r.by, queue.Filter{States: states, Text: text, Order: queue.Recent, Limit: limit})
	return page.Operations, err
}

func (r queueRinger) Receipts(ctx context.Context, id human.OperationID) (json.RawMessage, error) {
	found, err := r.q.Receipts(ctx, r.by, id)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string][]human.Receipt{"receipts": found})
}

func (r queueRinger) Actions(ctx context.Context, id human.RecordingID) ([]human.Action, error) {
	if r.recordings == nil {
		return nil, errNoRecordings
	}
	found, err := r.recordings.Actions(ctx, r.by, id, "en", "")
	return found.Actions, err
}

var errNoRecordings = human.Errorf(human.Unavailable, "this Deskbell runs without recordings")

func (r queueRinger) Evidence(ctx context.Context, id human.OperationID, label string) (library.Evidence, error) {
	if r.recordings == nil {
		return library.Evidence{}, errNoRecordings
	}
	return r.recordings.Evidence(ctx, r.by, id, label, "en")
}

func (r queueRinger) EvidencePicture(ctx context.Context, id human.OperationID, label, which string, width int) ([]byte, error) {
	if r.recordings == nil {
		return nil, errNoRecordings
	}
	p, err := r.recordings.EvidencePicture(ctx, r.by, id, label, which, library.Look{Width: width, Format: "jpeg"})
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	err = p.Encode(&buf)
	return buf.Bytes(), err
}
