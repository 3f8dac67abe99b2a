package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

var (
	things  = []string{"api", "gateway", "worker", "cron", "web", "billing", "search", "mailer", "ledger", "router"}
	actions = []string{"Roll out", "Roll back", "Review", "Restart", "Migrate", "Rename", "Delete", "Archive", "审批", "检查登录页面"}
)

// largeFile measures the first page, full-text search and the start of a server in a file with a million operations,
// most of them answered, as after years of use.
func largeFile(ctx context.Context) error {
	dir := *keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "deskbell-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := fill(ctx, store); err != nil {
		return err
	}
	fmt.Printf("\n## A file with %d operations\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n", *million)
	for _, c := range []struct {
		what   string
		filter queue.Filter
	}{
		{"inbox, first page (open, most urgent first)", queue.Filter{Open: true, Order: queue.Urgent}},
		{"history, first page (newest first)", queue.Filter{Order: queue.Newest}},
		{"one agent's history, first page", queue.Filter{Order: queue.Newest, AgentID: "agent-7"}},
		{"search, a word in a tenth of them", queue.Filter{Text: "gateway"}},
		{"search, two words", queue.Filter{Text: "gateway migrate"}},
		{"search, a rare word", queue.Filter{Text: "zanzibar"}},
		{"search, Chinese", queue.Filter{Text: "登录"}},
		{"search, one agent's", queue.Filter{Text: "mailer", AgentID: "agent-7"}},
	} {
		took := make([]time.Duration, 0, 200)
		for range 200 {
			begin := time.Now()
			page, err := store.List(ctx, withLimit(c.filter))
			if err != nil {
				return err
			}
			took = append(took, time.Since(begin))
			if len(page.Operations) == 0 {
				return fmt.Errorf("%s: nothing found", c.what)
			}
		}
		percentiles(c.what, took)
	}
	if err := store.Close(); err != nil {
		return err
	}
	return startsOf(ctx, dir)
}

func withLimit(f queue.Filter) queue.Filter {
	f.Limit = queue.DefaultPage
	return f
}

// fill rings until the file has as many operations as wanted, all but one in a thousand answered.
func fill(ctx context.Context, store *sqlite.Store) error {
	head, err := store.Head(ctx)
	if err != nil || head > 0 {
		return err // kept from an earlier run
	}
	q := queue.New(store, store, queue.Options{MaxPending: 1 << 30})
	if err := q.Load(ctx); err != nil {
		return err
	}
	return many(256, *million, func(i int) error { return lived(ctx, q, i) })
}

// lived creates the i-th operation, mostly with its answer in the same commit.
func lived(ctx context.Context, q *queue.Queue, i int) error {
	answer := &human.Answer{Decision: human.Approved, HumanInput: "Looks right, go ahead"}
	if i%1000 == 0 {
		answer = nil
	}
	_, _, err := q.Submit(ctx, someRequest(i), answer)
	return err
}

// someRequest is the i-th request, of one of 40 agents.
func someRequest(i int) human.Request {
	description := fmt.Sprintf("%s %s %d.%d", actions[i/7%len(actions)], things[i%len(things)], i%50, i%13)
	if i == 4242 {
		description += " in Zanzibar"
	}
	return human.Request{
		Kind: kind.ForAgents()[i%len(kind.ForAgents())], Description: description, AgentID: fmt.Sprint("agent-", i%40),
		Details: []byte(fmt.Sprintf(`{"action":"make %s","ticket":"OPS-%d"}`, things[i%len(things)], i)), Priority: i % 10, Timeout: 300,
	}
}
