// Command call asks a person something and waits for the answer:
//
//	export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-agent
//	go run ./docs/examples/go/call "Which of the two logos?"
//	go run ./docs/examples/go/call -approve "make deploy" -risk high "Deploy to production?"
//
// With -patience it stops waiting before the person answers. Nothing is lost by that: the next run begins with what was
// answered meanwhile. The exit code is 0 for an answer or a yes, 1 for a no, 2 for a time-out, 3 for an error, 4 where
// patience ran out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"deskbell/docs/examples/go/bell"
)

// session marks the requests of this example among all that the agent's key has made.
const session = "example-call"

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "call:", err)
		code = 3
	}
	os.Exit(code)
}

func run() (code int, err error) {
	action := flag.String("approve", "", "ask for a yes or no to exactly this command")
	risk := flag.String("risk", "medium", "how bad it can be: low, medium, high or critical")
	timeout := flag.Float64("timeout", 3600, "seconds until no operator will answer any more")
	patience := flag.Float64("patience", 3600, "seconds that this program waits")
	flag.Parse()
	if flag.NArg() != 1 {
		return 0, errors.New("say in one argument what you want to know")
	}
	b, err := bell.FromEnv()
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	if err := late(ctx, b); err != nil {
		return 0, err
	}

	r := bell.Ring{ActionType: "feedback", Description: flag.Arg(0), SessionID: session, Timeout: *timeout, OnTimeout: "cancel"}
	if *action != "" {
		r.ActionType = "approve"
		r.Details = map[string]any{"action": *action, "risk_level": *risk}
	}
	op, err := b.Ring(ctx, r)
	if err != nil {
		return 0, err
	}
	fmt.Println("rang:", op.ID)
	waiting, stop := context.WithTimeout(ctx, time.Duration(*patience*float64(time.Second)))
	defer stop()
	for !op.Over() {
		if op, err = b.Changed(waiting, op); err != nil {
			if waiting.Err() != nil {
				fmt.Println("no answer yet; the next run begins with it")
				return 4, nil
			}
			return 0, err
		}
	}
	return report(ctx, b, op)
}

// late prints what people answered while no program of this agent waited. It prints an approval that comes late, too, and
// does nothing with it: the program that asked has ended.
func late(ctx context.Context, b bell.Bell) error {
	var page struct{ Operations []bell.Operation }
	if err := b.Do(ctx, "GET", "/api/human/operations?state=closed&limit=100", nil, &page); err != nil {
		return err
	}
	for _, op := range page.Operations {
		if op.SessionID != session || op.DeliveredAt != nil {
			continue
		}
		op, err := b.Get(ctx, op.ID)
		if err != nil {
			return err
		}
		fmt.Println("meanwhile:", op.Description)
		if _, err := report(ctx, b, op); err != nil {
			return err
		}
	}
	return nil
}

// report prints how an operation ended. Only a completed one may be taken for a yes, and of an approval only the
// decision "approve".
func report(ctx context.Context, b bell.Bell, op bell.Operation) (code int, err error) {
	if op.State != "completed" {
		fmt.Printf("%s: %s\n", op.State, op.Ended.Reason)
		if op.State == "declined" {
			return 1, nil
		}
		return 2, nil
	}
	if op.Result.Decision != "" {
		fmt.Println("decision:", op.Result.Decision)
	}
	if op.Result.HumanInput != "" {
		fmt.Printf("%s says: %s\n", op.Result.By.Name, op.Result.HumanInput)
	}
	if op.Result.Summary != "" {
		fmt.Println("summary:", op.Result.Summary)
	}
	for name, value := range op.Result.Fields {
		fmt.Printf("field: %s = %s\n", name, value)
	}
	for _, finding := range op.Result.KeyFindings {
		fmt.Println("finding:", finding)
	}
	if err := evidence(ctx, b, op); err != nil {
		return 0, err
	}
	if op.Result.Decision == "deny" {
		return 1, nil
	}
	return 0, nil
}

// evidence prints what the findings rest on.
func evidence(ctx context.Context, b bell.Bell, op bell.Operation) error {
	if len(op.Result.KeyFindings) == 0 {
		return nil
	}
	var all struct {
		Evidence []struct{ Label, Kind, Text string }
	}
	if err := b.Do(ctx, "GET", "/api/human/operations/"+op.ID+"/evidence?max_tokens=2000", nil, &all); err != nil {
		return err
	}
	for _, e := range all.Evidence {
		fmt.Printf("evidence: %s, %s: %s\n", e.Label, e.Kind, strings.TrimSpace(e.Text))
	}
	return nil
}
