package record

import (
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
)

const (
	typingPause = afterTyping             // ends a run, of which a picture is taken then
	runLength   = int64(time.Second)      // a longer run ends at the next white space,
	runMost     = int64(10 * time.Second) // and this one wherever it is
	maxBefore   = 256                     // characters of earlier runs in which a secret may have begun
)

// A run is a stretch of typing. What it says is held in memory until it is known that no secret field had the
// focus: from a look-up at its first key and one at its end, and from every report of the focus that comes
// while it lasts or within 250 ms, because such reports come late.
type run struct {
	in          Placed
	first, last uint64 // seqs of its keys
	from, to    int64  // when these were pressed
	heard       int64  // when the last was heard of
	text        []rune
	before      string // what was typed before it, in the same go

	element *human.Element  // had the focus at the first key, and is not secret
	shown   *human.Element  // the same to be shown: masked
	value   string          // what it held there and then,
	valued  bool            // if that was read
	after   reread          // what it held at the end
	texts   []human.Element // what the window showed then, where it has no such field
	entered int64           // when Enter ended it; 0: it did not
	outcome reread          // what the field, or the window, showed in the end, where that is another text
	showed  *human.Element  // where the window showed it; nil: in the field
	begun   bool            // the first look-up was answered,
	closed  bool            // no key comes any more,
	ended   bool            // the last look-up was answered
	asked   bool            // the last look-up is under way, or answered
	goesOn  bool            // it was split: its field is not finished
	suspect string          // why it may be secret
	sure    bool            // and it is, whatever stands in the field
}

// A reread is what a field held at the end of a run.
type reread struct {
	text, masked string
	done         bool // it was read
	again        bool // it was read a second time, or is being
}

// press takes a key of the run.
func (r *run) press(seq uint64, at, now int64) { r.last, r.to, r.heard = seq, at, now }

// isLong says whether a run to which a text was added is to be cut.
func (r *run) isLong(text string) bool {
	space := text != "" && strings.TrimFunc(text, unicode.IsSpace) == ""
	age := r.to - r.from
	return age > runLength && space || age > runMost
}

// tail is the end of what was typed, in which a secret may have begun.
func (r *run) tail() string {
	all := []rune(r.before + string(r.text))
	return string(all[max(0, len(all)-maxBefore):])
}

// hide makes a run secret unless its text stands in a field that is not.
func (r *run) hide(why string) {
	if r.suspect == "" {
		r.suspect = why
	}
}

// mustHide makes a run secret.
func (r *run) mustHide(why string) {
	if !r.sure {
		r.suspect, r.sure = why, true
	}
}

// proven says whether the text of the run has appeared, all of it, in the field that had the focus at the
// first key, which is not a secret one. Then no part of it went to another.
func (r *run) proven() bool {
	text := string(r.text)
	return !r.sure && text != "" && r.valued && r.after.done && strings.Count(r.after.text, text) > strings.Count(r.value, text)
}

// due is when something about a run is to be done, if nothing happens before.
func (r *run) due(now int64) int64 {
	switch {
	case !r.closed:
		return r.heard + typingPause
	case r.ended && now < max(r.heard, r.entered)+evidence:
		return max(r.heard, r.entered) + evidence
	}
	return never // a look-up will be answered
}

// learn takes what a look-up says of secrecy, but for the element's own word.
func (r *run) learn(a answer) {
	if a.guarded {
		r.mustHide("secure_input")
	}
	if a.unknown {
		r.hide("unknown_field")
	}
}

// readAfter takes what the field held at the run's end.
func (r *run) readAfter(a answer) {
	if a.denied {
		r.mustHide("password")
	}
	if a.read {
		r.after.text, r.after.masked, r.after.done = a.value, a.masked, true
	}
}

// conceal masks secrets in what was typed: those it has, one that began in what was typed before, and one
// whose other part stands in the field.
func (r *run) conceal(mask *mask) (shown, hidden string) {
	text := string(r.text)
	if masked, found := mask.text(text); found {
		return masked, "secret"
	}
	if r.before != "" {
		if masked, found := mask.text(r.before + text); found && !strings.HasSuffix(masked, text) {
			return "", "secret"
		}
	}
	if after := r.after; after.done && after.masked != after.text && strings.Contains(after.text, text) && !strings.Contains(after.masked, text) {
		return "", "secret"
	}
	return text, ""
}

// forget wipes what the run says.
func (r *run) forget() {
	clear(r.text)
	r.text, r.value, r.after.text, r.outcome.text, r.texts = nil, "", "", "", nil
}
