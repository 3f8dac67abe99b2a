// Command ask asks a person, and answers what they ask back before they decide:
//
//	export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//	go run ./docs/examples/go/ask
//
// In the card or the console choose "Ask back" and write, say, "how many rows?" or "is there a backup?". The exit code is 0
// for a yes, 1 for a no, 2 where no one decided, 3 for an error.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"deskbell/docs/examples/go/bell"
)

// What the agent knows, by a word of the question. An agent with a model would ask the model.
var knows = map[string]string{
	"rows":   "48,210 rows, the oldest of 2019.",
	"backup": "There is a dump of last night, checked.",
}

func answer(question string) string {
	for word, fact := range knows {
		if strings.Contains(strings.ToLower(question), word) {
			return fact
		}
	}
	return "I do not know that. Please decide without it, or deny."
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ask:", err)
		code = 3
	}
	os.Exit(code)
}

func run(ctx context.Context) (code int, err error) {
	b, err := bell.FromEnv()
	if err != nil {
		return 0, err
	}
	op, err := b.Ring(ctx, bell.Ring{
		ActionType: "approve", Description: "Delete the table visits_old?", Timeout: 3600, OnTimeout: "cancel",
		Details: map[string]any{"action": "DROP TABLE visits_old", "risk_level": "high"},
	})
	if err != nil {
		return 0, err
	}
	fmt.Println("rang:", op.ID)
	for !op.Over() {
		if op.State == "waiting_input" { // they ask; the operation continues once they are answered
			question := op.Messages[len(op.Messages)-1].Text
			fmt.Println("asked:", question)
			if op, err = b.Reply(ctx, op.ID, answer(question)); err != nil {
				return 0, err
			}
			fmt.Println("replied:", answer(question))
			continue
		}
		next, err := b.Changed(ctx, op)
		if ctx.Err() != nil { // interrupted: no one needs to decide any more
			return 2, b.Withdraw(context.WithoutCancel(ctx), op.ID, "the agent was stopped")
		}
		if err != nil {
			return 0, err
		}
		op = next
	}
	switch {
	case op.State == "completed" && op.Result.Decision == "approve":
		fmt.Println("approved:", op.Result.HumanInput)
		return 0, nil
	case op.State == "completed":
		fmt.Println("denied:", op.Result.HumanInput)
		return 1, nil
	case op.State == "declined":
		fmt.Println("declined:", op.Ended.Reason)
		return 1, nil
	}
	fmt.Println("cancelled:", op.Ended.Reason)
	return 2, nil
}
