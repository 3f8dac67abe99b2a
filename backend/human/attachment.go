package human

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// AttachmentID names a file by its bytes: AttachmentPrefix and their SHA-256, in lower-case hex.
type AttachmentID string

// AttachmentPrefix begins the id of every attached file.
const AttachmentPrefix = "att_"

// AttachmentOf is the id of a file with these bytes.
func AttachmentOf(data []byte) AttachmentID {
	sum := sha256.Sum256(data)
	return AttachmentID(AttachmentPrefix + hex.EncodeToString(sum[:]))
}

// Valid says whether it is an id at all. One that is not must not come near a path.
func (id AttachmentID) Valid() bool {
	sum, is := strings.CutPrefix(string(id), AttachmentPrefix)
	return is && len(sum) == 64 && strings.Trim(sum, "0123456789abcdef") == ""
}

// AttachmentCheck says whether a file was looked through for secrets, and what came of it.
type AttachmentCheck string

// The checks. Only texts that operators attach are looked through.
const (
	CheckClean   AttachmentCheck = "clean"
	CheckMasked  AttachmentCheck = "masked"
	CheckNotMade AttachmentCheck = "not_checked"
)

// An Attachment is what is known of an attached file without reading it.
type Attachment struct {
	ID     AttachmentID    `json:"attachment_id"`
	Name   string          `json:"name" doc:"As it was sent, without its folder."`
	Media  string          `json:"media_type" doc:"By its bytes: image/png, image/jpeg, image/gif, image/webp, text/plain, application/pdf, or application/octet-stream."`
	Size   int64           `json:"size" doc:"Bytes."`
	Width  int             `json:"width,omitempty" doc:"Of an image, in pixels."`
	Height int             `json:"height,omitempty"`
	Check  AttachmentCheck `json:"check" enum:"clean,masked,not_checked" doc:"Whether it was looked through for secrets. Only texts that operators attach are."`
	Masked int             `json:"masked,omitempty" doc:"How many secrets were found and masked."`

	Removed *time.Time `json:"removed_at,omitempty" doc:"When retention removed its bytes."`
}

// MaxAttachments is how many files a request may have, and an answer. LargestAttachment bounds each, in bytes; its type may allow fewer.
const (
	MaxAttachments    = 10
	LargestAttachment = 10_000_000
)

// FileName is the attachment's name as that of a file in a folder: no other folder, no device, no place of its own in a page of
// Markdown, and nothing hidden, which programs read by themselves.
func (a Attachment) FileName() string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:<>"|?*`, r) {
			return '_'
		}
		return r
	}, a.Name)
	if strings.HasPrefix(name, ".") || !filepath.IsLocal(name) {
		return "file" + name
	}
	return name
}

// Picture says whether people may be shown it as an image.
func (a Attachment) Picture() bool { return strings.HasPrefix(a.Media, "image/") }

// Text says whether it is text, in UTF-8.
func (a Attachment) Text() bool { return strings.HasPrefix(a.Media, "text/") }

// AttachmentIDs are the ids of files, in order.
func AttachmentIDs(all []Attachment) []AttachmentID {
	ids := make([]AttachmentID, len(all))
	for i, a := range all {
		ids[i] = a.ID
	}
	return ids
}

// AttachedIDs are the ids of the files that an answer names, in itself and in its steps, each once, in order.
func (a Answer) AttachedIDs() []AttachmentID {
	var ids []AttachmentID
	add := func(all []string) {
		for _, id := range all {
			if id := AttachmentID(id); strings.HasPrefix(string(id), AttachmentPrefix) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	add(a.Attachments)
	for _, s := range a.Steps {
		add(s.Attachments)
	}
	return ids
}

// Attached returns what is known of a file that the operation names: in its request, its answer or an operator's draft.
func (o Operation) Attached(id AttachmentID) (Attachment, bool) {
	lists := [][]Attachment{o.Attachments}
	if o.Result != nil {
		lists = append(lists, o.Result.Files)
	}
	if o.Draft != nil {
		lists = append(lists, o.Draft.Files)
	}
	if o.Leaving != nil {
		lists = append(lists, o.Leaving.Files)
	}
	for _, d := range o.Drafts {
		lists = append(lists, d.Files)
	}
	for _, list := range lists {
		if i := slices.IndexFunc(list, func(a Attachment) bool { return a.ID == id }); i >= 0 {
			return list[i], true
		}
	}
	return Attachment{}, false
}
