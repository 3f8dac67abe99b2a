// Package kind is what each kind of operation is: one file and one value for each. What agents read about a kind (the MCP
// tool, the OpenAPI description, the documents), what the console reads of its details, and what the queue asks of an
// answer to it come from these values. It does no I/O and its values never change.
package kind

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A Kind is one kind of operation.
type Kind struct {
	Name human.Kind
	// Doc says, in a few words, what an agent needs it for.
	Doc string
	// Agents says that an agent may ask for it by the tool human, or by POST /api/human/invoke. The others are begun by
	// a call of their own.
	Agents bool
	// Program says that a command of Deskbell's own asks for it with an agent's key. Agents are not offered it.
	Program bool
	// OnTimeout, where set, is what becomes of an overdue operation of this kind, whatever its request says.
	OnTimeout human.OnTimeout
	// Fields are the parts of details that have a place of their own in the view of this kind, in the order they are
	// documented. Details may have any other part too; it is shown under the name it was sent with.
	Fields []Field
	// Answer names what an answer of this kind holds, as JSON names of human.Answer.
	Answer []string
	// Check fills in what an answer stands for, and returns an Invalid or Conflict error that says what is wrong with it.
	Check func(op human.Operation, a *human.Answer) error
	// Undo says whether an answer can be held for a few seconds, in which its operator can undo it. Nil: never.
	Undo func(op human.Operation, a human.Answer) bool
	// Events are what a checked answer is kept as. Nil: it ends the operation.
	Events func(op human.Operation, by human.Actor, a human.Answer) ([]human.Event, error)
}

// A Type is how a field is drawn and described, one of JSON's types or a form of text.
type Type string

// The types of fields.
const (
	Text  Type = "text"  // a string, drawn as Markdown
	Code  Type = "code"  // a string, drawn to the letter
	Path  Type = "path"  // a string that names a file, folder, host or program
	Flag  Type = "flag"  // true or false
	List  Type = "list"  // an array; a string stands for an array of one
	Any   Type = "any"   // whatever was sent, drawn by what it is
	Level Type = "level" // a risk: low, medium, high, critical
)

// A Field is one part of details.
type Field struct {
	Name string
	// Aliases are other names that agents send it under. Name is looked for first, then these in their order.
	Aliases []string
	Type    Type
	// All says that every name that was sent is shown, not only the first.
	All bool
	Doc string
}

// All lists every kind, in the order they are shown.
var All = []Kind{Feedback, Bash, Desktop, Browser, Review, Approve, Permission, Box, Plan, Procedure}

// Of returns the kind of that name; false where there is none.
func Of(name human.Kind) (Kind, bool) {
	i := slices.IndexFunc(All, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return All[i], true
}

// Names are the names of all kinds, in order.
func Names() []human.Kind { return names(func(Kind) bool { return true }) }

// ForAgents are the names of the kinds an agent may ask for.
func ForAgents() []human.Kind { return names(func(k Kind) bool { return k.Agents }) }

// ForKeys are the names of the kinds that can be asked for with an agent's key.
func ForKeys() []human.Kind { return names(func(k Kind) bool { return k.Agents || k.Program }) }

func names(which func(Kind) bool) (all []human.Kind) {
	for _, k := range All {
		if which(k) {
			all = append(all, k.Name)
		}
	}
	return all
}

// Sentence lists names as a message does: "a, b, c".
func Sentence(all []human.Kind) string {
	words := make([]string, len(all))
	for i, name := range all {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}

// Value is what op's details say for a field of its kind, under the field's name or else the first of its aliases that
// was sent; nil where nothing was. Names are compared exactly.
func Value(op human.Operation, field string) json.RawMessage {
	k, _ := Of(op.Kind)
	i := slices.IndexFunc(k.Fields, func(f Field) bool { return f.Name == field })
	if i < 0 {
		return nil
	}
	return k.Fields[i].in(op.Details)
}

// in is the value of the field in an operation's details.
func (f Field) in(raw json.RawMessage) json.RawMessage {
	sent := make([]json.RawMessage, 1+len(f.Aliases)) // of several with one name the last counts, as for encoding/json
	human.Members(raw, func(name []byte, value json.RawMessage) {
		if i := slices.Index(f.Aliases, string(name)); i >= 0 {
			sent[1+i] = value
		} else if string(name) == f.Name {
			sent[0] = value
		}
	})
	for _, value := range sent {
		if len(value) > 0 && string(value) != "null" && string(value) != `""` {
			return value
		}
	}
	return nil
}

// Steps are the lines of the checklist of work by hand, as the console numbers them.
func Steps(op human.Operation) []string { return lines(Value(op, "action_sequence")) }

// FocusAreas are what a review is asked to look at, as the console numbers them.
func FocusAreas(op human.Operation) []string { return lines(Value(op, "focus_areas")) }

// Outcome is the text that says how one sees that the work is done; "" where there is none.
func Outcome(op human.Operation) (text string) {
	_ = json.Unmarshal(Value(op, "expected_outcome"), &text) // what is no text is no line to look for
	return text
}

// lines reads the value of a field of type List, as the console does: a text is one line, an object is its description, else its title,
// else its JSON.
func lines(raw json.RawMessage) []string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return []string{text}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	all := make([]string, len(list))
	for i, part := range list {
		var item struct{ Description, Title string }
		switch {
		case json.Unmarshal(part, &all[i]) == nil:
		case json.Unmarshal(part, &item) == nil && item.Description+item.Title != "":
			all[i] = cmp.Or(item.Description, item.Title)
		default:
			all[i] = string(part)
		}
	}
	return all
}

// says is the check of an answer in words: there has to be something in it.
func says(_ human.Operation, a *human.Answer) error {
	if len(a.Parts()) == 0 && a.HumanInput == "" && a.ExecutionResult == "" && a.Summary == "" && a.Decision == "" &&
		len(a.KeyFindings)+len(a.Findings)+len(a.Suggestions)+len(a.Fields)+len(a.Attachments) == 0 {
		return human.BadField("human_input", "is missing, and the answer has nothing else; if you have no answer, decline with a reason")
	}
	return nil
}

// always can be undone.
func always(human.Operation, human.Answer) bool { return true }

// What the kinds share.
var (
	risk = Field{Name: "risk_level", Type: Level, Doc: "low, medium, high or critical; anything else counts as high"}

	inWords = []string{"human_input", "response", "summary", "key_findings", "findings", "suggestions", "attachments"}
	ofWork  = append([]string{"execution_result", "fields", "field_sources"}, inWords...)

	whyHuman = []string{"why_human", "requires_human", "why_agent_cant", "why_agent_cannot", "why_agent_can_not"}
)

// besides returns the aliases without the field's own name.
func besides(name string, aliases []string) []string {
	return slices.DeleteFunc(slices.Clone(aliases), func(a string) bool { return a == name })
}
