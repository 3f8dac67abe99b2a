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
	labels := a.Evidence
	if len(labels) == 0 {
		return reading{}, human.BadField("evidence", `is missing; it names what you want to see, as ["e1", "e2"], by the labels in findings`)
	}
	if len(labels) > maxLabels {
		return reading{}, human.BadField("evidence", "names %d; ask for at most %d at a time", len(labels), maxLabels)
	}
	for _, label := range labels {
		if !labelled.MatchString(label) {
			return reading{}, human.BadField("evidence", "%q is not a label; they are called e1, e2, ... in findings", human.OneLine(label, 40))
		}
	}
	r := reading{Status: statusOK, ID: id}
	var refused error
	for _, label := range labels {
		e, err := c.ringer.Evidence(ctx, id, label)
		if err != nil && human.KindOf(err) != human.NotFound {
			return reading{}, err
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
		case bool(a.Pictures):
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
		return reading{}, refused
	}
	if !a.Pictures {
		return r, nil
	}
	budget, err := a.budget()
	if err != nil {
		return reading{}, err
	}
	r = r.fit(budget)
	return r, c.pictures(ctx, id, &r, budget-r.cost())
}

// pictures adds the pictures of the evidence in a reading. They share so many tokens; one that has fewer than it
// takes is smaller, or left out.
func (c *call) pictures(ctx context.Context, id human.OperationID, r *reading, left int) error {
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
		data, cost, err := c.picture(ctx, id, *e, pictureWide)
		if err == nil && cost > share { // what a picture costs grows with its area
			wide := int(pictureWide * math.Sqrt(float64(share)/float64(cost)))
			if wide < leastWide {
				continue
			}
			data, cost, err = c.picture(ctx, id, *e, wide)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.opts.Log.Warn("a picture could not be read for its agent", "operation_id", id, "evidence", e.Label, "err", err)
			e.Picture = pictureGone
		case cost <= left:
			left -= cost
			r.images = append(r.images, data)
			e.Picture = fmt.Sprintf("image %d: %s", len(r.images), e.which)
		}
	}
	return nil
}

// picture is a picture of a piece of evidence and about how many tokens it has, by the rule that Anthropic gives
// for its models: the area in pixels by 750.
func (c *call) picture(ctx context.Context, id human.OperationID, e evidence, width int) ([]byte, int, error) {
	data, err := c.ringer.EvidencePicture(ctx, id, e.Label, e.which, width)
	if err != nil {
		return nil, 0, err
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	return data, size.Width*size.Height/750 + 1, err
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
