// Package hook stands in front of coding agents: it answers the hooks by which they ask, before they call a tool, whether
// they may. It reads what a client writes to a hook's standard input, asks a Judge, and writes the answer in the client's
// own words. Whatever goes wrong blocks the call and says what happened: most clients let a call run when their hook fails.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A Judge decides about a call before it runs; client.Client is one. A judgement to ask without an operation leaves the
// call to the client's own prompt.
type Judge interface {
	// Evaluate blocks while an operator is asked, for how.Wait at the longest. Errors are of package human.
	Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error)
	// Withdraw ends a question that nobody waits for any more.
	Withdraw(ctx context.Context, question human.OperationID, reason string) error
}

// A Client is a program whose hooks are answered.
type Client struct {
	Name string
	// Limit is how long it waits for a hook that its settings say nothing about.
	Limit time.Duration
	// read takes the input apart.
	read func(input []byte) (event, error)
	// refuse is the answer where the input does not tell what is asked.
	refuse func(message string) any
}

// An event is a call that a client asks about.
type event struct {
	call   human.ToolCall
	answer func(decision) any // in the client's words, to be written as JSON
}

// A decision is what becomes of a call.
type decision struct {
	ruling  human.Ruling // ask: the client asks its own user
	message string
	note    bool            // of allow: the message is worth telling
	args    json.RawMessage // of allow: it may run with these and no others
}

// told is the message of a call that runs as it was, or as the operator changed it.
func (d decision) told() string {
	if d.args == nil {
		return d.message
	}
	return fmt.Sprintf("%s\nIt runs with other arguments than were given: %s", d.message, d.args)
}

// Clients are all that are known.
var Clients = []Client{claudeCode, codex, gemini, cursor, opencode, copilot, qwen}

// Find returns the client of a name; Invalid without.
func Find(name string) (Client, error) {
	for _, c := range Clients {
		if c.Name == name {
			return c, nil
		}
	}
	if near := human.Nearest(name, Names()); near != "" {
		return Client{}, human.Errorf(human.Invalid, "there is no hook for %q; did you mean %s?", name, near)
	}
	return Client{}, human.Errorf(human.Invalid, "there is no hook for %q; there are: %s", name, strings.Join(Names(), ", "))
}

// Names are the clients' names.
func Names() []string {
	names := make([]string, len(Clients))
	for i, c := range Clients {
		names[i] = c.Name
	}
	return names
}

// Exit codes. With blocked every client but opencode, whose plug-in looks at the text, holds the call back.
const (
	answered = 0
	blocked  = 2
)

// mostInput is the longest input that is read, in bytes. A client tells a file's whole contents with a call that writes it.
const mostInput = 64 << 20

// Run answers one call: it reads in to its end and writes one JSON object to out, and nothing else. It returns the exit
// code. limit is how long the client waits for its hook, from about now on; Run answers before. When ctx ends, it refuses.
func Run(ctx context.Context, c Client, limit time.Duration, in io.Reader, out, errs io.Writer, judge Judge) (code int) {
	fail := func(message string) int {
		message = clean("Deskbell blocked this call: " + message)
		_ = write(out, c.refuse(message)) // the exit code refuses as well
		_, _ = fmt.Fprintln(errs, message)
		return blocked
	}
	defer func() {
		if broken := recover(); broken != nil {
			code = fail(fmt.Sprintf("its hook broke (%v). Tell your user; the call was not run.", broken))
		}
	}()
	input, err := io.ReadAll(io.LimitReader(in, mostInput+1))
	if err == nil && len(input) > mostInput {
		err = fmt.Errorf("it is longer than %d MiB", mostInput>>20)
	}
	if err != nil {
		return fail(fmt.Sprintf("its hook could not read what %s told it (%v).", c.Name, err))
	}
	e, err := c.read(input)
	if err != nil {
		return fail(fmt.Sprintf("its hook did not understand what %s told it (%v). Perhaps Deskbell is too old for this version of %s; `deskbell hook install %s --uninstall` takes the hook out.", c.Name, err, c.Name, c.Name))
	}
	e.call.Client = c.Name
	if err := write(out, e.answer(decide(ctx, judge, e.call, limit))); err != nil {
		return fail(fmt.Sprintf("its hook could not answer (%v).", err))
	}
	return answered
}

func write(out io.Writer, answer any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil {
		return err
	}
	_, err := out.Write(b.Bytes())
	return err
}

// Waits. The first is short so that the question's id is known early, should it have to be withdrawn.
const (
	firstWait = 2 * time.Second
	laterWait = 25 * time.Second
	pause     = time.Second // between asks of a judge that does not wait
	goodbye   = time.Second // to withdraw a question
)

// margin is how long before the client's limit the last word is spoken.
func margin(limit time.Duration) time.Duration {
	return min(10*time.Second, max(limit/20, min(limit/4, time.Second)))
}

// decide asks the judge until there is a decision.
func decide(ctx context.Context, judge Judge, call human.ToolCall, limit time.Duration) decision {
	spare := margin(limit)
	timed, cancel := context.WithTimeout(ctx, limit-spare)
	defer cancel()
	how := service.Asking{Wait: min(firstWait, limit-2*spare), Timeout: limit - 2*spare}
	for {
		began := time.Now()
		j, err := judge.Evaluate(timed, call, how)
		if err == nil && j.Decision == human.Ask && j.OperationID != "" {
			how.Question, how.Wait = j.OperationID, laterWait
			if time.Since(began) < pause {
				rest(timed, pause)
			}
			err = timed.Err()
			if err == nil {
				continue
			}
		}
		if err != nil {
			if how.Question != "" {
				withdraw(ctx, judge, how.Question)
			}
			return decision{ruling: human.Deny, message: trouble(ctx, timed, how, limit, err)}
		}
		d := decision{ruling: j.Decision, message: say(j)}
		switch j.Decision {
		case human.Allow:
			if len(j.Args) > 0 && !bytes.Equal(j.Args, []byte("null")) {
				d.args = j.Args
			}
			d.note = j.OperationID != "" || j.Backup != nil || d.args != nil
		case human.Ask:
		default:
			d.ruling = human.Deny
		}
		return d
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// withdraw tells the operator that nobody waits any more. That it may fail is no harm: the question ends by itself.
func withdraw(ctx context.Context, judge Judge, question human.OperationID) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = judge.Withdraw(last, question, "the agent's client stopped waiting")
}

// trouble says why there is no decision.
func trouble(ctx, timed context.Context, how service.Asking, limit time.Duration, err error) string {
	switch {
	case ctx.Err() != nil:
		return "Deskbell blocked this call: its hook was stopped before there was an answer. The call was not run."
	case timed.Err() != nil && how.Question != "":
		return fmt.Sprintf("Deskbell blocked this call: no operator answered within %s, which is as long as this client waits. The call was not run. Continue with something else, or tell your user that it waits for an answer.", limit.Round(time.Second))
	case timed.Err() != nil:
		return "Deskbell blocked this call: Deskbell did not answer in time. The call was not run. Tell your user to look at Deskbell."
	case human.KindOf(err) == human.Unavailable && how.Question != "":
		return "Deskbell blocked this call: Deskbell stopped while an operator was being asked. The call was not run. The question is kept and is there again when Deskbell runs; call the tool again then."
	}
	return fmt.Sprintf("Deskbell blocked this call: %s. The call was not run.", strings.TrimRight(reasonOf(err), ". "))
}

func reasonOf(err error) string {
	var ours *human.Error
	if errors.As(err, &ours) {
		return ours.Msg
	}
	return err.Error()
}

// say is a judgement's message. Some clients do not treat a denial without words as one.
func say(j human.Judgement) string {
	if text := clean(j.Message); text != "" {
		return text
	}
	if text := clean(j.Verdict.Reason); text != "" {
		return text
	}
	if j.Decision == human.Allow {
		return "Deskbell allowed this call."
	}
	return "Deskbell blocked this call."
}

// clean leaves out what would do something to a terminal or turn a text around. Lines stay lines.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, text))
}

// offer denies a call that may run with other arguments, where the client cannot take them.
func offer(tool string, d decision) string {
	return fmt.Sprintf("%s\nIt was not run as it was. It may run with other arguments: call %s again with exactly these: %s", d.message, clean(tool), d.args)
}
