package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	finished "deskbell/backend/queue/outbox" // the package has an outbox of its own
	"deskbell/backend/transport/client"
)

// An attachedFile is a file that an agent sends with its request: one on its machine, its bytes in base64, or one that it stored
// with POST /api/attachments.
type attachedFile struct {
	Path string             `json:"path"`
	Name string             `json:"name"`
	Data string             `json:"data"`
	Mime string             `json:"mime"`
	ID   human.AttachmentID `json:"attachment_id"`
}

// attachedFiles also read a text in the place of a file, which is its path.
type attachedFiles []attachedFile

const fileForms = `{"path": "/home/me/shot.png"}, or {"name": "shot.png", "data": the bytes in base64}`

func (l *attachedFiles) UnmarshalJSON(b []byte) error {
	var all []json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		return human.BadField("attachments", "must be a list of files, each %s", fileForms)
	}
	for i, one := range all {
		var f attachedFile
		if json.Unmarshal(one, &f.Path) != nil {
			d := json.NewDecoder(bytes.NewReader(one))
			d.DisallowUnknownFields()
			if err := d.Decode(&f); err != nil {
				return human.BadField(fileField(i), "is %s; a file is %s (%v)", human.OneLine(string(one), 80), fileForms, err)
			}
		}
		*l = append(*l, f)
	}
	return nil
}

func fileField(i int) string { return fmt.Sprintf("attachments[%d]", i) }

// attach stores the files of a request. What is stored of files that are not all good is removed after a day, as no request names it.
func (c *call) attach(ctx context.Context, files attachedFiles) (ids []human.AttachmentID, err error) {
	if len(files) > human.MaxAttachments {
		return nil, human.BadField("attachments", "there are %d files; the limit is %d", len(files), human.MaxAttachments)
	}
	for i, f := range files {
		id, err := c.attachOne(ctx, f)
		if at := slices.Index(ids, id); err == nil && at >= 0 {
			err = human.Errorf(human.Invalid, "has the same bytes as %s; send a file once", fileField(at))
		}
		if human.KindOf(err) == human.Invalid {
			return nil, human.BadField(fileField(i), "%s", human.SafeText(err))
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (c *call) attachOne(ctx context.Context, f attachedFile) (human.AttachmentID, error) {
	if f.ID != "" {
		return f.ID, nil
	}
	name, data, err := c.open(f)
	if err != nil {
		return "", err
	}
	if f.Name != "" {
		name = f.Name
	}
	var a human.Attachment
	err = client.Retry(ctx, grace, nil, func() error {
		a, err = c.ringer.Attach(ctx, name, data)
		return err
	})
	claimed, _, _ := strings.Cut(f.Mime, ";")
	if claimed = strings.TrimSpace(strings.ToLower(claimed)); err == nil && slices.Contains(byBytes, claimed) && claimed != a.Media {
		err = human.Errorf(human.Invalid, "%s is no %s: by its bytes it is %s. Send the file itself, or leave out mime", a.Name, claimed, a.Media)
	}
	return a.ID, err
}

// byBytes are the types that nothing but a file's bytes can make it.
var byBytes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}

// open reads a file as this process may, which only where it is the agent's own may read files by their paths.
func (c *call) open(f attachedFile) (name string, data []byte, err error) {
	switch {
	case f.Path != "" && f.Data != "":
		return "", nil, human.Errorf(human.Invalid, "has both path and data; send one of them")
	case f.Path != "" && !c.opts.LocalFiles:
		return "", nil, human.Errorf(human.Invalid, "has a path, and Deskbell reads no files of yours over HTTP: send name and data, the bytes in base64, "+
			"or send the bytes to POST /api/attachments with your key and name the attachment_id that it returns")
	case f.Path != "":
		path := f.Path
		if !filepath.IsAbs(path) {
			if c.opts.Folder == "" {
				return "", nil, human.Errorf(human.Invalid, "has the path %s, which must be absolute", path)
			}
			path = filepath.Join(c.opts.Folder, path)
		}
		return client.ReadAttachment(path)
	case f.Data == "":
		return "", nil, human.Errorf(human.Invalid, "has neither a path nor data, or is an empty file; a file is %s", fileForms)
	case strings.TrimSpace(f.Name) == "":
		return "", nil, human.Errorf(human.Invalid, "has no name; the human reads it")
	}
	text := f.Data
	if _, rest, is := strings.Cut(text, ";base64,"); is {
		text = rest
	}
	data, err = base64.StdEncoding.DecodeString(text)
	if err != nil {
		err = human.Wrap(human.Invalid, err, "has data that is not base64 (%v); encode the file's bytes in standard base64, with its padding", err)
	}
	return f.Name, data, err
}

// A file is one that came with an answer, as its agent reads it.
type file struct {
	ID      human.AttachmentID `json:"attachment_id"`
	Name    string             `json:"name"`
	Media   string             `json:"media_type"`
	Size    int64              `json:"size"`
	Content string             `json:"content"` // where in the result it is, or how to read it
}

const fileLeft = "left out: ask get_evidence for this attachment_id alone, with max_tokens large enough"

// filesOf are files that came with an answer. Until their content is there, the words that say that it is not stand for it: they are
// the longest.
func (c *call) filesOf(op human.Operation, all []human.Attachment) (out []file) {
	for _, a := range all {
		how := fileLeft
		if !a.Picture() && !a.Text() {
			how += "; or run: deskbell attachments save " + string(op.ID)
			if c.opts.Knowledge {
				how += "; or read the resource " + fileURI(op.ID, a.ID)
			}
		}
		out = append(out, file{a.ID, a.Name, a.Media, a.Size, how})
	}
	return out
}

// fileURI is the resource of a file that came with an answer.
func fileURI(op human.OperationID, id human.AttachmentID) string {
	return knowledge + "/" + finished.ID(op) + "/" + string(id)
}

// givenFile is a file that came with the answer to an operation of the agent's. What the agent sent itself is not given out: it may
// have been read by a path that the agent's other tools must not read.
func givenFile(op human.Operation, id human.AttachmentID) (human.Attachment, error) {
	if op.Result != nil {
		if i := slices.IndexFunc(op.Result.Files, func(a human.Attachment) bool { return a.ID == id }); i >= 0 {
			return op.Result.Files[i], nil
		}
	}
	if _, own := op.Attached(id); own {
		return human.Attachment{}, human.Errorf(human.NotFound, "%s came with your request to %s and not with the answer; only files of the answer can be read", id, op.ID)
	}
	return human.Attachment{}, human.Errorf(human.NotFound, "the answer to %s has no file %s; check_result lists those it has as files", op.ID, id)
}

// files adds the content of a reading's files, within so many tokens. Each has its share; what has no room in it is left out, and an
// image is made smaller first.
func (c *call) files(ctx context.Context, r *reading, left int) error {
	for i := range r.Files {
		f := &r.Files[i]
		cost, err := c.content(ctx, r, f, left/(len(r.Files)-i))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.opts.Log.Warn("a file could not be read for its agent", "operation_id", r.ID, "attachment_id", f.ID, "err", err)
			f.Content = pictureGone
		}
		left -= cost
	}
	return nil
}

// content adds a file to a reading where it fits, and returns how many tokens it then has.
func (c *call) content(ctx context.Context, r *reading, f *file, share int) (cost int, err error) {
	if strings.HasPrefix(f.Media, "image/") {
		data, cost, err := scaled(fileWide, share, func(width int) ([]byte, error) { return c.ringer.Attachment(ctx, f.ID, width) })
		if err != nil || data == nil {
			return 0, err
		}
		r.images = append(r.images, data)
		f.Content = fmt.Sprintf("image %d", len(r.images))
		return cost, nil
	}
	if f.Size/3 > int64(share) { // a token is no more than three bytes
		return 0, nil
	}
	data, err := c.ringer.Attachment(ctx, f.ID, 0)
	if err != nil {
		return 0, err
	}
	resource := resourceOf(fileURI(r.ID, f.ID), f.Media, data)
	text, err := plainJSON(resource)
	if cost = human.Tokens(text); err != nil || cost > share {
		return 0, err
	}
	r.resources = append(r.resources, resource)
	f.Content = fmt.Sprintf("resource %d", len(r.resources))
	return cost, nil
}

// resourceOf is a file as MCP has it.
func resourceOf(uri, media string, data []byte) *mcp.ResourceContents {
	if strings.HasPrefix(media, "text/") {
		return &mcp.ResourceContents{URI: uri, MIMEType: media, Text: string(data)}
	}
	return &mcp.ResourceContents{URI: uri, MIMEType: media, Blob: data}
}
