package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"sync"

	"github.com/spf13/cobra"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// agentServeCommand is the process in which Deskbell has the messages of an agent answered: one for each agent and folder. It reads
// orders and writes returns, a line of JSON each, until the end of its input.
func (s *shell) agentServeCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "serve", Short: "Answer messages as Deskbell sends them", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r := AgentRun{Note: func(text string) { s.note("%s", visible(text)) }}
			done, err := s.beginAgent(c.Context(), &r, f)
			if err != nil {
				return err
			}
			defer done()
			return s.Agent.Chat(c.Context(), r, func(handle Handle) error { return s.serveOrders(c.Context(), handle) })
		},
	}
	f.given = c.Flags().Changed
	s.startFlags(c, &f)
	return s.runFlags(c, &f)
}

// serveOrders answers orders, several at the same time, until the end of the input.
func (s *shell) serveOrders(ctx context.Context, handle Handle) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var mu sync.Mutex // of the output, and of cancels
	cancels := map[int]context.CancelFunc{}
	out := json.NewEncoder(s.out)
	answer := func(r agent.Return) {
		mu.Lock()
		defer mu.Unlock()
		delete(cancels, r.N)
		if out.Encode(r) != nil {
			end() // there is no one any more
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	answer(agent.Return{})
	lines := bufio.NewScanner(s.in)
	lines.Buffer(nil, 2*longestMessage)
	for lines.Scan() {
		var o agent.Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return human.Wrap(human.Invalid, err, "a line of the input is no order")
		}
		mu.Lock()
		if o.Cancel {
			if cancel := cancels[o.N]; cancel != nil {
				cancel()
			}
			mu.Unlock()
			continue
		}
		one, cancel := context.WithCancel(ctx)
		cancels[o.N] = cancel
		mu.Unlock()
		all.Go(func() {
			defer cancel()
			r, err := handle(one, o.Message)
			if err != nil {
				answer(agent.Return{N: o.N, Error: agent.FaultOf(err)})
				return
			}
			answer(agent.Return{N: o.N, Response: &r})
		})
	}
	return lines.Err()
}
