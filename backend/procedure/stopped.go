package procedure

import (
	"cmp"
	"maps"
	"slices"

	"deskbell/backend/human"
)

// A StoppedRun is a run that waits for its operator to decide.
type StoppedRun struct {
	Operation human.OperationID `json:"operation_id"`
	Procedure string            `json:"procedure"`
	By        string            `json:"-"` // the operator
	Number    int               `json:"number,omitempty" doc:"Of the step, from 1; absent: an effect is missing."`
	Title     string            `json:"title" doc:"Of the step or the effect, with the values of this run."`
	Stops     int               `json:"stops" doc:"How often the run has stopped so far: it tells a stop from the next one."`
	Stop      human.RunStop     `json:"stop"`
}

// note keeps which runs wait for their operators, and has those who follow that see it.
func (s *Service) note(r human.RunOfProcedure, p human.Procedure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, was := s.stopped[r.Operation]
	is := r.State == human.Halted && r.Stop != nil
	switch {
	case !is && !was || is && was && before.Stops == r.Stops:
		return
	case !is:
		delete(s.stopped, r.Operation)
	default:
		one := StoppedRun{Operation: r.Operation, Procedure: r.Procedure, By: r.By, Stops: r.Stops, Stop: *r.Stop}
		one.Title = r.Stop.Expected.Text
		if at := slices.IndexFunc(r.Steps, func(x human.RunStep) bool { return x.Step == r.Stop.Step }); at >= 0 {
			one.Number, one.Title = at+1, r.Stop.Step
			if at < len(p.Steps) {
				one.Title = cmp.Or(p.Steps[at].Title, r.Stop.Step)
			}
		}
		s.stopped[r.Operation] = one
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Stopped are the runs of an operator that wait for them; changed is closed when those are others.
func (s *Service) Stopped(by human.Actor) (list []StoppedRun, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list = []StoppedRun{}
	for _, id := range slices.Sorted(maps.Keys(s.stopped)) {
		if one := s.stopped[id]; by.Role == human.Operator && one.By == by.Name {
			list = append(list, one)
		}
	}
	return list, s.changed
}
