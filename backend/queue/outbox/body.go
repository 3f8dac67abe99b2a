package outbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"text/template"

	"deskbell/backend/human"
)

// SecretPlace is where a webhook's address has its secret: some services have a token in theirs.
const SecretPlace = "{secret}"

// CheckBody says what is wrong with a template of a webhook's body.
func CheckBody(text string) error {
	_, err := Body(text, Document{ID: ID("op_sample"), Result: &human.Result{}, Ended: &human.Ending{}})
	return err
}

// Body is a template (text/template) filled in with a document: JSON. {{json VALUE}} writes a value as JSON; {{escape TEXT}} is a
// text without what Slack's mrkdwn takes for a mention or a link (https://docs.slack.dev/messaging/formatting-message-text).
func Body(text string, d Document) ([]byte, error) {
	t, err := template.New("body").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"escape": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace,
	}).Parse(text)
	var out bytes.Buffer
	if err == nil {
		err = t.Execute(&out, d)
	}
	if err != nil {
		return nil, human.Errorf(human.Invalid, "it does not fit a document: %v", err)
	}
	if !json.Valid(out.Bytes()) {
		return nil, human.Errorf(human.Invalid, "it is not JSON once it is filled in; write values as {{json .Text}}")
	}
	return out.Bytes(), nil
}
