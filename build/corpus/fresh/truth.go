package fresh

// Met, NotMet and Unseen are what is known of an expected outcome.
const (
	Met    = "met"
	NotMet = "not met"
	Unseen = "not seen"
)

// The verbs of facts.
const (
	Create  = "create"
	Save    = "save"
	Delete  = "delete"
	Move    = "move"
	Send    = "send"
	Upload  = "upload"
	Publish = "publish"
	Pay     = "pay"
	Approve = "approve"
	Set     = "set"
	SignIn  = "sign_in"
)

// A Fact is one thing that happened, or that was tried and did not happen. The generator knows it because it wrote both
// the page and the person.
type Fact struct {
	Verb     string `json:"verb"`
	Object   string `json:"object"` // the name that a reader would use for it
	Happened bool   `json:"happened"`
	Seen     bool   `json:"seen"`             // the page said which of the two
	Status   int    `json:"status,omitempty"` // of the answer where it failed
	Tries    int    `json:"tries,omitempty"`
	To       string `json:"to,omitempty"` // of a move
}

// A Truth is all that a summary can be held against.
type Truth struct {
	Name     string            `json:"name"`
	Story    string            `json:"story"`
	Facts    []Fact            `json:"facts"`              // in the order in which they came
	Touched  bool              `json:"touched"`            // a field was filled in, something chosen, dragged, or set
	Unsent   bool              `json:"unsent"`             // a form was filled in and not sent
	Fields   map[string]string `json:"fields"`             // values asked for, as the page shows them
	Expected string            `json:"expected,omitempty"` // met, not met, not seen; "" where nothing was expected
	Errors   []int             `json:"errors,omitempty"`   // statuses of failures that a page or request had
	Trouble  bool              `json:"trouble,omitempty"`  // something failed, with or without a status
	Secrets  []string          `json:"secrets,omitempty"`
	Numbers  []string          `json:"numbers,omitempty"` // typed, and no secrets
	Steps    []Step            `json:"steps"`
}

// happened says whether a verb was carried out, of any object where object is "".
func (t Truth) happened(verb, object string) bool {
	for _, f := range t.Facts {
		if f.Verb == verb && f.Happened && (object == "" || f.Object == object) {
			return true
		}
	}
	return false
}

// changed says whether anything was changed for good.
func (t Truth) changed() bool {
	for _, f := range t.Facts {
		if f.Happened && f.Verb != SignIn {
			return true
		}
	}
	return false
}

// A Step is one thing that the person does, in their order.
type Step struct {
	Do   string `json:"do"` // click, type, key, select, check, drag, drop, hover, upload, back, wait, at, pick, accept, dismiss, open, tab, clear
	On   string `json:"on,omitempty"`
	To   string `json:"to,omitempty"`
	Text string `json:"text,omitempty"`
	// Types are those of the actions that would record it; none where it is nothing to record.
	Types []string `json:"types,omitempty"`
	// May are types that may record it, and need not.
	May   []string `json:"may,omitempty"`
	Name  string   `json:"name,omitempty"` // what a person calls the target
	Frame bool     `json:"frame,omitempty"`
	// Value is what stands in the field afterwards, where it is no secret.
	Value  string `json:"value,omitempty"`
	Secret bool   `json:"secret,omitempty"`
}
