package mcp

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // to know how large a picture is
	"math"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
)

// An evidence is one piece of what a finding rests on, as an agent reads it.
type evidence struct {
	Label   string        `json:"label"`
	Kind    human.RefKind `json:"kind"`
	Text    string        `json:"text,omitempty"`
	Picked  string        `json:"picked,omitempty"`
	When    string        `json:"when,omitempty"`
	Where   string        `json:"where,omitempty"`
	Picture string        `json:"picture,omitempty"`
	Missing string        `json:"missing,omitempty"`

	which string // the picture there is, "" for none
}

var labelled = regexp.MustCompile(`^e[0-9]{1,6}$`)

func (e evidence) said() string { return e.Text + e.Picked }

// Limits of one get_evidence.
const (
	maxLabels   = 10
	pictureWide = 1024 // pixels
	fileWide    = 1568 // pixels, of an attached image: models are shown no wider ones
	leastWide   = 256  // a picture that would have to be narrower tells nothing
	wherePart   = 300  // characters of an address or a title
)

// What is said of a picture. While there is no saying which of them it will be, the longest stands for it.
const (
	pictureAsk  = "there is one: ask with pictures=true"
	pictureLeft = "left out: ask with a larger max_tokens"
	pictureGone = "it could not be read"
)

// evidence answers with what findings rest on.
func (c *call) evidence(ctx context.Context, a arguments, id human.OperationID) (reading, error) {
	if len(a.Evidence) == 0 {
		return reading{}, human.BadField("evidence", `is missing; it names what you want to see, as ["e1", "e2"], by the labels in findings, or a file by its attachment_id`)
	}
	if len(a.Evidence) > maxLabels {
		return reading{}, human.BadField("evidence", "names %d; ask for at most %d at a time", len(a.Evidence), maxLabels)
	}
	var labels []string
	var files []human.AttachmentID
	for _, label := range a.Evidence {
		switch {
		case labelled.MatchString(label):
			labels = append(labels, label)
		case human.AttachmentID(label).Valid():
			files = append(files, human.AttachmentID(label))
		default:
			return reading{}, human.BadField("evidence", "%q is not a label; they are called e1, e2, ... in findings, and files by their attachment_id, att_...", human.OneLine(label, 80))
		}
	}
	budget, err := a.budget()
	if err != nil {
		return reading{}, err
	}
	r := reading{Status: statusOK, ID: id}
	if len(files) > 0 {
		op, given, err := c.givenFiles(ctx, id, files)
		if err != nil {
			return reading{}, err
		}
		if len(a.Evidence) == 1 && given[0].Text() {
			return c.fileText(ctx, a, op, given[0], budget)
		}
		r.Files = c.filesOf(op, given)
	}
	if err := c.pieces(ctx, &r, labels, bool(a.Pictures)); err != nil {
		return reading{}, err
	}
	r = r.fit(budget)
	left := budget - r.cost()
	if a.Pictures {
		if left, err = c.pictures(ctx, id, &r, left); err != nil {
			return reading{}, err
		}
	}
	return r, c.files(ctx, &r, left)
}

// givenFiles are files that came with the answer to an operation of the agent's.
func (c *call) givenFiles(ctx context.Context, id human.OperationID, files []human.AttachmentID) (human.Operation, []human.Attachment, error) {
	op, err := c.ringer.Get(ctx, id)
	if err != nil {
		return op, nil, err
	}
	all := make([]human.Attachment, len(files))
	for i, file := range files {
		if all[i], err = givenFile(op, file); err != nil {
			return op, nil, err
		}
	}
	return op, all, nil
}

// fileText is a text that came with an answer, from an offset.
func (c *call) fileText(ctx context.Context, a arguments, op human.Operation, f human.Attachment, budget int) (reading, error) {
	offset, err := a.from()
	if err != nil {
		return reading{}, err
	}
	data, err := c.ringer.Attachment(ctx, f.ID, 0)
	if err != nil {
		return reading{}, err
	}
	return excerpt(op, f.Name, string(data), offset, budget, fmt.Sprintf(`action=get_evidence, operation_id=%s, evidence=["%s"]`, op.ID, f.ID))
}

// pieces puts what the labels stand for into a reading; an error where that is nothing.
func (c *call) pieces(ctx context.Context, r *reading, labels []string, pictures bool) error {
	var refused error
	for _, label := range labels {
		e, err := c.ringer.Evidence(ctx, r.ID, label)
		if err != nil && human.KindOf(err) != human.NotFound {
			return err
		}
		told := evidenceOf(e)
		if err != nil {
			told = evidence{Label: label, Missing: human.SafeText(err)}
			if refused == nil {
				refused = err
			}
		}
		switch {
		case told.which == "":
		case pictures:
			told.Picture = pictureLeft
		default:
			told.Picture = pictureAsk
		}
		r.Evidence = append(r.Evidence, told)
	}
	missing := 0
	for _, e := range r.Evidence {
		if e.Kind == "" {
			missing++
		}
	}
	if missing == len(labels) {
		return refused
	}
	return nil
}

// pictures adds the pictures of the evidence in a reading. They share so many tokens; one that has fewer than it
// takes is smaller, or left out. It returns how many are left.
func (c *call) pictures(ctx context.Context, id human.OperationID, r *reading, left int) (int, error) {
	more := 0
	for _, e := range r.Evidence {
		if e.which != "" {
			more++
		}
	}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		if e.which == "" {
			continue
		}
		share := left / more
		more--
		data, cost, err := scaled(pictureWide, share, func(width int) ([]byte, error) {
			return c.ringer.EvidencePicture(ctx, id, e.Label, e.which, width)
		})
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			c.opts.Log.Warn("a picture could not be read for its agent", "operation_id", id, "evidence", e.Label, "err", err)
			e.Picture = pictureGone
		case data != nil:
			left -= cost
			r.images = append(r.images, data)
			e.Picture = fmt.Sprintf("image %d: %s", len(r.images), e.which)
		}
	}
	return left, nil
}

// scaled is a picture of so many pixels in width, or of fewer so that it has no more tokens than its share; nil where it would tell
// nothing any more. cost is how many tokens it has.
func scaled(wide, share int, read func(width int) ([]byte, error)) (data []byte, cost int, err error) {
	for range 2 {
		if data, err = read(wide); err != nil {
			return nil, 0, err
		}
		size, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return nil, 0, err
		}
		// By the rule that Anthropic gives for its models: the area in pixels by 750.
		if cost = size.Width*size.Height/750 + 1; cost <= share {
			return data, cost, nil
		}
		if wide = int(float64(size.Width) * math.Sqrt(float64(max(share-2, 0))/float64(cost))); wide < leastWide {
			break
		}
	}
	return nil, 0, nil
}

// evidenceOf is a piece of evidence as an agent reads it.
func evidenceOf(e library.Evidence) evidence {
	told := evidence{Label: e.Label, Kind: e.Kind, Text: e.Text, Picked: e.Picked, Missing: e.Missing}
	told.Where, _ = clip(e.Where, wherePart)
	var when []string
	if e.Elapsed != nil {
		when = append(when, minutes(*e.Elapsed)+" of "+string(e.Recording))
	}
	if e.At != nil {
		when = append(when, e.At.UTC().Format(time.RFC3339))
	}
	told.When = strings.Join(when, ", ")
	for _, p := range e.Pictures { // the last is the one after
		told.which = p.Which
	}
	return told
}

// minutes is a time of a recording, in minutes and seconds.
func minutes(elapsed int64) string {
	seconds := elapsed / int64(time.Second)
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

func showEvidence(r *reading, n int) string {
	all := len(r.Evidence)
	some, whole := take(r.Evidence, n, evidence.said, func(e evidence, text string) evidence {
		first, _ := clip(text, utf8.RuneCountInString(e.Text))
		return evidence{Label: e.Label, Kind: e.Kind, Text: first, Picked: text[len(first):], which: e.which, Picture: e.Picture}
	})
	r.Evidence = some
	if whole == all {
		return ""
	}
	return fmt.Sprintf("evidence %d of %d: ask for the others separately; a long value, message or answer is complete in action=check_result with field=fields, messages, human_input", whole, all)
}
