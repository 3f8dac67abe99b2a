package library

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/replay"
)

// A ReplayRequest says what to play.
type ReplayRequest struct {
	Actions []string `json:"actions,omitempty" doc:"Ids; absent: all that are not cut."`
	Speed   float64  `json:"speed,omitempty" doc:"2 is twice as fast, at most 10; absent: 1."`
}

// A ReplayState says how far playing back has come.
type ReplayState struct {
	RecordingID human.RecordingID `json:"recording_id"`
	State       string            `json:"state" enum:"idle,playing,done,stopped,failed" doc:"idle: it was not played since Deskbell started, or another was played since."`
	ActionID    string            `json:"action_id,omitempty" doc:"The action under way, or the last one."`
	Done        int               `json:"done" doc:"Actions that are over."`
	Skipped     int               `json:"skipped,omitempty" doc:"Of these, left out: what was not recorded, and what needs nothing to be done."`
	Total       int               `json:"total"`
	Detail      string            `json:"detail,omitempty" doc:"Why it failed."`
}

// The states of a replay.
const (
	ReplayIdle    = "idle"
	ReplayPlaying = "playing"
	ReplayDone    = "done"
	ReplayStopped = "stopped"
	ReplayFailed  = "failed"
)

// A Play plays actions on this machine's desktop at a speed. It blocks, reports progress of each action before
// and after, and returns nil after the last, the context's error soon after ctx ends, or why it did not continue.
type Play func(ctx context.Context, list []human.Action, speed float64, progress func(replay.Played)) error

// Through is a Play through a player, which is made anew for each replay. wait blocks for a time or until
// ctx ends, and returns ctx's error then. A player that is an io.Closer is closed.
func Through(player func(context.Context) (replay.Player, error), wait func(context.Context, time.Duration) error) Play {
	return func(ctx context.Context, list []human.Action, speed float64, progress func(replay.Played)) error {
		p, err := player(ctx)
		if err != nil {
			return err
		}
		_, err = replay.Run(ctx, p, list, replay.Options{Wait: wait, Speed: speed, Progress: progress})
		if c, ok := p.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
		return err
	}
}

// Replays play recordings back, one at a time, for operators. Its methods are safe for concurrent use.
type Replays struct {
	library *Library
	play    Play

	mu     sync.Mutex
	state  ReplayState
	stop   context.CancelFunc // of what is played
	ended  chan struct{}      // closed once nothing is played any more
	closed bool
}

// NewReplays makes replays of a library's recordings. Close ends what it plays.
func NewReplays(l *Library, play Play) *Replays {
	ended := make(chan struct{})
	close(ended)
	return &Replays{library: l, play: play, stop: func() {}, ended: ended}
}

// Start begins to play actions of a recording and returns at once. Conflict while something is played, or
// while this recording is being made.
func (p *Replays) Start(ctx context.Context, by human.Actor, id human.RecordingID, r ReplayRequest) (ReplayState, error) {
	recording, _, err := p.library.openAll(ctx, by, id)
	if err != nil {
		return ReplayState{}, err
	}
	if recording.Running() {
		return ReplayState{}, human.Errorf(human.Conflict, "recording %s is still being made; stop it first", id)
	}
	if !recording.Options.RecordsDesktop() {
		return ReplayState{}, human.Errorf(human.Conflict, "recording %s was made in a browser; export it as a user flow or a Playwright test, and play that", id)
	}
	if r.Speed == 0 {
		r.Speed = 1
	}
	if !(r.Speed >= 0.1 && r.Speed <= 10) {
		return ReplayState{}, human.BadField("speed", "is %g; it runs from 0.1 to 10", r.Speed)
	}
	list, err := p.library.chosen(ctx, id, r.Actions)
	if err != nil {
		return ReplayState{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return ReplayState{}, human.Errorf(human.Unavailable, "Deskbell is shutting down")
	case p.state.State == ReplayPlaying:
		return ReplayState{}, human.Errorf(human.Conflict, "recording %s is being played; stop that first", p.state.RecordingID)
	}
	p.state = ReplayState{RecordingID: id, State: ReplayPlaying, Total: len(list)}
	playing, stop := context.WithCancel(context.WithoutCancel(ctx)) // it continues when the request has been answered
	p.stop, p.ended = stop, make(chan struct{})
	go func() { // Close waits for it
		defer stop()
		p.end(p.play(playing, list, r.Speed, p.progress))
	}()
	return p.state, nil
}

func (p *Replays) progress(now replay.Played) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.ActionID = now.ActionID
	switch now.State {
	case "skipped":
		p.state.Skipped++
		p.state.Done++
	case "done":
		p.state.Done++
	}
}

func (p *Replays) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.state.State = ReplayDone
	case errors.Is(err, context.Canceled):
		p.state.State = ReplayStopped
	default:
		p.state.State, p.state.Detail = ReplayFailed, human.SafeText(err)
	}
	close(p.ended)
}

// chosen are the actions of a recording with these ids, in their order; without ids all that are not cut.
func (l *Library) chosen(ctx context.Context, id human.RecordingID, ids []string) ([]human.Action, error) {
	_, all, err := l.read(ctx, id, "en")
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		edits, err := l.deps.Store.Edits(ctx, id)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(all, func(a human.Action) bool { return slices.Contains(edits.Cuts, a.ID) }), nil
	}
	missing := slices.Clone(ids)
	list := slices.DeleteFunc(all, func(a human.Action) bool {
		missing = slices.DeleteFunc(missing, func(id string) bool { return id == a.ID })
		return !slices.Contains(ids, a.ID)
	})
	if len(missing) > 0 {
		return nil, human.BadField("actions", "there is no action %q in this recording", human.OneLine(missing[0], 80))
	}
	return list, nil
}

// State says how far playing a recording has come.
func (p *Replays) State(ctx context.Context, by human.Actor, id human.RecordingID) (ReplayState, error) {
	if _, _, err := p.library.openAll(ctx, by, id); err != nil {
		return ReplayState{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.RecordingID != id {
		return ReplayState{RecordingID: id, State: ReplayIdle}, nil
	}
	return p.state, nil
}

// Stop ends the playing of a recording, and returns once nothing of it is played any more. One that is not
// played is left as it is.
func (p *Replays) Stop(ctx context.Context, by human.Actor, id human.RecordingID) (ReplayState, error) {
	if by.Role == human.Agent {
		_, _, err := none(id)
		return ReplayState{}, err
	}
	p.mu.Lock()
	stop, ended, plays := p.stop, p.ended, p.state.RecordingID == id
	p.mu.Unlock()
	if plays { // also where the recording was deleted meanwhile
		stop()
		select {
		case <-ended:
		case <-ctx.Done():
			return ReplayState{}, human.Wrap(human.Unavailable, ctx.Err(), "the replay of %s is being stopped", id)
		}
	}
	return p.State(ctx, by, id)
}

// Close ends what is played, and waits for it. Nothing can be played afterwards.
func (p *Replays) Close() {
	p.mu.Lock()
	p.closed = true
	stop, ended := p.stop, p.ended
	p.mu.Unlock()
	stop()
	<-ended
}
