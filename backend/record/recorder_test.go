package record_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func TestARecordingFromStartToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{})
		defer d.close()
		d.elements.under = &human.Element{Role: "button", Name: "Save", Bounds: human.Bounds{X: 2, Y: 2, W: 10, H: 4}}
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.wait(time.Second)
		d.screen.show(7)
		d.wait(time.Second)
		d.press(3, 3)
		d.screen.show(9)
		d.wait(50 * time.Millisecond)
		d.release(3, 3)
		d.wait(time.Second)
		r := d.stop()
		if !r.Complete || r.State != human.RecordingStopped || r.Reason != "operator" || len(r.Gaps) > 0 {
			t.Errorf("the recording: %+v", r)
		}
		all := d.events(r.ID)
		var types []human.RecordedType
		for i, e := range all {
			if e.Seq != uint64(i+1) {
				t.Fatalf("event %d stands where %d is due", e.Seq, i+1)
			}
			types = append(types, e.Type)
		}
		t.Log(types)
		if all[0].Type != human.RecordingBegan || all[len(all)-1].Type != human.RecordingEnded {
			t.Errorf("it begins and ends with %s and %s", all[0].Type, all[len(all)-1].Type)
		}
		press := only(all, human.PointerDown)[0]
		if el := only(all, human.ElementSeen); len(el) != 1 || el[0].Element.Name != "Save" || el[0].CausedBy != press.Seq {
			t.Errorf("the element: %+v", el)
		}
		want := map[string]byte{"start": 0, "window": 0, "before": 7, "after": 9, "end": 9}
		for _, p := range only(all, human.PictureTaken) {
			if shade := d.pics.pixel(p.Picture, 1, 1); shade != want[p.When] {
				t.Errorf("the picture %s has shade %d, want %d", p.When, shade, want[p.When])
			}
			delete(want, p.When)
		}
		if len(want) > 0 {
			t.Errorf("pictures are missing: %v", want)
		}
		if r.Counts.Pictures != 5 || r.Counts.Equal != 2 || r.Counts.Clicks != 1 || r.Counts.Events != uint64(len(all)) {
			t.Errorf("counts: %+v", r.Counts)
		}
		if stored, err := d.store.Recording(context.Background(), r.ID); err != nil || !stored.Complete || stored.Counts != r.Counts {
			t.Errorf("in the store: %+v, %v", stored, err)
		}
	})
}
