package record_test

import (
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// What a source says it missed is a gap of the recording, on the recording's time, and no event of its own.
func TestASourceReportsAGap(t *testing.T) {
	run(t, record.Options{}, func(t *testing.T, d *fixture) {
		d.start(human.RecordingOptions{Folders: []string{"/work"}})
		from := d.mono()
		d.wait(2 * time.Second)
		d.files.send(human.RecordedEvent{At: d.mono(), Source: human.FileSource, Type: human.GapOpened,
			Gap: &human.Gap{From: from, To: d.mono(), Source: human.FileSource, Reason: "overflow", Count: 3}})
		d.settle()
		r := d.stop()
		if len(r.Gaps) != 1 {
			t.Fatalf("gaps: %+v", r.Gaps)
		}
		g := r.Gaps[0]
		if g.Source != human.FileSource || g.Reason != "overflow" || g.Count != 3 || g.To-g.From != int64(2*time.Second) || g.To > r.Span {
			t.Errorf("the gap is %+v of %d", g, r.Span)
		}
		if r.Complete || r.Counts.Lost != 0 {
			t.Errorf("complete: %t, lost: %d", r.Complete, r.Counts.Lost)
		}
		if reported := only(d.events(r.ID), human.GapOpened); len(reported) != 1 || reported[0].Source != human.RecorderSource {
			t.Errorf("reported: %+v", reported)
		}
	})
}
