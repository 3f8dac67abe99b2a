package window

import (
	"context"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/record"
)

// An Operator is what notifications, keys and the tray do for the person at this machine. Errors are of package human and
// meant for that person.
type Operator struct {
	Queue    *queue.Queue
	Recorder *record.Recorder   // nil: recording is switched off
	Runs     *procedure.Service // of which each is recorded
	By       human.Actor
	Options  func() human.RecordingOptions // of a recording that a key begins
}

// Answer approves or denies an approval. It does not approve a dangerous one, nor one with files, whatever was clicked: that takes seeing it.
func (o Operator) Answer(ctx context.Context, operationID, decision string) error {
	id := human.OperationID(operationID)
	op, err := o.Queue.Get(ctx, o.By, id)
	if err != nil {
		return err
	}
	if decision == string(human.Approved) && op.Risk.Dangerous() {
		return human.Errorf(human.Denied, "a request of %s risk cannot be approved from a notification; open it", op.Risk)
	}
	if decision == string(human.Approved) && len(op.Attachments) > 0 {
		return human.Errorf(human.Denied, "a request with files cannot be approved from a notification; open it")
	}
	_, err = o.Queue.Complete(ctx, o.By, id, human.Answer{Decision: human.Decision(decision)}, op.Digest)
	return err
}

// Pending counts what waits for a human.
func (o Operator) Pending() int { return o.Queue.Pending() }

// Watch calls changed with the number of what waits for a human, now and whenever it changed, until ctx ends.
func (o Operator) Watch(ctx context.Context, changed func(pending int)) {
	for pending := range o.Queue.FollowPending(ctx) {
		changed(pending)
	}
}

// Waiting are the most urgent of what waits for a human, at most as many as the tray names.
func (o Operator) Waiting() []human.Operation { return o.Queue.Waiting(trayRequests) }

// ToggleRecording pauses the recording that runs, resumes one that is paused, or begins one for the operation that the
// operator has claimed: the one of kind desktop that changed last, else any that did. Where a procedure is run, it pauses or continues
// that run, whose recording runs on.
func (o Operator) ToggleRecording(ctx context.Context) error {
	if o.Recorder == nil {
		return errNoRecorder
	}
	current, runs := o.Recorder.Current()
	var err error
	if found, err := o.run(ctx, current.ID, false); found {
		return err
	}
	switch {
	case runs && current.State == human.RecordingPaused:
		_, err = o.Recorder.Resume(ctx, o.By, current.ID)
	case runs:
		_, err = o.Recorder.Pause(ctx, o.By, current.ID)
	default:
		var op human.OperationID
		if op, err = o.claimed(ctx); err == nil {
			_, err = o.Recorder.Start(ctx, o.By, op, o.Options())
		}
	}
	return err
}

var errNoRecorder = human.Errorf(human.Unavailable, "recording is switched off; set recording.enabled to true and start Deskbell again")

// claimed is the operation that a recording is begun for when no one says which.
func (o Operator) claimed(ctx context.Context) (found human.OperationID, err error) {
	page, err := o.Queue.List(ctx, o.By, queue.Filter{Open: true, Order: queue.Recent, Limit: queue.MaxPage})
	if err != nil {
		return "", err
	}
	for _, op := range page.Operations {
		if op.ClaimedBy != o.By.Name {
			continue
		}
		if op.Kind == human.Desktop {
			return op.ID, nil
		}
		if found == "" {
			found = op.ID
		}
	}
	if found == "" {
		return "", human.Errorf(human.Conflict, "a recording belongs to an operation; claim one first")
	}
	return found, nil
}

// run pauses, continues or ends the run of a procedure that a recording is of.
func (o Operator) run(ctx context.Context, id human.RecordingID, end bool) (found bool, err error) {
	if o.Runs == nil || id == "" {
		return false, nil
	}
	return o.Runs.ByKey(ctx, o.By, id, end)
}

// StopRecording stops the recording that runs, and ends the run of a procedure that it is of; without one it does nothing.
func (o Operator) StopRecording(ctx context.Context) error {
	return o.current(func(id human.RecordingID) error {
		if found, err := o.run(ctx, id, true); found {
			return err
		}
		_, err := o.Recorder.Stop(ctx, o.By, id)
		return err
	})
}

// DiscardRecording deletes the recording that runs; without one it does nothing.
func (o Operator) DiscardRecording(ctx context.Context) error {
	return o.current(func(id human.RecordingID) error { return o.Recorder.Discard(ctx, o.By, id) })
}

func (o Operator) current(do func(human.RecordingID) error) error {
	if o.Recorder == nil {
		return errNoRecorder
	}
	if current, runs := o.Recorder.Current(); runs {
		return do(current.ID)
	}
	return nil
}

// WatchRecording reports what the tray shows of the recorder, at each change, until ctx ends.
func (o Operator) WatchRecording(ctx context.Context, changed func(Recording)) {
	if o.Recorder == nil {
		<-ctx.Done()
		return
	}
	o.Recorder.Watch(ctx, func(r human.Recording) {
		switch r.State {
		case human.RecordingRuns:
			changed(Recorded)
		case human.RecordingPaused:
			changed(RecordingPaused)
		default: // it was discarded, too
			changed(NotRecording)
		}
	})
}
