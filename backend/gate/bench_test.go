package gate_test

import (
	"slices"
	"testing"
	"time"

	"deskbell/backend/gate"
)

// A decision, over commands of every kind; p50 and p99 in microseconds beside the mean.
func BenchmarkJudge(b *testing.B) {
	calls := make([]gate.Call, len(samples))
	for i, s := range samples {
		calls[i] = bash(s)
		gate.Judge(calls[i], gate.Balanced, nil) // what is known of a command is read once
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		gate.Judge(calls[i%len(calls)], gate.Balanced, nil)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-us")
}

// A decision over the corpus: calls of every kind of tool.
func BenchmarkCorpus(b *testing.B) {
	all := corpus(b)
	for _, c := range all {
		gate.Judge(c.call, gate.Balanced, nil)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		gate.Judge(all[i%len(all)].call, gate.Balanced, nil)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-us")
}

func BenchmarkHostileCall(b *testing.B) {
	for name, call := range hostileCalls() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				gate.Judge(call, gate.Balanced, nil)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, s := range hostile() {
		call := bash(s)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				gate.Judge(call, gate.Balanced, nil)
			}
		})
	}
}
