package service_test

import (
	"context"
	"sync"
	"testing"

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
