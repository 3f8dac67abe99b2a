package summarizertest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
	"deskbell/summarizers/summarizertest"
)

// plain is about the least that a summarizer can be. wrong is what is wrong with it.
type plain struct {
	wrong string
	asked *atomic.Int32
}

func (p plain) About() summarizers.About {
	a := summarizers.About{
		Name: "plain", Title: map[string]string{"en": "Plain", "zh-CN": "简单"}, Sources: []summarizers.Source{summarizers.FromAnswer, summarizers.FromBrowser},
		Languages: []string{"en", "zh-CN"}, Limit: time.Minute, Deterministic: true,
	}
	switch p.wrong {
	case "no title":
		delete(a.Title, "zh-CN")
	case "another at each call":
		a.Limit += time.Duration(p.asked.Add(1))
	}
	return a
}

func (p plain) Summarize(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (human.Report, error) {
	if p.wrong == "deaf" {
		ctx = context.WithoutCancel(ctx)
		<-time.After(12 * time.Second) // it may take ten
	}
	if err := ctx.Err(); err != nil {
		return human.Report{}, err
	}
	if p.wrong == "a foreign error" {
		return human.Report{}, fmt.Errorf("no")
	}
	if p.wrong == "changes its input" && len(in.Recordings) > 0 && len(in.Recordings[0].Actions) > 0 {
		in.Recordings[0].Actions[0].Words = "changed"
	}
	share := 0.5
	if p.wrong == "more than done" {
		share = 1.5
	}
	tell(human.Progress{Share: share})
	r := human.Report{Line: "Read " + fmt.Sprint(len(in.Answer.Fields)) + " fields"}
	if in.Language == "zh-CN" && p.wrong != "the wrong language" {
		r.Line = "读取了 " + fmt.Sprint(len(in.Answer.Fields)) + " 个字段"
	}
	for _, rec := range in.Recordings {
		for _, a := range rec.Actions {
			if a.Pick == nil {
				continue
			}
			f := human.Finding{Kind: human.FoundValue, Text: a.Pick.Field, Evidence: []human.Ref{{Kind: human.RefAction, Recording: rec.ID, ID: a.ID}}}
			switch p.wrong {
			case "an invented number":
				f.Text += " 99,123"
			case "a reference to nothing":
				f.Evidence[0].ID = "a4711"
			case "another each time":
				f.Confidence = rand.Float64()
			case "signs for the operator":
				f.ByHand = true
			}
			r.Findings = append(r.Findings, f)
		}
	}
	return r, nil
}

var wrongs = []string{
	"no title", "another at each call", "deaf", "a foreign error", "changes its input", "more than done", "the wrong language", "an invented number",
	"a reference to nothing", "another each time", "signs for the operator",
}

func TestAPlainOnePasses(t *testing.T) {
	summarizertest.Run(t, plain{wrong: os.Getenv("SUMMARIZERTEST_WRONG"), asked: new(atomic.Int32)})
}

func TestWhatIsWrongIsFound(t *testing.T) {
	for _, wrong := range wrongs {
		t.Run(wrong, func(t *testing.T) {
			t.Parallel()
			run := ""
			if wrong == "deaf" {
				run = "/Context" // the rest would take hours
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.failfast", "-test.run=^TestAPlainOnePasses$"+run)
			cmd.Env = append(os.Environ(), "SUMMARIZERTEST_WRONG="+wrong)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL") {
				t.Errorf("it passes: %v\n%s", err, out)
			}
		})
	}
}

func TestInputsAreThereForEveryKindAndSource(t *testing.T) {
	for _, language := range []string{"en", "zh-CN"} {
		kinds, sources, actions := map[human.Kind]bool{}, map[summarizers.Source]bool{}, 0
		for _, c := range summarizertest.Inputs(language) {
			kinds[c.Input.Operation.Kind] = true
			for _, s := range c.Input.Sources() {
				sources[s] = true
			}
			for _, r := range c.Input.Recordings {
				actions = max(actions, len(r.Actions))
			}
			if c.Input.Language != language {
				t.Errorf("%s is to be in %q", c.Name, c.Input.Language)
			}
		}
		if len(kinds) != len(kind.ForAgents()) || len(sources) != 4 || actions != summarizertest.Huge {
			t.Errorf("%s: %v %v %d", language, kinds, sources, actions)
		}
	}
}
