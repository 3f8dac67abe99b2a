package library

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
)

// A Look says how a picture is wanted.
type Look struct {
	Width  int    // pixels, the height follows; 0 or more than it has is its own size
	Format string // png (also "") or jpeg
	Masked bool   // with the edits' masks; an agent gets them in any case
}

// A Picture is a picture that may be read by who asked for it. Nothing is decoded before Encode.
type Picture struct {
	Tag    string // changes whenever the bytes would; fit for an ETag
	Media  string
	Encode func(w io.Writer) error // writes it; NotFound where it is not there
}

// Picture returns a picture of a recording. An agent gets those of its actions that are neither cut nor kept
// from it, with their masks.
func (l *Library) Picture(ctx context.Context, by human.Actor, id human.RecordingID, picture string, look Look) (Picture, error) {
	look, err := look.checked()
	if err != nil {
		return Picture{}, err
	}
	r, _, err := l.open(ctx, by, id)
	if l.mayAsk(by, err) {
		return Picture{Tag: rand.Text(), Media: "image/" + look.Format, Encode: func(w io.Writer) error {
			_, err := l.deps.Asked(ctx, Wanted{Recording: id, Part: "picture", Picture: picture, Width: look.Width, Format: look.Format}, w)
			return err
		}}, nil
	}
	if err != nil {
		return Picture{}, err
	}
	if !pictureID(picture) {
		return Picture{}, noPicture(id, picture)
	}
	if r.PicturesRemoved != nil {
		return Picture{}, human.Errorf(human.NotFound, "the pictures of recording %s were removed on %s by retention", id, dayOf(r.PicturesRemoved))
	}
	look.Masked = look.Masked || by.Role == human.Agent
	var edits human.Edits
	if look.Masked {
		if edits, err = l.deps.Store.Edits(ctx, id); err != nil {
			return Picture{}, err
		}
	}
	if by.Role == human.Agent {
		_, all, err := l.read(ctx, id, "en")
		if err != nil {
			return Picture{}, err
		}
		if !slices.Contains(actions.Pictures(actions.ForAgent(all, edits, "en")), picture) {
			return Picture{}, noPicture(id, picture)
		}
	}
	return l.picture(ctx, id, picture, look, edits), nil
}

// picture is one that may be read, with the masks of edits.
func (l *Library) picture(ctx context.Context, id human.RecordingID, picture string, look Look, edits human.Edits) Picture {
	masks := masksOf(edits, picture)
	return Picture{
		Tag: tag(picture, look, masks), Media: "image/" + look.Format,
		Encode: func(w io.Writer) error { return l.encode(ctx, w, id, picture, look, masks) },
	}
}

// checked is a look that can be had, with its defaults.
func (look Look) checked() (Look, error) {
	switch look.Format {
	case "":
		look.Format = "png"
	case "png", "jpeg":
	default:
		return look, human.BadField("format", "%q is not one of png, jpeg", look.Format)
	}
	if look.Width < 0 {
		return look, human.BadField("width", "is %d; it must be 0 or more pixels", look.Width)
	}
	return look, nil
}

func noPicture(id human.RecordingID, picture string) error {
	return human.Errorf(human.NotFound, "recording %s has no picture %s", id, human.OneLine(picture, 80))
}

// pictureID says whether a text may name a picture: SHA-256 in hex.
func pictureID(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*sha256.Size
}

func tag(picture string, look Look, masks []human.Mask) string {
	text, _ := json.Marshal([]any{picture, look.Width, look.Format, masks}) // numbers and texts: cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func masksOf(e human.Edits, picture string) (masks []human.Mask) {
	for _, m := range e.Masks {
		if m.Picture == "" || m.Picture == picture {
			masks = append(masks, m)
		}
	}
	return masks
}

// encode writes a picture with masks.
func (l *Library) encode(ctx context.Context, w io.Writer, id human.RecordingID, picture string, look Look, masks []human.Mask) error {
	f, err := l.frame(ctx, id, picture, masks)
	if err != nil {
		return err
	}
	return l.deps.Encode(w, f, look.Format, look.Width)
}

// frame reads a picture and masks its masks.
func (l *Library) frame(ctx context.Context, id human.RecordingID, picture string, masks []human.Mask) (*record.Frame, error) {
	f, err := l.deps.Pictures.Read(ctx, id, picture)
	if human.KindOf(err) == human.NotFound {
		return nil, noPicture(id, picture)
	}
	if err != nil || len(masks) == 0 {
		return f, err
	}
	masked := *f // who reads pictures may keep the frame
	masked.Pix = slices.Clone(f.Pix)
	for _, m := range masks {
		blacken(&masked, m)
	}
	return &masked, nil
}

// blacken paints a region black, as far as it lies within the frame.
func blacken(f *record.Frame, m human.Mask) {
	left, right := max(m.X, 0), min(m.X+m.W, f.W)
	if left >= right {
		return
	}
	for y := max(m.Y, 0); y < min(m.Y+m.H, f.H); y++ {
		clear(f.Pix[(y*f.W+left)*4 : (y*f.W+right)*4])
	}
}
