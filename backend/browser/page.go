package browser

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/human"
)

// The page script runs in a world of its own in every frame: it sees the page's elements and events, and the page
// sees neither it nor the binding by which it sends what it saw.
const (
	worldName   = "deskbell"
	bindingName = "deskbellSend"
)

// The parts of the page script. Each is one function expression.
var (
	//go:embed page.js
	pageScript string
	//go:embed page_secrets.js
	pageSecrets string
	//go:embed page_names.js
	pageNames string
	//go:embed page_elements.js
	pageElements string
	//go:embed page_take.js
	pageTake string
	//go:embed page_fields.js
	pageFields string
	//go:embed page_looks.js
	pageLooks string
	//go:embed page_hover.js
	pageHover string
	//go:embed page_media.js
	pageMedia string
	//go:embed page_form.js
	pageForm string
	//go:embed page_messages.js
	pageMessages string
	//go:embed page_find.js
	pageFind string // given to the frames of a browser in which a procedure is run
)

// secretParameters are names of URL parameters whose values are hidden; also behind a prefix, as in x-api-key.
var secretParameters = []string{"token", "access_token", "id_token", "refresh_token", "api_key", "apikey", "key", "signature", "sig",
	"password", "passwd", "passphrase", "passcode", "pass", "pwd", "pw", "secret", "client_secret", "session_id", "sessionid", "session", "sid",
	"auth", "authorization", "auth_code", "oauth_verifier", "assertion", "samlresponse", "ticket", "jwt", "otp", "pin", "credential", "credentials"}

// pageConfig is what the page script is started with.
type pageConfig struct {
	Parameters []string `json:"parameters"` // names of URL parameters to hide, beside secretParameters
	Clipboard  bool     `json:"clipboard"`  // copied text may be sent, masked
	Seed       [2]int32 `json:"seed"`       // by which secrets are compared
}

// script returns the source that Page.addScriptToEvaluateOnNewDocument takes, complete with its call. It may be run
// again in the same document, as it must be after document.open has removed all listeners; then it only adds them anew.
func script(config pageConfig) (string, error) {
	config.Parameters = append(slices.Clone(secretParameters), slices.DeleteFunc(slices.Clone(config.Parameters), func(p string) bool { return p == "" })...)
	c, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	parts := []string{fmt.Sprintf("(payload) => globalThis.%s(payload)", bindingName), string(c)}
	for _, p := range []string{pageSecrets, pageNames, pageElements, pageTake, pageFields, pageForm, pageLooks, pageHover, pageMessages, pageMedia} {
		parts = append(parts, expression(p))
	}
	return "(" + expression(pageScript) + ")(" + strings.Join(parts, ",\n") + ");", nil
}

// expression is a part of the script as it can stand in another expression: without the semicolon that ends its file.
func expression(part string) string { return strings.TrimSuffix(strings.TrimSpace(part), ";") }

// maskURL hides the values of secret parameters, and the password, of an address. names come beside secretParameters.
func maskURL(address string, names []string) string {
	address = userInfo().ReplaceAllString(address, "${1}•••@")
	return parameterShape(strings.Join(names, "\x00")).ReplaceAllString(address, "${1}•••")
}

var userInfo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\b[a-z][a-z0-9+.-]*://[^/\s:@?#]*:)[^/\s@]+@`)
})

var parameterShapes sync.Map // by names

func parameterShape(names string) *regexp.Regexp {
	if r, ok := parameterShapes.Load(names); ok {
		return r.(*regexp.Regexp)
	}
	all := slices.Clone(secretParameters)
	for n := range strings.SplitSeq(names, "\x00") {
		if n != "" {
			all = append(all, n)
		}
	}
	for i, n := range all {
		all[i] = regexp.QuoteMeta(n)
	}
	r := regexp.MustCompile(`(?i)((?:[?&#;]|%3F|%26|%23)(?:[a-z0-9]+[._-])*(?:` + strings.Join(all, "|") + `)(?:=|%3D))(?:[^&#;%\s"'<>]|%(?:[013-9A-F][0-9A-F]|2[0-57-9A-F]))+`)
	parameterShapes.Store(names, r)
	return r
}

// A message is what the page script sends at once.
type message struct {
	Number uint64  // counts the messages of a document from 1: one that is missing was lost
	At     float64 // of its events, in ms since Origin
	Origin float64 // when the document began, in ms since 1970
	Zero   float64 // the same by the time of day when it was sent, which may have been set since
	Href   string  // of the frame, masked
	Failed string  // what went wrong in the script, for the log; then there are no events
	// What a field's text was judged to be, of a PageInput or, where its text is not new, alone. Field is 0 where it is not
	// judged yet. Same is one number for equal secrets; it is not stored.
	Field, Version uint64
	Hidden         bool
	Same           float64
	// Events have neither Seq, At nor Source. Their coordinates and bounds are of the frame's own viewport; their
	// Page has W, H, Scale and the place of the frame's viewport on the screen, as far as the frame knows them.
	// Bounds are set when the engine gave them in time, after a frame: mostly in a click, never in its press.
	// The Values of a PageInput are "filled" where the browser filled the field in; it is Hidden as an unknown_field
	// where only the count of its characters is known, in a closed shadow root or on a canvas.
	Events []human.RecordedEvent
}

// What a message may hold. A page cannot reach the binding, but a compromised renderer can.
const (
	maxPayload   = 1 << 20
	maxEvents    = 50
	maxText      = 20_000
	maxName      = 1_000
	maxSelectors = 20
	maxValues    = 200
	maxPlace     = 1 << 24 // a coordinate
)

var errMessage = errors.New("no message of the page script")

// fromPages are the types of events that pages may report.
var fromPages = []human.RecordedType{human.PageShown, human.PagePress, human.PageClick, human.PageInput, human.PageChoice, human.PageKey,
	human.PageScrolled, human.PageDrag, human.PageHover, human.PageCopied, human.PagePasted, human.PageUpload, human.PageMessage, human.PageMedia}

// decode reads what came through the binding. It trusts nothing: it shortens what is too long, returns an error for what
// cannot be, and drops fields that only Deskbell sets.
func decode(payload string) (message, error) {
	var in struct {
		Version int                   `json:"v"`
		Number  uint64                `json:"n"`
		At      float64               `json:"ts"`
		Origin  float64               `json:"origin"`
		Zero    float64               `json:"zero"`
		Href    string                `json:"href"`
		Failed  string                `json:"failed"`
		Field   uint64                `json:"field"`
		Of      uint64                `json:"version"`
		Hidden  bool                  `json:"hidden"`
		Same    float64               `json:"same"`
		Events  []human.RecordedEvent `json:"events"`
	}
	if len(payload) > maxPayload {
		return message{}, fmt.Errorf("%w: %d bytes", errMessage, len(payload))
	}
	if err := json.Unmarshal([]byte(payload), &in); err != nil {
		return message{}, fmt.Errorf("%w: %v", errMessage, err)
	}
	if in.Version != 1 || len(in.Events) > maxEvents || !finite(in.At) || !finite(in.Origin) || !finite(in.Zero) || !finite(in.Same) || in.At < 0 {
		return message{}, errMessage
	}
	m := message{Number: in.Number, At: in.At, Origin: in.Origin, Zero: in.Zero, Href: cut(in.Href, 4_096), Failed: cut(in.Failed, maxName),
		Field: in.Field, Version: in.Of, Hidden: in.Hidden, Same: in.Same}
	for _, e := range in.Events {
		if !slices.Contains(fromPages, e.Type) {
			return message{}, fmt.Errorf("%w: type %q", errMessage, cut(string(e.Type), 40))
		}
		m.Events = append(m.Events, bounded(e))
	}
	return m, nil
}

// bounded keeps of an event what a page may say.
func bounded(e human.RecordedEvent) human.RecordedEvent {
	out := human.RecordedEvent{
		Type: e.Type, X: coordinate(e.X), Y: coordinate(e.Y), Button: min(max(e.Button, 0), 9), Key: cut(e.Key, 40), Repeat: e.Repeat,
		Text: cut(e.Text, maxText), Count: min(max(e.Count, 0), 1<<30), Element: boundedElement(e.Element),
	}
	for _, m := range []string{"ctrl", "alt", "shift", "meta"} {
		if slices.Contains(e.Modifiers, m) {
			out.Modifiers = append(out.Modifiers, m)
		}
	}
	if slices.Contains([]string{"password", "secret", "unknown_field"}, e.Hidden) {
		out.Hidden = e.Hidden
	}
	out.ToX, out.ToY, out.Target = coordinate(e.ToX), coordinate(e.ToY), boundedElement(e.Target)
	for _, v := range e.Values[:min(len(e.Values), maxValues)] {
		out.Values = append(out.Values, cut(v, maxName))
	}
	for _, f := range e.Transfers[:min(len(e.Transfers), maxValues)] {
		name := f.Name[strings.LastIndexAny(f.Name, `/\`)+1:]
		out.Transfers = append(out.Transfers, human.Transfer{Name: cut(name, maxName), Size: max(f.Size, 0), Type: cut(f.Type, 200)})
	}
	if p := e.Page; p != nil && finite(p.ScreenX) && finite(p.ScreenY) && p.Scale > 0 && p.Scale < 100 {
		out.Page = &human.WebPage{W: max(coordinate(p.W), 0), H: max(coordinate(p.H), 0), ScreenX: p.ScreenX, ScreenY: p.ScreenY, Scale: p.Scale}
	}
	return out
}

func boundedElement(e *human.Element) *human.Element {
	if e == nil {
		return nil
	}
	out := &human.Element{
		Role: cut(e.Role, 60), Name: cut(e.Name, maxName), Tag: cut(e.Tag, 100), Secret: e.Secret, Beside: cut(e.Beside, 300),
		Bounds: human.Bounds{X: coordinate(e.Bounds.X), Y: coordinate(e.Bounds.Y), W: max(coordinate(e.Bounds.W), 0), H: max(coordinate(e.Bounds.H), 0)},
	}
	if e.Hidden != "" {
		out.Hidden = "secret"
	}
	if e.Named != "" {
		out.Named = "otherwise"
	}
	for i, role := range []string{"row", "columns"} { // its cells, and the headings of their columns
		if i < len(e.Ancestry) && e.Ancestry[i].Role == role {
			out.Ancestry = append(out.Ancestry, human.Element{Role: role, Name: cut(e.Ancestry[i].Name, 4*maxName)})
		}
	}
	if e.Inside == "dialog" || e.Inside == "complementary" {
		out.Inside = e.Inside
	}
	if e.Form != nil {
		out.Form = []human.Filled{}
	}
	for _, f := range e.Form[:min(len(e.Form), maxValues)] {
		out.Form = append(out.Form, human.Filled{Role: cut(f.Role, 60), Name: cut(f.Name, 300), Holds: cut(f.Holds, maxName)})
	}
	if e.Says != nil && len(e.Says) <= maxValues {
		out.Says = []string{}
		for _, line := range e.Says {
			out.Says = append(out.Says, cut(line, maxName))
		}
	}
	for _, s := range e.States[:min(len(e.States), 10)] {
		if slices.Contains([]string{"focused", "checked", "selected", "expanded", "disabled", "editable", "multiline"}, s) {
			out.States = append(out.States, s)
		}
	}
	for _, list := range e.Selectors[:min(len(e.Selectors), maxSelectors)] {
		long := func(s string) bool { return s == "" || len(s) > 4*maxName }
		if len(list) == 0 || len(list) > maxSelectors || slices.ContainsFunc(list, long) {
			continue
		}
		out.Selectors = append(out.Selectors, list)
	}
	return out
}

func coordinate(n int) int { return min(max(n, -maxPlace), maxPlace) }

func finite(f float64) bool { return !math.IsNaN(f) && math.Abs(f) < 1e15 }

// cut shortens a text to so many bytes at most, at a character.
func cut(s string, most int) string {
	return strings.ToValidUTF8(human.FirstBytes(s, most), "�")
}
