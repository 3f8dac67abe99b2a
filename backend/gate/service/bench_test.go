package service_test

import (
	"slices"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A call that is allowed, with its line in the log on disk: one that rests on no file, on a script, on a project's Makefile.
// The disk takes most of the time, so the fast ones say more than the mean.
func BenchmarkAllowed(b *testing.B) {
	for name, command := range map[string]string{"no file": "git status", "script": "sh list.sh", "makefile": "make -n"} {
		b.Run(name, func(b *testing.B) {
			p := open(b, nil)
			put(b, p.project, "list.sh", "ls\nls -la\n")
			put(b, p.project, "Makefile", "all:\n\techo a\n")
			call := p.bash(command)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if j, err := p.Evaluate(b.Context(), bot, call, service.Asking{}); err != nil || j.Decision != human.Allow {
					b.Fatal(j.Decision, err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)/20].Microseconds()), "p5-us")
		})
	}
}
