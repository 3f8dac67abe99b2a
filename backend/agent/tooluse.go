package agent

import "encoding/json"

// A writtenUse is a ToolUse in JSON. Arguments that are none themselves, as models write them now and then, are a text
// there: a journal has to keep them, too.
type writtenUse struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
	Text *string         `json:"args_text,omitempty"`
}

// MarshalJSON writes args, or args_text where the arguments are no JSON.
func (u ToolUse) MarshalJSON() ([]byte, error) {
	w := writtenUse{ID: u.ID, Name: u.Name, Args: u.Args}
	if !json.Valid(u.Args) {
		text := string(u.Args)
		w.Args, w.Text = nil, &text
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *ToolUse) UnmarshalJSON(data []byte) error {
	var w writtenUse
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*u = ToolUse{ID: w.ID, Name: w.Name, Args: w.Args}
	if w.Text != nil {
		u.Args = json.RawMessage(*w.Text)
	}
	return nil
}
