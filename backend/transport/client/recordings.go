package client

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/transport/client/small"
)

// A RecorderState is what the recorder can do where the server runs, and what it does.
type RecorderState struct {
	Sources []human.SourceState `json:"sources"`
	Current *human.Recording    `json:"current"` // nil where nothing is being recorded
}

// Recorder tells what the recorder can do and what it does.
func (c *Client) Recorder(ctx context.Context) (RecorderState, error) {
	var state RecorderState
	_, err := c.call(ctx, http.MethodGet, "/api/recorder", nil, &state)
	return state, err
}

// StartRecording records the work on an operation that the operator has claimed.
func (c *Client) StartRecording(ctx context.Context, op human.OperationID, o human.RecordingOptions) (human.Recording, error) {
	var r human.Recording
	_, err := c.call(ctx, http.MethodPost, "/api/recordings", struct {
		target
		Options human.RecordingOptions `json:"options"`
	}{target{op}, o}, &r)
	return r, err
}

// PauseRecording records nothing for now.
func (c *Client) PauseRecording(ctx context.Context, id human.RecordingID) (human.Recording, error) {
	return c.changeRecording(ctx, id, "pause", nil)
}

// ResumeRecording continues recording.
func (c *Client) ResumeRecording(ctx context.Context, id human.RecordingID) (human.Recording, error) {
	return c.changeRecording(ctx, id, "resume", nil)
}

// StopRecording ends a recording and keeps it.
func (c *Client) StopRecording(ctx context.Context, id human.RecordingID) (human.Recording, error) {
	return c.changeRecording(ctx, id, "stop", nil)
}

// DiscardRecording ends a recording and keeps nothing of it.
func (c *Client) DiscardRecording(ctx context.Context, id human.RecordingID) error {
	_, err := c.call(ctx, http.MethodPost, recordingPath(id)+"/discard", nil, nil)
	return err
}

// PickField has the operator point at something in the recorded browser.
func (c *Client) PickField(ctx context.Context, id human.RecordingID, p human.PickRequest) error {
	_, err := c.call(ctx, http.MethodPost, recordingPath(id)+"/pick", p, nil)
	return err
}

// ShowBrowser brings the recorded browser to the front; one that was closed is opened again.
func (c *Client) ShowBrowser(ctx context.Context, id human.RecordingID) error {
	_, err := c.call(ctx, http.MethodPost, recordingPath(id)+"/show", nil, nil)
	return err
}

func (c *Client) changeRecording(ctx context.Context, id human.RecordingID, name string, body any) (human.Recording, error) {
	var r human.Recording
	_, err := c.call(ctx, http.MethodPost, recordingPath(id)+"/"+name, body, &r)
	return r, err
}

// Recordings lists recordings, newest first: of one operation, or all (""). limit 0 is the usual number;
// cursor is Next of the page before.
func (c *Client) Recordings(ctx context.Context, op human.OperationID, limit int, cursor string) (record.RecordingPage, error) {
	query := url.Values{}
	put(query, "operation_id", string(op))
	put(query, "cursor", cursor)
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	var page record.RecordingPage
	_, err := c.call(ctx, http.MethodGet, "/api/recordings?"+query.Encode(), nil, &page)
	return page, err
}

// Recording returns a recording as it stands.
func (c *Client) Recording(ctx context.Context, id human.RecordingID) (human.Recording, error) {
	var r human.Recording
	_, err := c.call(ctx, http.MethodGet, recordingPath(id), nil, &r)
	return r, err
}

// Actions returns what was done in a recording, in words of a language (en or zh-CN; "" is en), after an
// action, or all ("").
func (c *Client) Actions(ctx context.Context, id human.RecordingID, language, after string) (library.Actions, error) {
	query := url.Values{}
	put(query, "language", language)
	put(query, "after", after)
	var found library.Actions
	_, err := c.call(ctx, http.MethodGet, recordingPath(id)+"/actions?"+query.Encode(), nil, &found)
	return found, err
}

// Events returns a part of the raw events of a recording, those after a seq. For operators.
func (c *Client) Events(ctx context.Context, id human.RecordingID, after uint64) (library.RecordedEvents, error) {
	var page library.RecordedEvents
	_, err := c.call(ctx, http.MethodGet, "/api/recordings/"+url.PathEscape(string(id))+"/events?after="+strconv.FormatUint(after, 10), nil, &page)
	return page, err
}

// Edits returns what is removed and masked.
func (c *Client) Edits(ctx context.Context, id human.RecordingID) (human.Edits, error) {
	var e human.Edits
	_, err := c.call(ctx, http.MethodGet, recordingPath(id)+"/edits", nil, &e)
	return e, err
}

// SetEdits replaces the edits; Conflict where their version is not the one that was read.
func (c *Client) SetEdits(ctx context.Context, id human.RecordingID, e human.Edits) (human.Edits, error) {
	_, err := c.call(ctx, http.MethodPut, recordingPath(id)+"/edits", e, &e)
	return e, err
}

// Picture returns a picture's bytes as the look says.
func (c *Client) Picture(ctx context.Context, id human.RecordingID, picture string, look library.Look) ([]byte, error) {
	query := url.Values{}
	put(query, "format", look.Format)
	if look.Width != 0 {
		query.Set("width", strconv.Itoa(look.Width))
	}
	if look.Masked {
		query.Set("masked", "true")
	}
	return c.bytes(ctx, recordingPath(id)+"/pictures/"+url.PathEscape(picture)+"?"+query.Encode())
}

// bytes asks for something that is no JSON, whole.
func (c *Client) bytes(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	answer, err := c.file(ctx, path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes))
	if err != nil {
		return nil, away(ctx, origin(answer), err)
	}
	return data, nil
}

// Evidence returns a piece of what the findings of an answer rest on, by its label, in words of a language (en or
// zh-CN; "" is en).
func (c *Client) Evidence(ctx context.Context, op human.OperationID, label, language string) (library.Evidence, error) {
	query := url.Values{}
	put(query, "language", language)
	var e library.Evidence
	_, err := c.call(ctx, http.MethodGet, evidencePath(op, label)+"?"+query.Encode(), nil, &e)
	return e, err
}

// EvidencePicture returns a picture of a piece of evidence, with its masks, as the look says: before, after or
// picture, "" for the one that tells most.
func (c *Client) EvidencePicture(ctx context.Context, op human.OperationID, label, which string, look library.Look) ([]byte, error) {
	query := url.Values{}
	put(query, "which", which)
	put(query, "format", look.Format)
	if look.Width != 0 {
		query.Set("width", strconv.Itoa(look.Width))
	}
	return c.bytes(ctx, evidencePath(op, label)+"/picture?"+query.Encode())
}

func evidencePath(op human.OperationID, label string) string {
	return operationPath(op) + "/evidence/" + url.PathEscape(label)
}

// An Exported is a file as it leaves Deskbell. Read it to its end, then close it.
type Exported struct {
	Name string // of a file, without a folder
	io.ReadCloser
}

// Exports are the formats that a recording can be exported in, with what each cannot say of it.
func (c *Client) Exports(ctx context.Context, id human.RecordingID) ([]human.ExportOffer, error) {
	var all struct{ Formats []human.ExportOffer }
	_, err := c.call(ctx, http.MethodGet, recordingPath(id)+"/exports", nil, &all)
	return all.Formats, err
}

// Export begins to read a recording in one of the formats of Exports, with its edits, in the words of a
// language. It takes as long as ctx allows; a read that ends with an error leaves less than the whole.
func (c *Client) Export(ctx context.Context, id human.RecordingID, format, language string) (Exported, error) {
	query := url.Values{}
	put(query, "format", format)
	put(query, "language", language)
	return c.exported(ctx, recordingPath(id)+"/export?"+query.Encode())
}

func (c *Client) exported(ctx context.Context, path string) (Exported, error) {
	answer, err := c.file(ctx, path)
	if err != nil {
		return Exported{}, err
	}
	_, about, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	if err != nil {
		_ = answer.Body.Close() // nothing is read of it
		return Exported{}, human.Wrap(human.Internal, err, "%s does not answer like a Deskbell of this version", origin(answer))
	}
	return Exported{about["filename"], answer.Body}, nil
}

// file asks for something that is no JSON.
func (c *Client) file(ctx context.Context, path string) (*http.Response, error) {
	answer, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil || answer.StatusCode < 300 {
		return answer, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes))
	if err != nil {
		return nil, away(ctx, origin(answer), err)
	}
	return nil, small.Problem(answer.StatusCode, data)
}

// DeleteRecording deletes a recording that has ended, for good.
func (c *Client) DeleteRecording(ctx context.Context, id human.RecordingID) error {
	_, err := c.call(ctx, http.MethodDelete, recordingPath(id), nil, nil)
	return err
}

func recordingPath(id human.RecordingID) string {
	return "/api/recordings/" + url.PathEscape(string(id))
}

// put adds a parameter, where there is something in it.
func put(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}
