package plan_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// An agent that was stopped in the middle of a task says so: the task runs on, whatever was ordered meanwhile, and the
// note goes with its end.
func TestANoteOnATaskThatRuns(t *testing.T) {
	d := newFixture(t, nil)
	d.submit("s", three...)
	d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan})
	// Of several that begin it at once, with a note, one may begin.
	var going sync.WaitGroup
	var let atomic.Int32
	for range 8 {
		going.Go(func() {
			st, err := d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning, Note: "on it"}, 0)
			if err != nil {
				t.Error(err)
			}
			if st.Go {
				let.Add(1)
			}
		})
	}
	going.Wait()
	if let.Load() != 1 {
		t.Errorf("it was let go %d times", let.Load())
	}
	began := d.progress("s", "a", human.TaskRunning).Run.Tasks[0].Began
	if _, err := d.Order(t.Context(), ada, "s", human.Order{Kind: human.Pause}); err != nil {
		t.Fatal(err)
	}
	st := must[plan.Standing](t)(d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning, Note: "stopped"}, 0))
	if a := st.Run.Tasks[0]; st.Go || st.Why != "begun" || a.State != human.TaskRunning || a.Note != "stopped" || !a.Began.Equal(*began) || st.Run.State != human.RunPaused {
		t.Errorf("noted: %+v, %+v", st, st.Run)
	}
	if st = d.progress("s", "a", human.TaskDone); st.Run.Tasks[0].Note != "" || st.Run.Tasks[0].State != human.TaskDone {
		t.Errorf("ended: %+v", st.Run.Tasks[0])
	}
	st = must[plan.Standing](t)(d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning, Note: "too late"}, 0))
	if st.Go || st.Why != "begun" || st.Run.Tasks[0].State != human.TaskDone || st.Run.Tasks[0].Note != "" {
		t.Errorf("after its end: %+v", st)
	}
}
