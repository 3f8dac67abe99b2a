package corpus_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
	"deskbell/build/corpus"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin"
)

// mostActions of one recording are read by a summarizer, as the program does it.
const mostActions = 50_000

// BenchmarkSummarize makes a report of one long recording of desktop and browser, from its raw events to what
// Check leaves: the corpus's own events over and over. The peak is of the whole heap, sampled, less what was
// there before. The goals are 100 ms for ten thousand events, and 5 s and bounded memory for a million.
func BenchmarkSummarize(b *testing.B) {
	cases, err := corpus.Load("testdata")
	if err != nil {
		b.Fatal(err)
	}
	var tapes [][]human.RecordedEvent
	for _, c := range cases {
		tapes = append(tapes, c.Events...)
	}
	joined, err := corpus.ByName(builtin.All())(corpus.Case{Source: corpus.Joined})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var derive, read, check time.Duration
			var list, findings int // actions and findings of the last
			peak := peakOf(func() {
				for b.Loop() {
					b.StopTimer()
					runtime.GC() // of the last, which the program would not have kept
					b.StartTimer()
					in := long()
					began := time.Now()
					list = derived(b, &in.Recordings[0], tape(tapes, n))
					known := time.Now()
					report, err := joined.Summarize(context.Background(), in, func(human.Progress) {})
					if err != nil {
						b.Fatal(err)
					}
					told := time.Now()
					report, dropped := summarizers.Check(in, report)
					if len(report.Findings) == 0 || len(dropped) > 0 {
						b.Fatalf("%d findings, dropped %v", len(report.Findings), dropped)
					}
					findings = len(report.Findings)
					derive, read, check = derive+known.Sub(began), read+told.Sub(known), check+time.Since(told)
				}
			})
			each := func(d time.Duration) float64 { return float64(d.Milliseconds()) / float64(b.N) }
			b.ReportMetric(each(derive), "derive-ms/op")
			b.ReportMetric(each(read), "report-ms/op")
			b.ReportMetric(each(check), "check-ms/op")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
			b.ReportMetric(float64(list), "actions")
			b.ReportMetric(float64(findings), "findings")
		})
	}
}

// derived gives a recording its actions, and returns how many there are in all.
func derived(b *testing.B, r *summarizers.Recorded, events iter.Seq2[human.RecordedEvent, error]) int {
	b.Helper()
	all, err := actions.From(events, "en")
	if err != nil {
		b.Fatal(err)
	}
	r.Actions = actions.ForAgent(all, human.Edits{SharePictures: true}, "en")
	if r.More = max(0, len(r.Actions)-mostActions); r.More > 0 {
		r.Actions = slices.Clone(r.Actions[:mostActions])
	}
	return len(all)
}

// long is an operation with one recording, without its actions.
func long() summarizers.Input {
	wide := true
	return summarizers.Input{
		Version: 1, Language: "en",
		Operation: human.Operation{
			ID: "op_1", Kind: human.Browser, Description: "Work all day",
			Details: []byte(`{"data_to_extract":["plan_name","quota_requests"],"action_sequence":["Open it","Do it"],"expected_outcome":"report.pdf"}`),
		},
		Answer:    human.Answer{HumanInput: "It took all day."},
		Checklist: []summarizers.Step{{Text: "Open it", Done: true}, {Text: "Do it"}},
		Recordings: []summarizers.Recorded{{Recording: human.Recording{
			ID: "rec_1", OperationID: "op_1", State: human.RecordingStopped, StartedAt: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC),
			Options: human.RecordingOptions{Desktop: &wide, Browser: &human.BrowserOptions{}},
		}}},
	}
}

// tape plays recordings one after the other, and again, as one of n events.
func tape(tapes [][]human.RecordedEvent, n int) iter.Seq2[human.RecordedEvent, error] {
	return func(yield func(human.RecordedEvent, error) bool) {
		var seq uint64
		var at int64
		for {
			for _, events := range tapes {
				base, from := seq, at
				for _, e := range events {
					if e.Type == human.RecordingBegan || e.Type == human.RecordingEnded {
						continue
					}
					seq++
					shift := seq - e.Seq // what it names moves with it; a place or two are missing at the ends
					e.Seq, e.At = seq, from+e.At
					if e.CausedBy != 0 {
						e.CausedBy = max(base+1, e.CausedBy+shift)
					}
					if e.Until != 0 {
						e.Until = max(base+1, e.Until+shift)
					}
					at = max(at, e.At)
					if !yield(e, nil) || seq == uint64(n) {
						return
					}
				}
				at += int64(2 * time.Second)
			}
		}
	}
}

// peakOf is by how many bytes the heap grew at most while something was done, garbage not yet collected included.
func peakOf(do func()) uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, peak := heap(), uint64(0)
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, heap())
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	do()
	close(done)
	<-sampled
	return peak - min(before, peak)
}
