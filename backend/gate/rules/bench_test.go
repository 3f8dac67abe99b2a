package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// many are rules of every form, so many of them.
func many(n int) []human.GateRule {
	programs := []string{"git", "npm", "docker", "go", "kubectl", "make", "terraform", "curl", "python3", "cargo"}
	var out []human.GateRule
	for i := range n {
		r := human.GateRule{ID: fmt.Sprint("r", i), Decision: []human.Ruling{human.Allow, human.Ask, human.Deny}[i%3]}
		switch i % 5 {
		case 0, 1, 2:
			r.Command = fmt.Sprintf("%s task%d --flag%d *", programs[i%len(programs)], i, i)
		case 3:
			r.Command = fmt.Sprintf("program%d sub **", i)
		case 4:
			r.Path, r.Verbs = fmt.Sprintf("generated/**/part%d/*.txt", i), []human.EffectVerb{human.FilesystemWrite, human.FilesystemDelete}
		}
		out = append(out, r)
	}
	return out
}

// A decision with a thousand rules of one's own and a hundred rules; p50 and p99 in microseconds.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			s := set(b, many(n)...)
			at := here()
			at.Standing = many(n / 10)
			for i := range at.Standing {
				at.Standing[i].Source = human.RuleOperator
			}
			calls := make([]gate.Call, len(commands))
			for i, c := range commands {
				calls[i] = bash(c)
				s.Judge(calls[i], nil, at)
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				s.Judge(calls[i%len(calls)], nil, at)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-us")
		})
	}
}

// What reading a file with so many rules takes.
func BenchmarkCompile(b *testing.B) {
	c := rules.Defaults()
	c.Rules = many(1000)
	for b.Loop() {
		if _, err := rules.Compile(c, nil); err != nil {
			b.Fatal(err)
		}
	}
}
