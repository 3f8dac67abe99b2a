// Package prompt is the summarizer that asks a model: a template in Markdown with a small header says what to
// ask, the model's answer is checked like everybody's (summarizers.Check). It knows no provider; a Model does.
package prompt

import (
	"context"
	"encoding/json"
	"errors"

	"deskbell/backend/human"
)

// ErrAnswer is in the chain of Ask's Invalid error where the request was taken and the answer is no JSON, or was cut
// short: asking once more, with what was wrong, may help.
var ErrAnswer = errors.New("an answer that cannot be used")

// A Model answers prompts. Implementations are safe for concurrent use.
type Model interface {
	// About says which model it is and what it takes.
	About() ModelInfo

	// Ask sends one request and returns the whole answer, a JSON value of the schema asked for (not checked). It
	// streams: tell is called with what has come so far. It tries again, with growing pauses, what may work the
	// second time (a rate limit, an overload, a connection that was cut), within ctx. Errors are of package human:
	// Denied for a key that is refused, Unavailable for a provider that cannot be reached or does not answer,
	// Exhausted for limits and budgets, Invalid for a request it does not take or an answer that is no JSON or was
	// cut short (ErrAnswer); their text says what to do and never has the key in it. Where ctx ends, the error is ctx's.
	Ask(ctx context.Context, r Request, tell func(soFar string)) (Reply, error)
}

// ModelInfo says which model it is and what it takes.
type ModelInfo struct {
	Provider  string // anthropic or openai, by the protocol spoken
	Name      string // the model's
	Host      string // host and port that requests go to
	Pictures  bool   // it takes pictures
	MaxInput  int    // tokens of a request; 0: not known
	MaxOutput int    // tokens of an answer
}

// A Request is what a model is asked.
type Request struct {
	System   string
	Text     string
	Pictures []Picture
	Schema   json.RawMessage // JSON Schema of the answer
	Tokens   int             // at most so many in the answer
}

// A Picture goes with a request, after the name it has in the text.
type Picture struct {
	Name string // what the text calls it: p1
	Ref  human.Ref
	JPEG []byte
}

// A Reply is a model's answer.
type Reply struct {
	JSON      json.RawMessage
	Model     string // as the provider names it
	TokensIn  int
	TokensOut int
}
