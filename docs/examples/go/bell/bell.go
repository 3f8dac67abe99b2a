// Package bell is as much of Deskbell's REST API as these examples use, on the standard library alone. Copy it into an
// agent of your own.
package bell

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// A Bell is where an agent rings. It is safe for concurrent use.
type Bell struct{ URL, Key string }

// FromEnv takes the address and the agent's key from DESKBELL_URL and DESKBELL_KEY.
func FromEnv() (Bell, error) {
	b := Bell{strings.TrimSuffix(os.Getenv("DESKBELL_URL"), "/"), os.Getenv("DESKBELL_KEY")}
	if b.URL == "" {
		b.URL = "http://127.0.0.1:7717"
	}
	if b.Key == "" {
		return b, errors.New("DESKBELL_KEY is not set; `deskbell keys add my-agent` makes a key")
	}
	return b, nil
}

// Ring is what an agent asks a person.
type Ring struct {
	ActionType     string         `json:"action_type"` // feedback, approve, review, bash, desktop or browser
	Description    string         `json:"description"` // one line
	Details        map[string]any `json:"details,omitempty"`
	SessionID      string         `json:"session_id,omitempty"`
	Timeout        float64        `json:"timeout,omitempty"`    // seconds
	OnTimeout      string         `json:"on_timeout,omitempty"` // cancel, or mark: it can still be answered
	IdempotencyKey string         `json:"idempotency_key,omitempty"`
}

// An Operation is a request and what came of it.
type Operation struct {
	ID          string     `json:"operation_id"`
	Version     int        `json:"version"`
	State       string     `json:"state"`
	Description string     `json:"description"`
	SessionID   string     `json:"session_id"`
	DeliveredAt *time.Time `json:"delivered_at"`
	Messages    []struct {
		By   struct{ Role, Name string }
		Text string
	} `json:"messages"`
	Result *struct {
		HumanInput  string            `json:"human_input"`
		Decision    string            `json:"decision"` // of an approval: approve or deny
		Summary     string            `json:"summary"`
		KeyFindings []string          `json:"key_findings"`
		Fields      map[string]string `json:"fields"`
		By          struct{ Name string }
	} `json:"result"` // once completed
	Ended *struct{ Reason string } `json:"ended"` // once canceled or declined
}

// Over says whether nothing more will come of it.
func (o Operation) Over() bool {
	return o.State == "completed" || o.State == "cancelled" || o.State == "declined"
}

// Ring rings. With an idempotency key, the same ring again is the same operation, so a lost connection rings no one twice.
func (b Bell) Ring(ctx context.Context, r Ring) (op Operation, err error) {
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = rand.Text()
	}
	return op, b.Do(ctx, http.MethodPost, "/api/human/invoke", r, &op)
}

// Get reads an operation.
func (b Bell) Get(ctx context.Context, id string) (Operation, error) {
	return b.read(ctx, "/api/human/operations/"+id)
}

// Changed waits, up to 25 seconds, until there is more to an operation than op says, and returns it.
func (b Bell) Changed(ctx context.Context, op Operation) (Operation, error) {
	return b.read(ctx, fmt.Sprintf("/api/human/operations/%s?wait=25&after_version=%d", op.ID, op.Version))
}

// read reads an operation, and of its end tells Deskbell that it has arrived: who answered sees that, and it is not told
// again. Deskbell notes it by itself as well, but not where the agent ends the moment it has read.
func (b Bell) read(ctx context.Context, path string) (op Operation, err error) {
	if err = b.Do(ctx, http.MethodGet, path, nil, &op); err == nil && op.Over() {
		err = b.Do(ctx, http.MethodPost, "/api/human/delivered", map[string]string{"operation_id": op.ID}, &op)
	}
	return op, err
}

// patient waits longer than Deskbell ever holds a call.
var patient = &http.Client{Timeout: 90 * time.Second}

// Reply answers what a person asked back, and returns the operation as it then is. Where it has ended meanwhile, the reply
// came too late, and that is no error.
func (b Bell) Reply(ctx context.Context, id, text string) (op Operation, err error) {
	err = b.Do(ctx, http.MethodPost, "/api/human/reply", map[string]string{"operation_id": id, "text": text}, &op)
	var refused *Problem
	if errors.As(err, &refused) && refused.Kind == "conflict" {
		return b.Get(ctx, id)
	}
	return op, err
}

// Withdraw withdraws what a person is asked, when no one needs the answer any more.
func (b Bell) Withdraw(ctx context.Context, id, reason string) error {
	return b.Do(ctx, http.MethodPost, "/api/human/cancel", map[string]string{"operation_id": id, "reason": reason}, &Operation{})
}

// A Problem is what Deskbell answers in place of a result. Detail says why, and what to do.
type Problem struct {
	Status int
	Kind   string // invalid, unauthorized, denied, not_found, conflict, exhausted, unavailable, internal
	Detail string
}

func (p *Problem) Error() string { return p.Detail }

// Do calls Deskbell. Where it cannot be reached it tries again for half a minute: a restart loses nothing, so an agent
// need not notice one. So what is sent may arrive twice: a request has a key, and the rest does no harm the second time.
func (b Bell) Do(ctx context.Context, method, path string, body, into any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for tries := 30; ; tries-- {
		err := b.once(ctx, method, path, raw, into)
		var refused *Problem
		if err == nil || tries == 0 || ctx.Err() != nil || errors.As(err, &refused) {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b Bell) once(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, b.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+b.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := patient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusBadRequest {
		p := &Problem{Status: res.StatusCode, Kind: "internal", Detail: res.Status}
		_ = json.Unmarshal(text, p) // a proxy on the way may answer with a page
		return p
	}
	return json.Unmarshal(text, into)
}
