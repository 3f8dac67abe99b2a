package human

import (
	"bytes"
	"encoding/json"
	"slices"
)

// maxArguments is how many arguments an approval may ask about.
const maxArguments = 100

// An EditedCall is the call of an approval as an operator changed it.
type EditedCall struct {
	Arguments json.RawMessage `json:"arguments" doc:"All arguments, those that were changed and those that were not."`
	Changes   []EditedValue   `json:"changes"`
	Digest    string          `json:"digest" doc:"SHA-256, in hex, of the edited call: what the answer is bound to."`
	Requested string          `json:"requested_digest" doc:"SHA-256, in hex, of the call as it was sent."`
}

// An EditedValue is one argument that an operator changed.
type EditedValue struct {
	Name string          `json:"name"`
	Old  json.RawMessage `json:"old"`
	New  json.RawMessage `json:"new"`
}

// A callOf is the call in the details of an approval.
type callOf struct {
	action    string
	arguments json.RawMessage // an object; nil where there is no call
	fixed     []string
}

func (o Operation) call() (c callOf, err error) {
	var fixed json.RawMessage
	Members(o.Details, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "action":
			c.action, _ = JSONString(value)
		case "arguments":
			c.arguments = value
		case "fixed":
			fixed = value
		}
	})
	if len(c.arguments) == 0 || c.arguments[0] != '{' || c.action == "" {
		c.arguments = nil
	}
	if fixed != nil && json.Unmarshal(fixed, &c.fixed) != nil {
		err = BadField("details.fixed", "must be a list of names of arguments")
	}
	return c, err
}

// CheckArguments says what is wrong with the arguments that the details of an approval give: an Invalid error.
func (o Operation) CheckArguments() error {
	c, err := o.call()
	if err != nil || c.arguments == nil {
		return err
	}
	var names []string
	Members(c.arguments, func(name []byte, _ json.RawMessage) { names = append(names, string(name)) })
	if len(names) > maxArguments {
		return BadField("details.arguments", "has %d arguments, the limit is %d; put them into details.action, which is not edited", len(names), maxArguments)
	}
	for _, name := range c.fixed {
		if !slices.Contains(names, name) {
			return BadField("details.fixed", "%q is not one of the arguments", OneLine(name, 80))
		}
	}
	return nil
}

// Edited is the whole of a call's arguments, of which an operator changed those in edits, a JSON object: in the order they were sent,
// without white space, and those with the same value as they were sent. Nil where nothing differs. Invalid for what the call does
// not have or its agent has fixed.
func (o Operation) Edited(edits json.RawMessage) (json.RawMessage, error) {
	if len(edits) == 0 || string(edits) == "null" {
		return nil, nil
	}
	var changed map[string]json.RawMessage
	if json.Unmarshal(edits, &changed) != nil || changed == nil {
		return nil, BadField("args", "must be a JSON object of the arguments that were edited")
	}
	c, err := o.call()
	switch {
	case err != nil || len(changed) == 0:
		return nil, err
	case c.arguments == nil:
		return nil, BadField("args", "operation %s has no arguments that can be edited", o.ID)
	}
	var full bytes.Buffer
	differs := false
	Members(c.arguments, func(name []byte, old json.RawMessage) {
		value, is := changed[string(name)]
		delete(changed, string(name))
		full.WriteByte(',')
		quoted, _ := json.Marshal(string(name)) // of a text
		full.Write(quoted)
		full.WriteByte(':')
		switch {
		case !is || sameJSON(old, value):
			value = old
		case slices.Contains(c.fixed, string(name)):
			err = BadField("args", "%q is fixed by the agent, so it cannot be edited", OneLine(string(name), 80))
		default:
			differs = true
		}
		_ = json.Compact(&full, value) // it is valid
	})
	for name := range changed {
		return nil, BadField("args", "%q is not one of the arguments", OneLine(name, 80))
	}
	if err != nil || !differs {
		return nil, err
	}
	return append(append(json.RawMessage("{"), bytes.TrimPrefix(full.Bytes(), []byte(","))...), '}'), nil
}

// sameJSON says whether two valid JSON values are the same value: white space, the order of names and how a character is escaped do not count.
func sameJSON(a, b json.RawMessage) bool { return bytes.Equal(plainJSON(a), plainJSON(b)) }

func plainJSON(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	text, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return text
}

// callBytes are what an answer to a call is bound to: the action, a line break, and its arguments without white space.
func callBytes(action string, arguments json.RawMessage) string {
	var flat bytes.Buffer
	if len(arguments) == 0 || arguments[0] != '{' || json.Compact(&flat, arguments) != nil {
		return action
	}
	return action + "\n" + flat.String()
}

// AnswerDigest is what an answer to the operation is bound to: its Digest, or that of the call with the arguments in the answer,
// as Edited returns them.
func (o Operation) AnswerDigest(a Answer) string {
	if o.Kind != Approve || len(a.Args) == 0 {
		return o.Digest
	}
	c, _ := o.call()
	return o.Request().digest(callBytes(c.action, a.Args))
}

// EditedCall is the call as it was approved with other arguments than it was sent with; nil where it was not.
func (o Operation) EditedCall(a Answer) *EditedCall {
	c, err := o.call()
	if err != nil || o.Kind != Approve || len(a.Args) == 0 {
		return nil
	}
	edited := &EditedCall{Arguments: a.Args, Digest: o.AnswerDigest(a), Requested: o.Digest, Changes: []EditedValue{}}
	values := map[string]json.RawMessage{}
	Members(a.Args, func(name []byte, value json.RawMessage) { values[string(name)] = value })
	Members(c.arguments, func(name []byte, old json.RawMessage) {
		if value := values[string(name)]; !sameJSON(old, value) {
			edited.Changes = append(edited.Changes, EditedValue{string(name), old, value})
		}
	})
	return edited
}
