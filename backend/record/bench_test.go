package record_test

import (
	"context"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A move of the pointer and a key, from the source to the store.
func BenchmarkEvents(b *testing.B) {
	ctx := context.Background()
	d := newFixture(b, record.Options{})
	defer d.close()
	r, err := d.rec.Start(ctx, ann, "op_1", human.RecordingOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.input.send(human.RecordedEvent{At: d.mono(), Type: human.PointerMoved, X: i % 60, Y: i % 40})
		d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyDown, Key: "a", Text: "a"})
		d.input.send(human.RecordedEvent{At: d.mono(), Type: human.KeyUp, Key: "a", Text: "a"})
		if i%128 == 127 { // the queue has room for what comes in between
			if _, err := d.rec.Mark(ctx, ann, r.ID, record.Note{Text: "so far"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	if r, err = d.rec.Stop(ctx, ann, r.ID); err != nil || r.Counts.Lost > 0 {
		b.Fatalf("%v, %+v", err, r.Counts)
	}
}
