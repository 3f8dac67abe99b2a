package api

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/library"
)

// A Recorder records what an operator does. Errors are of package human; record.Recorder is one.
type Recorder interface {
	// Ready says what each source can deliver now, without recording.
	Ready(ctx context.Context) []human.SourceState
	// Current returns the recording that runs, paused ones included.
	Current() (human.Recording, bool)
	Start(ctx context.Context, by human.Actor, op human.OperationID, o human.RecordingOptions) (human.Recording, error)
	Pause(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error)
	Resume(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error)
	Stop(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error)
	Discard(ctx context.Context, by human.Actor, id human.RecordingID) error
	Mark(ctx context.Context, by human.Actor, id human.RecordingID, note record.Note) (human.Recording, error)
	// Pick has the operator point at something in the recorded browser, and returns when the page waits for them.
	Pick(ctx context.Context, by human.Actor, id human.RecordingID, p human.PickRequest) error
	// ShowBrowser brings the recorded browser to the front; one that was closed is opened again.
	ShowBrowser(ctx context.Context, by human.Actor, id human.RecordingID) error
	// Watch calls changed with the recording that runs as it changes, and with record.Discarded as its state
	// when it was discarded, until ctx ends. It blocks; changed may, too.
	Watch(ctx context.Context, changed func(human.Recording))
}

// A Library gives recordings out to who may have them. To an agent what it may not read is NotFound.
type Library interface {
	Recordings(ctx context.Context, by human.Actor, op human.OperationID, limit int, cursor string) (record.RecordingPage, error)
	Recording(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error)
	Actions(ctx context.Context, by human.Actor, id human.RecordingID, language, after string) (library.Actions, error)
	Events(ctx context.Context, by human.Actor, id human.RecordingID, after uint64, limit int) (library.RecordedEvents, error)
	Edits(ctx context.Context, by human.Actor, id human.RecordingID) (human.Edits, error)
	SetEdits(ctx context.Context, by human.Actor, id human.RecordingID, e human.Edits) (human.Edits, error)
	Picture(ctx context.Context, by human.Actor, id human.RecordingID, picture string, look library.Look) (library.Picture, error)
	Export(ctx context.Context, by human.Actor, id human.RecordingID, format, language string) (library.Export, error)
	Exports(ctx context.Context, by human.Actor, id human.RecordingID) ([]human.ExportOffer, error)
	Cast(ctx context.Context, by human.Actor, id human.RecordingID) (library.Export, error)
	Delete(ctx context.Context, by human.Actor, id human.RecordingID) error
	Evidencer
}

// A Replay plays recordings back on this machine's desktop, one at a time.
type Replay interface {
	// Start begins and returns at once; Conflict while another is played.
	Start(ctx context.Context, by human.Actor, id human.RecordingID, r library.ReplayRequest) (library.ReplayState, error)
	State(ctx context.Context, by human.Actor, id human.RecordingID) (library.ReplayState, error)
	// Stop stops it and returns once nothing is played any more.
	Stop(ctx context.Context, by human.Actor, id human.RecordingID) (library.ReplayState, error)
}

// RecorderState is what the recorder can do here, and what it does.
type RecorderState struct {
	Sources []human.SourceState `json:"sources"`
	Current *human.Recording    `json:"current" doc:"The recording that runs or is paused; null without one."`
}

// Exports are the formats that a recording can be exported in.
type Exports struct {
	Formats []human.ExportOffer `json:"formats"`
}

// RecordRequest begins a recording.
type RecordRequest struct {
	OperationID human.OperationID      `json:"operation_id" doc:"An operation that you have claimed."`
	Options     human.RecordingOptions `json:"options,omitzero"`
}

// MarkRequest is a note on this moment of the recording, or a tick of the operation's checklist.
type MarkRequest struct {
	Text string `json:"text,omitempty" doc:"A note."`
	Step *int   `json:"step,omitempty" minimum:"0" doc:"Index into details.action_sequence."`
	Done bool   `json:"done,omitempty" doc:"With step: it is done; absent or false: it is not, after all."`
}

// RecordingChange tells operators on a WebSocket how the recording that runs stands. It is the state of
// the moment, with no seq, sent at every change of state and else a few times a second at most.
type RecordingChange struct {
	Type      string          `json:"type" enum:"recording"`
	Recording human.Recording `json:"recording"`
}

// RecordingGone tells operators on a WebSocket that a recording was discarded or deleted. It may come twice.
type RecordingGone struct {
	Type        string            `json:"type" enum:"recording_gone"`
	RecordingID human.RecordingID `json:"recording_id"`
}

type (
	recordingInput struct {
		ID human.RecordingID `path:"id" doc:"The recording's id."`
	}
	// recordingCall is a call about a recording that has a body.
	recordingCall[T any] struct {
		ID human.RecordingID `path:"id" doc:"The recording's id."`
		payload[T]
	}
	recordingsInput struct {
		OperationID string `query:"operation_id" doc:"Only those of this operation."`
		Limit       int    `query:"limit" minimum:"1" maximum:"500" doc:"Absent: 50."`
		Cursor      string `query:"cursor" doc:"next of the page before."`
	}
	actionsInput struct {
		ID       human.RecordingID `path:"id" doc:"The recording's id."`
		Language string            `query:"language" enum:"en,zh-CN" doc:"Of the words; absent: en."`
		After    string            `query:"after" doc:"Id of an action: only those that come after it."`
	}
	eventsInput struct {
		ID    human.RecordingID `path:"id" doc:"The recording's id."`
		After uint64            `query:"after" maximum:"9007199254740991" doc:"The seq of the last event you have."`
		Limit int               `query:"limit" minimum:"1" maximum:"10000" doc:"Absent: 1000."`
	}
	pictureInput struct {
		ID      human.RecordingID `path:"id" doc:"The recording's id."`
		Picture string            `path:"picture" doc:"The picture's id."`
		Width   int               `query:"width" minimum:"1" maximum:"16384" doc:"Pixels, never more than it has; the height follows. Absent: as taken."`
		Format  string            `query:"format" enum:"png,jpeg" doc:"Absent: png."`
		Masked  bool              `query:"masked" doc:"With the masks of its edits, which an agent gets in any case."`
		Have    string            `header:"If-None-Match" doc:"The ETag of the bytes you have."`
	}
	exportInput struct {
		ID       human.RecordingID `path:"id" doc:"The recording's id."`
		Format   string            `query:"format" maxLength:"40" doc:"Of those that listExports has; absent: html, one page."`
		Language string            `query:"language" enum:"en,zh-CN" doc:"Of the words; absent: en."`
	}
)

// A pictureAnswer is a picture, or that the caller has it.
type pictureAnswer struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Vary         string `header:"Vary"`
	Body         []byte
}

// A stream is an answer that is written while it is made.
type stream struct{ Body func(huma.Context) }

type recordingAnswer = answer[*human.Recording]

func getRecordings(path, id, summary string, who role) route {
	return route{http.MethodGet, "/api/recordings" + path, id, summary, who, 0}
}

func postRecordings(path, id, summary string) route {
	return route{http.MethodPost, "/api/recordings" + path, id, summary, operators, 0}
}

func (s *Server) recorder(c catalogue) {
	add(c, route{http.MethodGet, "/api/recorder", "getRecorder", "What can be recorded here, and what is being recorded", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*RecorderState], error) {
			state := &RecorderState{Sources: append([]human.SourceState{}, s.deps.Recorder.Ready(ctx)...)}
			if r, runs := s.deps.Recorder.Current(); runs {
				state.Current = recordingOf(r)
			}
			return ok(state, nil)
		})

	begin := postRecordings("", "startRecording", "Record the work on an operation that you have claimed")
	begin.also = http.StatusCreated
	add(c, begin, func(ctx context.Context, x *exchange, in *payload[RecordRequest]) (*recordingAnswer, error) {
		if in.JSON.OperationID == "" {
			return nil, human.BadField("operation_id", "is missing")
		}
		r, err := s.deps.Recorder.Start(ctx, x.by, in.JSON.OperationID, in.JSON.Options)
		if err != nil {
			return nil, err
		}
		return &recordingAnswer{http.StatusCreated, recordingOf(r)}, nil
	})
	type control func(Recorder, context.Context, human.Actor, human.RecordingID) (human.Recording, error)
	for _, call := range []struct {
		name, id, summary string
		do                control
	}{
		{"pause", "pauseRecording", "Pause the recording", Recorder.Pause},
		{"resume", "resumeRecording", "Resume the recording", Recorder.Resume},
		{"stop", "stopRecording", "End a recording and keep it", Recorder.Stop},
	} {
		add(c, postRecordings("/{id}/"+call.name, call.id, call.summary),
			func(ctx context.Context, x *exchange, in *recordingCall[none]) (*recordingAnswer, error) {
				r, err := call.do(s.deps.Recorder, ctx, x.by, in.ID)
				return ok(recordingOf(r), err)
			})
	}
	add(c, postRecordings("/{id}/discard", "discardRecording", "End a recording and keep nothing of it"),
		func(ctx context.Context, x *exchange, in *recordingCall[none]) (*done, error) {
			return &done{}, s.deps.Recorder.Discard(ctx, x.by, in.ID)
		})
	add(c, postRecordings("/{id}/mark", "markRecording", "Put a note into a recording that runs, or tick a step of the checklist"),
		func(ctx context.Context, x *exchange, in *recordingCall[MarkRequest]) (*recordingAnswer, error) {
			r, err := s.deps.Recorder.Mark(ctx, x.by, in.ID, record.Note{Text: in.JSON.Text, Step: in.JSON.Step, Done: in.JSON.Done})
			return ok(recordingOf(r), err)
		})
	add(c, postRecordings("/{id}/pick", "pickField", "Have the operator point at something in the recorded browser, for a field"),
		func(ctx context.Context, x *exchange, in *recordingCall[human.PickRequest]) (*done, error) {
			return &done{}, s.deps.Recorder.Pick(ctx, x.by, in.ID, in.JSON)
		})
	add(c, postRecordings("/{id}/show", "showBrowser", "Bring the recorded browser to the front; one that was closed is opened again"),
		func(ctx context.Context, x *exchange, in *recordingCall[none]) (*done, error) {
			return &done{}, s.deps.Recorder.ShowBrowser(ctx, x.by, in.ID)
		})
}

func (s *Server) recordings(c catalogue) {
	add(c, getRecordings("", "listRecordings", "The recordings, newest first", operators),
		func(ctx context.Context, x *exchange, in *recordingsInput) (*answer[*record.RecordingPage], error) {
			page, err := s.deps.Library.Recordings(ctx, x.by, human.OperationID(in.OperationID), in.Limit, in.Cursor)
			return ok(&page, err)
		})
	add(c, getRecordings("/{id}", "getRecording", "Read a recording; an agent, what an operator gave it with an answer", signedIn),
		func(ctx context.Context, x *exchange, in *recordingInput) (*recordingAnswer, error) {
			r, err := s.deps.Library.Recording(ctx, x.by, in.ID)
			return ok(recordingOf(r), err)
		})
	add(c, route{http.MethodDelete, "/api/recordings/{id}", "deleteRecording", "Delete a recording that has ended, for good", operators, 0},
		func(ctx context.Context, x *exchange, in *recordingInput) (*done, error) {
			return &done{}, s.deps.Library.Delete(ctx, x.by, in.ID)
		})
	add(c, getRecordings("/{id}/actions", "getActions", "What was done in a recording; an agent gets what its operator gave it", signedIn),
		func(ctx context.Context, x *exchange, in *actionsInput) (*answer[*library.Actions], error) {
			found, err := s.deps.Library.Actions(ctx, x.by, in.ID, in.Language, in.After)
			found.Actions = append([]human.Action{}, found.Actions...)
			for i := range found.Actions {
				found.Actions[i].Seqs = append([]uint64{}, found.Actions[i].Seqs...)
			}
			found.Suggestions = append([]actions.Suggestion{}, found.Suggestions...)
			return ok(&found, err)
		})
	add(c, getRecordings("/{id}/events", "getRecordedEvents", "The raw events of a recording, in order", operators),
		func(ctx context.Context, x *exchange, in *eventsInput) (*answer[*library.RecordedEvents], error) {
			found, err := s.deps.Library.Events(ctx, x.by, in.ID, in.After, in.Limit)
			found.Events = append([]human.RecordedEvent{}, found.Events...)
			return ok(&found, err)
		})
	add(c, getRecordings("/{id}/edits", "getEdits", "What is removed and masked before a recording leaves", operators),
		func(ctx context.Context, x *exchange, in *recordingInput) (*answer[*human.Edits], error) {
			e, err := s.deps.Library.Edits(ctx, x.by, in.ID)
			return ok(editsOf(e), err)
		})
	add(c, route{http.MethodPut, "/api/recordings/{id}/edits", "putEdits", "Remove and mask, all anew; version is the one that was read", operators, 0},
		func(ctx context.Context, x *exchange, in *recordingCall[human.Edits]) (*answer[*human.Edits], error) {
			e, err := s.deps.Library.SetEdits(ctx, x.by, in.ID, in.JSON)
			return ok(editsOf(e), err)
		})
	add(c, getRecordings("/{id}/pictures/{picture}", "getPicture", "A picture of a recording; an agent, one that its operator gave it", signedIn), s.picture)
	add(c, getRecordings("/{id}/exports", "listExports", "The formats that a recording can be exported in, each with what it cannot say of this recording", signedIn),
		func(ctx context.Context, x *exchange, in *recordingInput) (*answer[*Exports], error) {
			offers, err := s.deps.Library.Exports(ctx, x.by, in.ID)
			return ok(&Exports{offers}, err)
		})
	add(c, getRecordings("/{id}/export", "exportRecording", "A recording as it leaves, with its edits, as a file", signedIn), s.export)
	add(c, getRecordings("/{id}/cast", "getCast", "What a terminal printed, as asciicast v3, with the recording's edits", signedIn),
		func(ctx context.Context, x *exchange, in *recordingInput) (*stream, error) {
			e, err := s.deps.Library.Cast(ctx, x.by, in.ID)
			return s.streamed(ctx, e, err)
		})
}

func (s *Server) replays(c catalogue) {
	add(c, postRecordings("/{id}/replay", "startReplay", "Play the actions of a recording on the desktop of this machine"),
		func(ctx context.Context, x *exchange, in *recordingCall[library.ReplayRequest]) (*replayAnswer, error) {
			state, err := s.deps.Replay.Start(ctx, x.by, in.ID, in.JSON)
			return &replayAnswer{http.StatusAccepted, &state}, err
		})
	add(c, getRecordings("/{id}/replay", "getReplay", "How far playing back has come", operators),
		func(ctx context.Context, x *exchange, in *recordingInput) (*replayAnswer, error) {
			state, err := s.deps.Replay.State(ctx, x.by, in.ID)
			return ok(&state, err)
		})
	add(c, route{http.MethodDelete, "/api/recordings/{id}/replay", "stopReplay", "Stop playing back at once", operators, 0},
		func(ctx context.Context, x *exchange, in *recordingInput) (*replayAnswer, error) {
			state, err := s.deps.Replay.Stop(ctx, x.by, in.ID)
			return ok(&state, err)
		})
	describeFiles(c)
}

type replayAnswer = answer[*library.ReplayState]

// picture answers with one picture. Its bytes are encoded only for who does not have them.
func (s *Server) picture(ctx context.Context, x *exchange, in *pictureInput) (*pictureAnswer, error) {
	p, err := s.deps.Library.Picture(ctx, x.by, in.ID, in.Picture, library.Look{Width: in.Width, Format: in.Format, Masked: in.Masked})
	return pictureOf(p, err, in.Have)
}

// pictureOf answers with a picture, where the caller does not have it.
func pictureOf(p library.Picture, err error, has string) (*pictureAnswer, error) {
	if err != nil {
		return nil, err
	}
	// Kept by the caller alone, who asks again each time: the masks may have changed, or the recording be gone.
	out := &pictureAnswer{Status: http.StatusOK, ContentType: p.Media, ETag: `"` + p.Tag + `"`, CacheControl: "private, no-cache", Vary: "Authorization"}
	for have := range strings.SplitSeq(has, ",") {
		if strings.TrimPrefix(strings.TrimSpace(have), "W/") == out.ETag {
			out.Status = http.StatusNotModified
			return out, nil
		}
	}
	var buf bytes.Buffer
	if err := p.Encode(&buf); err != nil {
		return nil, err
	}
	out.Body = buf.Bytes()
	return out, nil
}

// export answers with a file, written while it is made: a long recording has more pictures than fit
// into memory.
func (s *Server) export(ctx context.Context, x *exchange, in *exportInput) (*stream, error) {
	e, err := s.deps.Library.Export(ctx, x.by, in.ID, in.Format, in.Language)
	return s.streamed(ctx, e, err)
}

// streamed answers with an export.
func (s *Server) streamed(ctx context.Context, e library.Export, err error) (*stream, error) {
	if err != nil {
		return nil, err
	}
	return &stream{func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		file := &fileWriter{ResponseWriter: w, export: e}
		switch err := e.Write(file); {
		case err == nil:
			file.begin()
		case !file.begun:
			s.refuse(w, r, err)
		default:
			s.note(ctx, r.Method, r.URL.Path, err)
			panic(http.ErrAbortHandler) // the caller must not take what it got for the whole
		}
	}}, nil
}

// A fileWriter sends a file, with its headers once there is something of it. As long as it continues, its
// connection is not given up.
type fileWriter struct {
	http.ResponseWriter
	export library.Export
	begun  bool
}

func (f *fileWriter) begin() {
	if f.begun {
		return
	}
	f.begun = true
	h := f.Header()
	h.Set("Content-Type", f.export.Media)
	h.Set("Content-Disposition", `attachment; filename="`+f.export.Name+`"`)
	f.WriteHeader(http.StatusOK)
}

func (f *fileWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.begin()
	_ = http.NewResponseController(f.ResponseWriter).SetWriteDeadline(time.Now().Add(answerTime)) // a recorder has no connection
	return f.ResponseWriter.Write(p)
}

// describeFiles says what the answers are that are no JSON.
func describeFiles(c catalogue) {
	bytes := func(media ...string) map[string]*huma.MediaType {
		content := map[string]*huma.MediaType{}
		for _, m := range media {
			content[m] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
		return content
	}
	o := c.api.OpenAPI()
	for _, path := range []string{"/api/recordings/{id}/pictures/{picture}", evidencePath + "/{label}/picture"} {
		picture := operationAt(o, http.MethodGet, path)
		picture.Responses["200"].Content = bytes("image/png", "image/jpeg")
		picture.Responses["304"] = &huma.Response{Description: "You have it."}
	}
	operationAt(o, http.MethodGet, "/api/recordings/{id}/export").Responses["200"].Content = bytes("text/html", "application/zip", "application/json")
	operationAt(o, http.MethodGet, "/api/recordings/{id}/cast").Responses["200"].Content = bytes("application/x-asciicast")
	play := operationAt(o, http.MethodPost, "/api/recordings/{id}/replay")
	play.Responses["202"] = play.Responses["200"]
	delete(play.Responses, "200")
}

func recordingOf(r human.Recording) *human.Recording {
	r = library.WithLists(r)
	return &r
}

// editsOf are edits whose lists are never null.
func editsOf(e human.Edits) *human.Edits {
	e.Cuts = append([]string{}, e.Cuts...)
	e.MaskedTexts = append([]string{}, e.MaskedTexts...)
	e.Masks = append([]human.Mask{}, e.Masks...)
	return &e
}
