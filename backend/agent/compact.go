package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"deskbell/backend/human"
)

// ErrTooLong is in the error of a Model where a conversation is longer than it takes: a shorter one may work.
var ErrTooLong = errors.New("the conversation is longer than the model takes")

const (
	freshReplies = 3     // of the model, the latest, with what came of them: cut only where nothing else helps
	briefly      = 200   // characters that are left of what a tool returned, and of an argument
	mostHeard    = 4_000 // characters of what a person said at once, where the turn with it is left out
	mostLines    = 60    // calls that are listed, where the turns with them are left out
	mostTries    = 4     // how often a conversation is made shorter for one answer
)

// leftOut stands where a part of a text was.
const leftOut = "\n[... what stood here was left out to make room; look again where you need it ...]\n"

// A Cut is what a conversation loses so that a model can take it. Numbers are indexes of its turns as they stand then. What
// the user asked for and what people said stays, and so does how the plan stands; a call and its result stay or go together.
type Cut struct {
	Results int `json:"results,omitempty"` // of the turns before this one: most of what tools returned
	Calls   int `json:"calls,omitempty"`   // of the turns before this one: most of long arguments
	Turns   int `json:"turns,omitempty"`   // all turns before this one; the first one says what was in them
	Longest int `json:"longest,omitempty"` // characters that are left of what any tool returned, and of any argument; 0: all
	Fits    int `json:"fits,omitempty"`    // tokens that the model takes, estimated from a request that was too long; 0: not known

	Note *Note `json:"note,omitempty"` // of Turns: all that was noted so far; absent: the model noted nothing
}

// A conversation is what a model is given of what was said so far. Its fields follow from what add, hear, replied and cut
// were called with, and from nothing else.
type conversation struct {
	turns  []Turn
	rough  int      // tokens of turns, estimated
	beside *int     // tokens that the model counted beside those
	fits   int      // as in Cut
	heard  []string // what people said
	lines  []string // what was done in turns that were left out
	left   int      // replies that were left out
	note   *Note    // of turns that were left out
}

// add takes a turn.
func (c *conversation) add(t Turn) {
	c.turns = append(c.turns, t)
	c.rough += t.tokens()
}

// hear keeps what a person said for the time when the turn with it is left out.
func (c *conversation) hear(format string, args ...any) {
	c.heard = append(c.heard, shortened(strings.TrimSpace(fmt.Sprintf(format, args...)), mostHeard))
}

// replied takes how many tokens the model counted of the turns so far; 0 is not known.
func (c *conversation) replied(tokens int) {
	if tokens > 0 {
		beside := tokens - c.rough
		c.beside = &beside
	}
}

// tokens is how long the conversation is for a model. beside is the length of its other input; it counts only until the model
// has counted once.
func (c *conversation) tokens(beside int) int {
	if c.beside != nil {
		beside = *c.beside
	}
	return c.rough + beside
}

// cut makes it shorter. standing is how things stand, for the time when nothing in the turns says so.
func (c *conversation) cut(cut Cut, task, standing string) {
	turns := make([]Turn, len(c.turns))
	for i, t := range c.turns {
		results, calls := cut.Longest, cut.Longest
		if i < cut.Results {
			results = briefly
		}
		if i < cut.Calls {
			calls = briefly
		}
		turns[i] = t.shortened(results, calls)
	}
	if cut.Note != nil {
		c.note = cut.Note
	}
	if k := cut.Turns; k > 1 && k < len(turns) {
		c.leave(c.turns[1:k])
		turns = append([]Turn{{Role: User, Text: joined(task, c.recall(standing))}}, turns[k:]...)
	}
	c.turns, c.rough = turns, 0
	for _, t := range turns {
		c.rough += t.tokens()
	}
	if cut.Fits > 0 {
		c.fits = cut.Fits
	}
}

// leave notes in lines what was done in turns that are left out.
func (c *conversation) leave(turns []Turn) {
	failed := map[string]bool{}
	for _, t := range turns {
		for _, r := range t.Results {
			failed[r.CallID] = r.Failed
		}
	}
	lines := slices.Clone(c.lines)
	for _, t := range turns {
		if t.Role != Assistant {
			continue
		}
		c.left++
		if t.Text != "" {
			lines = append(lines, "You said: "+human.OneLine(t.Text, briefly))
		}
		for _, use := range t.Calls {
			outcome := OutcomeDone
			if failed[use.ID] {
				outcome = "did not work"
			}
			lines = append(lines, human.OneLine(callLine(use.Name, use.Args), briefly)+" - "+outcome)
		}
	}
	c.lines = lines[max(0, len(lines)-mostLines):]
}

// recall is what a model gets in place of turns that were left out.
func (c *conversation) recall(standing string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n[The conversation became too long. To make room, %d of your replies and what came of them were left out here. What you should know of them:]", c.left)
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n- %s", title, strings.Join(lines, "\n- "))
		}
	}
	list("What people said, in order:", c.heard)
	if c.note != nil {
		fmt.Fprintf(&b, "\nYour notes:\n%s", c.note)
	}
	list("What you said and did, the latest at the end; what tools returned is gone, look again where you need it:", c.lines)
	return joined(b.String(), standing)
}

// begins are the replies before the fresh ones, at which a conversation may begin; fresh is the first of those.
func (c *conversation) begins() (begins []int, fresh int) {
	replies := 0
	for i := len(c.turns) - 1; i > 1; i-- {
		if c.turns[i].Role != Assistant {
			continue
		}
		if replies++; replies == freshReplies {
			fresh = i
		}
		if replies >= freshReplies {
			begins = append(begins, i)
		}
	}
	slices.Reverse(begins)
	return begins, fresh
}

// notable is the turn before which all turns are to be left out, once they are noted, so that no more than half of most tokens are
// left; 0 where leaving out turns does not help.
func (c *conversation) notable(most, beside int, task, standing string) int {
	begins, _ := c.begins()
	if len(begins) == 0 {
		return 0
	}
	enough := func(k int) bool {
		shorter := *c
		shorter.cut(Cut{Turns: k}, task, standing)
		return shorter.tokens(beside) <= most/2
	}
	return begins[sort.Search(len(begins)-1, func(i int) bool { return enough(begins[i]) })]
}

// cutTo finds what to leave out so that no more than two thirds of most tokens are left: of what tools returned first, and of
// the oldest first. false where nothing would become shorter.
func (c *conversation) cutTo(most, beside int, task, standing string) (cut Cut, any bool) {
	after := func(cut Cut) int {
		shorter := *c
		shorter.cut(cut, task, standing)
		return shorter.tokens(beside)
	}
	enough := func(cut Cut) bool { return after(cut) <= most*2/3 }
	begins, fresh := c.begins()
	// least sets a number of the cut to the least of those that make enough of it, or to the last.
	least := func(n int, set func(i int)) bool {
		if n == 0 {
			return false
		}
		i := sort.Search(n-1, func(i int) bool { set(i); return enough(cut) })
		set(i)
		return enough(cut)
	}
	switch {
	case least(fresh, func(i int) { cut.Results = i + 1 }):
	case least(fresh, func(i int) { cut.Calls = i + 1 }):
	case least(len(begins), func(i int) { cut.Turns = begins[i] }):
	default:
		for _, cut.Longest = range []int{8000, 2000, 500} {
			if after(cut) <= most {
				break
			}
		}
	}
	return cut, after(cut) < c.tokens(beside)
}

// tokens is a rough estimate, rather too high: a tokenizer is each model's own.
func (t Turn) tokens() int {
	n := 4 + tokensOf(t.Text)
	for _, use := range t.Calls {
		n += 8 + tokensOf(use.Name) + tokensOf(string(use.Args))
	}
	for _, r := range t.Results {
		n += 8 + tokensOf(r.Text)
	}
	return n
}

// tokensOf takes three letters of ASCII for a token, and each other one.
func tokensOf(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + other
}

// tokens is what a model is told beside the turns.
func (p Prompt) tokens() int {
	n := tokensOf(p.System)
	for _, t := range p.Tools {
		n += 8 + tokensOf(t.Name) + tokensOf(t.Description) + tokensOf(string(t.Schema))
	}
	return n
}

// shortened leaves so many characters of what a tool returned, and of an argument; 0 leaves all. The turn itself stays as
// it is.
func (t Turn) shortened(results, calls int) Turn {
	if results > 0 && len(t.Results) > 0 {
		t.Results = slices.Clone(t.Results)
		for i, r := range t.Results {
			t.Results[i].Text = shortOutputs(r.Text, results)
		}
	}
	if calls > 0 && len(t.Calls) > 0 {
		t.Calls = slices.Clone(t.Calls)
		for i, use := range t.Calls {
			t.Calls[i].Args = shortArgs(use.Args, calls)
		}
	}
	return t
}

// shortOutputs shortens what tools returned, in the marks that data made; nothing in there ends them early. What stands
// outside of them was said by people, or by the engine.
func shortOutputs(text string, most int) string {
	const begin, end = "<tool_output tool=", "\n</tool_output>"
	var b strings.Builder
	for {
		at := strings.Index(text, begin)
		if at < 0 {
			break
		}
		line := strings.IndexByte(text[at:], '\n')
		if line < 0 {
			break
		}
		at += line + 1
		size := strings.Index(text[at-1:], end) // of nothing, the line's end is the one before the mark
		if size < 0 {
			break
		}
		size = max(size-1, 0)
		b.WriteString(text[:at])
		b.WriteString(shortened(text[at:at+size], most))
		text = text[at+size:]
	}
	b.WriteString(text)
	return b.String()
}

// shortened leaves so many characters of a text, of its beginning and its end.
func shortened(text string, most int) string {
	if len(text) <= most+len(leftOut) {
		return text
	}
	r := []rune(text)
	if len(r) <= most+len(leftOut) {
		return text
	}
	head := most * 3 / 4
	return string(r[:head]) + leftOut + string(r[len(r)-(most-head):])
}

// shortArgs shortens each text in the arguments of a call. What is no JSON stays as it is.
func shortArgs(args json.RawMessage, most int) json.RawMessage {
	if len(args) <= most {
		return args
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(shortTexts(v, most)) != nil {
		return args
	}
	return bytes.TrimSpace(b.Bytes())
}

func shortTexts(v any, most int) any {
	switch v := v.(type) {
	case string:
		return shortened(v, most)
	case []any:
		for i := range v {
			v[i] = shortTexts(v[i], most)
		}
	case map[string]any:
		for k := range v {
			v[k] = shortTexts(v[k], most)
		}
	}
	return v
}

// fitted asks a model with a conversation that it can take. shorten is called with each cut that is to be made; prompt
// gives what the model is asked then.
func (w *work) fitted(ctx context.Context, c *conversation, prompt func() Prompt, task, standing string, shorten func(Cut) error) (Reply, error) {
	beside := prompt().tokens()
	shorter := func(most int) (any bool, err error) {
		if k := c.notable(most, beside, task, standing); k > 0 {
			note, err := w.noted(ctx, c, k, task)
			if err != nil {
				return false, err
			}
			if note != nil {
				if err := shorten(Cut{Turns: k, Note: note}); err != nil || c.tokens(beside) <= most {
					return true, err
				}
				any = true
			}
		}
		cut, more := c.cutTo(most, beside, task, standing)
		if !more {
			return any, nil
		}
		return true, shorten(cut)
	}
	most := w.Limits.Context
	if c.fits > 0 && (most == 0 || c.fits < most) {
		most = c.fits
	}
	if most > 0 && c.tokens(beside) > most {
		if _, err := shorter(most); err != nil {
			return Reply{}, err
		}
	}
	for try := 1; ; try++ {
		r, err := w.chat(ctx, prompt())
		if !errors.Is(err, ErrTooLong) || ctx.Err() != nil || try == mostTries {
			return r, err
		}
		fits := max(c.tokens(beside)*2/3, 1)
		any, cutting := shorter(fits)
		if cutting != nil {
			return Reply{}, cutting
		}
		if !any {
			return r, err
		}
		if cutting := shorten(Cut{Fits: fits}); cutting != nil { // so that the next one fits at once
			return Reply{}, cutting
		}
	}
}
