package service_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A slowStore has read the rules, and returns them only when the test lets it.
type slowStore struct {
	service.Store
	once     sync.Once
	has, say chan struct{}
}

func (s *slowStore) Rules(ctx context.Context) ([]human.GateRule, error) {
	list, err := s.Store.Rules(ctx)
	s.once.Do(func() {
		close(s.has)
		<-s.say
	})
	return list, err
}

// A rule that is deleted while another reads the rules does not come back with that read.
func TestWhatIsTakenBackWhileRulesAreReadStaysSo(t *testing.T) {
	var slow *slowStore
	p := open(t, func(p *post) {
		p.deps = func(d *service.Deps) {
			slow = &slowStore{Store: d.Store, has: make(chan struct{}), say: make(chan struct{})}
			d.Store = slow
		}
	})
	rule, err := p.AddRule(t.Context(), ada, human.GateRule{Decision: human.Allow, Command: "frobnicate --all build"})
	if err != nil {
		t.Fatal(err)
	}
	call := p.bash("frobnicate --all build")
	var meanwhile human.Judgement
	var wg sync.WaitGroup
	wg.Go(func() {
		if meanwhile, err = p.Evaluate(t.Context(), bot, call, service.Asking{}); err != nil {
			t.Error(err)
		}
	})
	<-slow.has
	if err := p.DropRule(t.Context(), ada, rule.ID); err != nil {
		t.Fatal(err)
	}
	close(slow.say)
	wg.Wait()
	if meanwhile.Decision != human.Ask {
		t.Errorf("judged with what was read before: %s", meanwhile.Decision)
	}
	if j, err := p.Evaluate(t.Context(), bot, call, service.Asking{}); err != nil || j.Decision != human.Ask {
		t.Errorf("judged after: %s, %v", j.Decision, err)
	}
}

// A slowRule is stored only when the test lets it.
type slowRule struct {
	service.Store
	has, say chan struct{}
}

func (s *slowRule) PutRule(ctx context.Context, r human.GateRule) error {
	close(s.has)
	<-s.say
	return s.Store.PutRule(ctx, r)
}

// An agent that has its answer makes the call again at once: the rule that came with the answer counts for it.
func TestARuleCountsWithItsAnswer(t *testing.T) {
	slow := &slowRule{has: make(chan struct{}), say: make(chan struct{})}
	var armed atomic.Bool
	judging := make(chan struct{}, 1)
	p := open(t, func(p *post) {
		p.deps = func(d *service.Deps) {
			slow.Store, d.Store = d.Store, slow
			facts := d.Facts
			d.Facts = func(ctx context.Context, call gate.Call, made func(string) bool) service.Facts {
				if armed.Load() {
					select {
					case judging <- struct{}{}:
					default:
					}
				}
				return facts(ctx, call, made)
			}
		}
	})
	call := p.bash("frobnicate --all build")
	op := p.asked(call)
	rule := human.GateRule{Decision: human.Allow, Command: "frobnicate --all build"}
	var wg sync.WaitGroup
	wg.Go(func() { p.answer(op, service.AnswerRequest{Choice: human.ChooseAllow, Rule: &rule}) })
	<-slow.has
	if now, err := p.queue.Get(t.Context(), bot, op.ID); err != nil || !now.State.Terminal() {
		t.Errorf("the rule is stored before the answer: %s, %v", now.State, err)
	}
	armed.Store(true)
	wg.Go(func() {
		if j, err := p.Evaluate(t.Context(), bot, call, service.Asking{}); err != nil || j.Decision != human.Allow {
			t.Errorf("judged %s, %v", j.Decision, err)
		}
	})
	<-judging
	close(slow.say)
	wg.Wait()
}
