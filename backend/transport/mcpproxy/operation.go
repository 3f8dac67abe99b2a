package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// Elicit implements Elicitor: the question is an operation, feedback with the server's schema or, for a link, work in a browser. It
// outlives a Deskbell that is restarted.
func (j remoteJudge) Elicit(ctx context.Context, e Elicitation) (Elicited, error) {
	ring, err := e.ring()
	if err != nil {
		return Elicited{}, err
	}
	var op human.Operation
	err = client.Retry(ctx, client.Patience, nil, func() (err error) {
		op, _, err = j.Invoke(ctx, ring)
		return err
	})
	if err != nil {
		return Elicited{}, err
	}
	if e.Rung != nil {
		e.Rung(op.ID)
	}
	said := 0
	var pause client.Backoff
	for !op.State.Terminal() {
		if op.State == human.WaitingInput && len(op.Messages) > said {
			// A server cannot be asked back. It is said once for each question.
			if next, err := j.Reply(ctx, op.ID, "The MCP server "+e.Server+" asks this and cannot be asked back. Answer it, or decline."); err == nil {
				op, said = next, len(next.Messages)
			}
		}
		next, err := j.Wait(ctx, op.ID, op.Version, client.MaxWait)
		switch {
		case ctx.Err() != nil:
			return Elicited{}, errors.Join(ctx.Err(), j.takeBack(op.ID))
		case err != nil && human.KindOf(err) == human.NotFound:
			return Elicited{}, err
		case err != nil:
			if !pause.Wait(ctx) {
				return Elicited{}, errors.Join(ctx.Err(), j.takeBack(op.ID))
			}
		default:
			op = next
			pause.Reset()
		}
	}
	_ = j.MarkDelivered(ctx, op.ID) // the answer counts all the same
	return elicited(op), nil
}

func (j remoteJudge) takeBack(id human.OperationID) error {
	ctx, stop := context.WithTimeout(context.Background(), takeBack)
	defer stop()
	return j.Withdraw(ctx, id, "the MCP server no longer asks")
}

// ring is the request that a question becomes.
func (e Elicitation) ring() (client.Ring, error) {
	details := map[string]any{"server": e.Server}
	ring := client.Ring{Kind: human.Feedback, SessionID: e.Session, IdempotencyKey: "elicit-" + e.ID, Description: human.OneLine("The MCP server "+e.Server+" asks: "+e.Message, 400)}
	if e.URL != "" {
		ring.Kind = human.Browser
		details["url"], details["required_action"] = e.URL, e.Message
	} else {
		details["question"] = e.Message
		var schema struct{ Properties map[string]json.RawMessage }
		if json.Unmarshal(e.Schema, &schema) == nil && len(schema.Properties) > 0 { // without, a word is enough
			details["response_schema"] = e.Schema
		}
	}
	text, err := json.Marshal(details)
	if err != nil {
		return ring, human.Wrap(human.Invalid, err, "the schema of the elicitation is no JSON")
	}
	ring.Details = text
	return ring, nil
}

// elicited is the end of an operation in MCP's words.
func elicited(op human.Operation) Elicited {
	switch {
	case op.State == human.Declined:
		return Elicited{Action: "decline"}
	case op.Result == nil:
		return Elicited{Action: "cancel"}
	case op.Kind == human.Browser: // to open a link is all there is to it
		return Elicited{Action: "accept"}
	case len(op.Result.Response) == 0:
		return Elicited{Action: "accept", Content: json.RawMessage("{}")}
	}
	return Elicited{Action: "accept", Content: op.Result.Response}
}
