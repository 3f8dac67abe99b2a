package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// SampleAgent is the name of the command that sends requests as an agent would, for a first run that is not empty.
const SampleAgent = "sample-agent"

// sampleWords is what the sample agent says, in one language.
type sampleWords struct {
	pick, design, concern string
	options               []string
	allow, impact, undo   string
	explain               string
}

var sampleTexts = map[string]sampleWords{
	"en": {
		pick:    "Hello, I am the sample agent. Which greeting shall I use?",
		design:  "A program that greets whoever starts it. I can write it, but taste is yours.",
		concern: "I do not know whether your colleagues like jokes.",
		options: []string{"Good morning", "Hi there", "Ahoy"},
		allow:   "May I print the greeting you chose?",
		impact:  "One line appears in the sample agent's output. Nothing else changes.",
		undo:    "None needed.",
		explain: "I am only an example: I want to show that you can ask a question before you answer. Any answer will do.",
	},
	"zh-CN": {
		pick:    "您好，我是示例智能体。请选一句问候语，可以吗？",
		design:  "一个向启动者问好的小程序。代码我会写，口味由您定。",
		concern: "我不清楚您的同事是否喜欢玩笑。",
		options: []string{"早上好", "嗨，大家好", "各位安好"},
		allow:   "可以打印您选的问候语吗？",
		impact:  "示例智能体会输出一行文字，除此之外没有任何变化。",
		undo:    "无需恢复。",
		explain: "我只是一个示例：想让您看到，回答之前可以先反问。怎么回答都行。",
	},
}

func (s *shell) sampleAgentCommand() *cobra.Command {
	var language string
	c := &cobra.Command{
		Use:    SampleAgent,
		Short:  "Send requests as an agent would, to try Deskbell",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			words, ok := sampleTexts[language]
			if !ok {
				words = sampleTexts["en"]
			}
			if s.key == "" && os.Getenv("DESKBELL_KEY") == "" {
				key, drop, err := s.mint(ctx, SampleAgent)
				if err != nil {
					return err
				}
				defer func() { _ = drop() }() // an example's key; `keys list` shows it if that failed
				s.key = key
			}
			agent, err := s.agent()
			if err != nil {
				return err
			}
			return s.sample(ctx, agent, words)
		},
	}
	c.Flags().StringVar(&language, "language", "en", "en or zh-CN")
	return s.agentCommand(c)
}

// sample asks for a choice, then for an approval to act on it. It answers one question of the operator.
func (s *shell) sample(ctx context.Context, agent *client.Client, w sampleWords) error {
	choice, err := s.sampleRing(ctx, agent, w, human.Feedback, w.pick, map[string]any{
		"design": w.design, "concerns": []string{w.concern}, "options": w.options,
	})
	if err != nil || choice.State != human.Completed {
		return err
	}
	greeting := strings.TrimSpace(choice.Result.HumanInput)
	if greeting == "" {
		greeting = w.options[0]
	}
	answer, err := s.sampleRing(ctx, agent, w, human.Approve, w.allow, map[string]any{
		"action": "echo '" + strings.ReplaceAll(greeting, "'", `'\''`) + "'", "impact": w.impact, "risk_level": string(human.LowRisk), "rollback_plan": w.undo,
	})
	if err != nil {
		return err
	}
	if answer.State == human.Completed && answer.Result.Decision == human.Approved {
		s.printf("%s\n", visible(greeting))
	}
	return nil
}

// sampleRing rings, explains itself when asked, and returns the operation at its end.
func (s *shell) sampleRing(ctx context.Context, agent *client.Client, w sampleWords, kind human.Kind, text string, details map[string]any) (human.Operation, error) {
	raw, err := json.Marshal(details)
	if err != nil {
		return human.Operation{}, err
	}
	forEver := 0.0
	op, _, err := agent.Invoke(ctx, client.Ring{Kind: kind, Description: text, Details: raw, Timeout: &forEver})
	for err == nil && !op.State.Terminal() {
		if op.State == human.WaitingInput {
			op, err = agent.Reply(ctx, op.ID, w.explain)
			continue
		}
		op, err = agent.Wait(ctx, op.ID, op.Version, pollFor)
	}
	if err != nil {
		return op, err
	}
	s.note("%s: %s", kind, visible(outcome(op)))
	deliver, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := agent.MarkDelivered(deliver, op.ID); err != nil {
		return op, fmt.Errorf("telling that the answer was read: %w", err)
	}
	return op, nil
}

// Samples starts sample agents: processes of this program that know nothing but a URL and a key. It is safe for concurrent
// use.
type Samples struct {
	keys Keys
	dir  string
	log  *slog.Logger
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup
}

// NewSamples makes the starter of sample agents for the server of a data folder.
func NewSamples(keys Keys, dir string, log *slog.Logger) *Samples {
	s := &Samples{keys: keys, dir: dir, log: log}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Start starts one that calls url, in a language, and returns.
func (s *Samples) Start(ctx context.Context, url, language string) error {
	self, err := os.Executable()
	if err != nil {
		return human.Wrap(human.Internal, err, "Deskbell cannot find its own program to start the sample agent")
	}
	key, err := s.keys.AddKey(ctx, SampleAgent, true)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(s.life, self, SampleAgent, "--url", url, "--language", language)
	cmd.Env = append(os.Environ(), "DESKBELL_KEY="+key, "DESKBELL_DATA="+s.dir)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return errors.Join(human.Wrap(human.Internal, err, "the sample agent could not be started"), s.keys.DropKey(ctx, key))
	}
	s.log.Info("sample agent started", "pid", cmd.Process.Pid)
	s.work.Go(func() {
		err := cmd.Wait()
		s.log.Info("sample agent ended", "pid", cmd.Process.Pid, "err", err)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := s.keys.DropKey(last, key); err != nil {
			s.log.Warn("the sample agent's key could not be dropped", "err", err)
		}
	})
	return nil
}

// Close ends those that run, and waits for them.
func (s *Samples) Close() {
	s.end()
	s.work.Wait()
}
