package browser

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/chromedp/kb"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const liftWithin = 2 * time.Second // for the browser to begin what it drags itself

// do does a step, once its tab is there.
func (a *act) do(ctx context.Context, s human.ProcedureStep, secret *record.Secret) error {
	if s.Target == nil && !slices.Contains([]string{"navigate", "back", "forward", "reload", "press", "scroll", "switchPage", "close"}, s.Do) {
		return human.Errorf(human.Invalid, "A step of the kind %q needs a target.", s.Do)
	}
	switch s.Do {
	case "click", "doubleClick", "tripleClick", "hover", "check":
		return a.points(ctx, s)
	case "change":
		return a.writes(ctx, s, secret)
	case "press":
		return a.presses(ctx, s)
	case "drag":
		return a.drags(ctx, s)
	case "selectOption", "scroll", "media", "setInputFiles", "pick":
		return a.sets(ctx, s)
	case "navigate", "back", "forward", "reload":
		return a.goes(ctx, s)
	case "switchPage", "close":
		return a.turns(ctx, s)
	}
	return human.Errorf(human.Invalid, "Deskbell cannot do a step of the kind %q.", s.Do)
}

// takes finds the element of a step and notes what it was found by.
func (a *act) takes(ctx context.Context, s human.ProcedureStep, how object) (*spot, error) {
	if s.Form != nil {
		how["form"] = s.Form
	}
	if s.Says != nil {
		how["says"] = s.Says
	}
	found, err := a.find(ctx, s, s.Target, how)
	if err == nil {
		a.did.FoundBy, a.did.Drifted, a.did.Element = found.By, found.Drifted, found.Words
	}
	return found, err
}

// placed adds the places in an element that a step names to how it is made ready.
func placed(s human.ProcedureStep, how object) object {
	how["point"] = true
	if s.X != nil {
		how["x"] = *s.X
	}
	if s.Y != nil {
		how["y"] = *s.Y
	}
	return how
}

// modifierBits are those of a step, as commands of Input have them.
func modifierBits(s human.ProcedureStep) (bits int) {
	for i, name := range []string{"alt", "ctrl", "meta", "shift"} {
		if slices.Contains(s.Modifiers, name) {
			bits |= 1 << i
		}
	}
	return bits
}

// A command is one of Input.
type command struct {
	method string
	params object
}

func mouse(kind string, x, y float64, more object) command {
	params := object{"type": kind, "x": x, "y": y}
	for name, value := range more {
		params[name] = value
	}
	return command{"Input.dispatchMouseEvent", params}
}

// inputs sends commands of the mouse or the keyboard, and waits until the page has taken the last. From then on the step is begun.
// A page that goes away with it has taken it.
func (a *act) inputs(ctx context.Context, how, key string, all ...command) error {
	a.begun = true
	defer a.b.sends(how, key)()
	last := all[len(all)-1]
	for _, c := range all[:len(all)-1] {
		a.t.conn.send(a.t.session, c.method, c.params)
	}
	err := a.call(ctx, a.t.session, last.method, last.params, nil)
	if errors.Is(err, errDetached) {
		return nil
	}
	return failed(err)
}

// failed says of an error of the browser that what was begun failed.
func failed(err error) error {
	if m := (*record.Mismatch)(nil); err == nil || errors.As(err, &m) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return mismatch(human.Sayf("The browser does it."), human.Sayf("It says: %s", err.Error()))
}

func (a *act) points(ctx context.Context, s human.ProcedureStep) error {
	how := placed(s, object{})
	switch s.Do {
	case "check":
		how["on"] = len(s.Options) == 0 || s.Options[0] != "unchecked"
	case "hover":
		how["hover"] = true
	}
	for {
		found, err := a.takes(ctx, s, how)
		if err != nil || found.Done {
			return err
		}
		if s.Do == "hover" {
			return a.inputs(ctx, "point", "", mouse("mouseMoved", found.X, found.Y, object{"modifiers": modifierBits(s)}))
		}
		missed, err := a.clicks(ctx, s, found)
		if err != nil || !missed {
			return err
		}
		if a.begun = false; !a.pause(ctx) {
			return mismatch(human.Sayf("%s stands still.", found.Words), human.Sayf("Something else came in its place before it was clicked, so it was not."))
		}
	}
}

// clicks clicks on an element. missed is true where something else has come in its place, or a frame around it got the click: then the
// page got nothing.
func (a *act) clicks(ctx context.Context, s human.ProcedureStep, found *spot) (missed bool, err error) {
	bits := modifierBits(s)
	all := []command{mouse("mouseMoved", found.X, found.Y, object{"modifiers": bits})}
	button, pressed := "left", 1
	switch s.Button {
	case 2:
		button, pressed = "middle", 4
	case 3:
		button, pressed = "right", 2
	}
	times := map[string]int{"click": 1, "check": 1, "doubleClick": 2, "tripleClick": 3}[s.Do]
	for n := range times {
		all = append(all,
			mouse("mousePressed", found.X, found.Y, object{"button": button, "buttons": pressed, "clickCount": n + 1, "modifiers": bits}),
			mouse("mouseReleased", found.X, found.Y, object{"button": button, "clickCount": n + 1, "modifiers": bits}))
	}
	if err := a.inputs(ctx, "point", "", all...); err != nil {
		return false, err
	}
	for _, at := range append(found.around, found.at) {
		missed = false
		if err = a.evaluate(ctx, at, "hands.missed()", &missed); missed && err == nil {
			return true, nil
		}
	}
	if err == nil {
		return false, nil
	}
	if err := a.dialogs(); err != nil {
		return false, err
	}
	return false, ctx.Err() // a document that has gone, or is about to, was reached
}

// writes puts a text into a field. The page script writes it, in the task in which it looks whose page that is.
func (a *act) writes(ctx context.Context, s human.ProcedureStep, secret *record.Secret) error {
	text, site := s.Text, ""
	how := object{"write": true}
	if s.Secret != "" {
		if secret == nil || secret.Site == "" {
			return human.Errorf(human.Invalid, "The step needs the secret %s, which was not given.", s.Secret)
		}
		text, site = secret.Text, strings.Join(append([]string{secret.Site}, secret.Around...), " ")
		how["site"] = site
	}
	found, err := a.takes(ctx, s, how)
	if err != nil {
		return err
	}
	var wrong string
	a.begun = true
	if err := a.ask(ctx, found.at, "hands.write("+quote(text)+", "+quote(site)+")", &wrong); err != nil {
		return err
	}
	for wrong == "empty" { // an editor may draw its text later
		if !a.pause(ctx) {
			return mismatch(human.Sayf("%s holds what was typed.", found.Words), human.Sayf("It stays empty."))
		}
		if err := a.ask(ctx, found.at, "hands.written()", &wrong); err != nil {
			return err
		}
	}
	switch wrong {
	case "site":
		a.begun = false
		return (&spot{Wait: "site", Near: site}).lacks(s.Target, how)
	case "focus":
		a.begun = false
		return mismatch(human.Sayf("%s can be typed into.", found.Words), human.Sayf("It does not take the keyboard."))
	}
	if s.Key == "" {
		return nil
	}
	return a.key(ctx, s)
}

// presses presses a key in an element, or where the keyboard is.
func (a *act) presses(ctx context.Context, s human.ProcedureStep) error {
	if s.Target == nil {
		if err := a.there(ctx, s, false); err != nil {
			return err
		}
		return a.key(ctx, s)
	}
	found, err := a.takes(ctx, s, object{})
	if err != nil {
		return err
	}
	if err := a.ask(ctx, found.at, "hands.focus()", nil); err != nil { // what takes no keyboard leaves it to what it lies in
		return err
	}
	return a.key(ctx, s)
}

// there waits for the tab of a step, and for its frame to be loaded.
func (a *act) there(ctx context.Context, s human.ProcedureStep, alone bool) error {
	for {
		err := a.tab(s.Page)
		if err == nil && !alone {
			var at place
			if at, err = a.frame(s.Frame); err == nil {
				err = a.ask(ctx, at, "true", nil)
			}
		}
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if !a.pause(ctx) {
			return err
		}
	}
}

// keys are those of an American keyboard, by what they are called.
var keys = sync.OnceValue(func() map[string]*kb.Key {
	all := map[string]*kb.Key{}
	for r, k := range kb.Keys {
		if old := all[k.Key]; old == nil || r == '\r' || k.Print {
			all[k.Key] = k
		}
	}
	return all
})

// editing are commands of a text field that keys stand for: Input does not find them by the keys.
var editing = map[string]string{"a": "selectAll", "c": "copy", "x": "cut", "v": "paste", "z": "undo", "y": "redo"}

// key presses the key of a step with its modifiers, as often as it says.
func (a *act) key(ctx context.Context, s human.ProcedureStep) error {
	key, bits := s.Key, modifierBits(s)
	if bits != 0 && len(key) == 1 && bits&8 == 0 {
		key = strings.ToLower(key)
	}
	params := object{"key": key, "modifiers": bits}
	k := keys()[key]
	if k != nil {
		params["code"], params["windowsVirtualKeyCode"] = k.Code, k.Windows
	}
	kind := "rawKeyDown"
	if bits&^8 == 0 { // it makes a text
		switch {
		case k != nil && k.Text != "":
			kind, params["text"] = "keyDown", k.Text
		case k == nil && len([]rune(key)) == 1:
			kind, params["text"] = "keyDown", key
		}
	}
	if c := editing[key]; c != "" && bits&(2|4) != 0 {
		params["commands"] = []string{c}
	}
	held := map[string]string{"ctrl": "Control", "alt": "Alt", "shift": "Shift", "meta": "Meta"}
	var all []command
	hold := func(kind string) {
		for _, m := range s.Modifiers {
			if h := keys()[held[m]]; h != nil {
				all = append(all, command{"Input.dispatchKeyEvent", object{"type": kind, "key": h.Key, "code": h.Code, "windowsVirtualKeyCode": h.Windows}})
			}
		}
	}
	hold("rawKeyDown")
	for range max(s.Count, 1) {
		down, up := object{"type": kind}, object{"type": "keyUp"}
		for name, value := range params {
			down[name] = value
			if name != "text" && name != "commands" {
				up[name] = value
			}
		}
		all = append(all, command{"Input.dispatchKeyEvent", down}, command{"Input.dispatchKeyEvent", up})
	}
	hold("keyUp")
	for _, m := range s.Modifiers {
		defer a.b.sends("key", held[m])()
	}
	return a.inputs(ctx, "key", key, all...)
}

// sets does what neither the mouse nor the keyboard can.
func (a *act) sets(ctx context.Context, s human.ProcedureStep) error {
	how := object{}
	switch s.Do {
	case "selectOption":
		how["options"] = append([]string{}, s.Options...)
	case "setInputFiles":
		how["file"] = true
		for _, file := range s.Files {
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
				return mismatch(human.Sayf("There is the file %s.", file), human.Sayf("It cannot be read."))
			}
		}
	case "scroll":
		if s.Target == nil {
			if err := a.there(ctx, s, false); err != nil {
				return err
			}
			at, err := a.frame(s.Frame)
			if err != nil {
				return err
			}
			a.begun = true
			return a.ask(ctx, at, "hands.scroll("+quote(s.ScrollX)+", "+quote(s.ScrollY)+", true)", nil)
		}
	}
	found, err := a.takes(ctx, s, how)
	if err != nil {
		return err
	}
	a.begun = s.Do != "pick"
	switch s.Do {
	case "selectOption":
		return a.ask(ctx, found.at, "hands.choose("+quote(how["options"])+")", nil)
	case "scroll":
		return a.ask(ctx, found.at, "hands.scroll("+quote(s.ScrollX)+", "+quote(s.ScrollY)+")", nil)
	case "setInputFiles":
		return a.uploads(ctx, found, s.Files)
	case "pick":
		return a.picks(ctx, found, s)
	}
	what := append(slices.Clone(s.Options), "", "")
	err = a.during(ctx, asked, func(ctx context.Context, t *tab) error {
		return t.conn.call(ctx, found.at.session, "Runtime.evaluate", object{
			"expression": "hands.play(" + quote(what[0]) + ", " + quote(what[1]) + ")", "contextId": found.at.contextID, "userGesture": true, "silent": true,
		}, nil)
	})
	return failed(err)
}

func (a *act) uploads(ctx context.Context, found *spot, files []string) error {
	var element struct {
		Result struct {
			ID string `json:"objectId"`
		} `json:"result"`
	}
	err := a.call(ctx, found.at.session, "Runtime.evaluate", object{"expression": "hands.element()", "contextId": found.at.contextID, "silent": true}, &element)
	if err == nil {
		err = a.call(ctx, found.at.session, "DOM.setFileInputFiles", object{"files": files, "objectId": element.Result.ID}, nil)
	}
	return failed(err)
}

func (a *act) picks(ctx context.Context, found *spot, s human.ProcedureStep) error {
	kind := s.Take
	if kind == "" {
		kind = human.TakeElement
	}
	var got *taken
	var raw json.RawMessage
	take := func() error { return a.ask(ctx, found.at, "hands.take("+quote(kind)+")", &raw) }
	// What still changes, such as an amount that counts up, is not what a person would have read.
	for before := ""; ; before = string(raw) {
		if err := take(); err != nil {
			return err
		}
		if string(raw) == before {
			break
		}
		if before != "" && a.b.now() >= a.until {
			return mismatch(human.Sayf("%s stays as it is.", found.Words), human.Sayf("It keeps changing."))
		}
		if err := rests(ctx, atRest); err != nil {
			return err
		}
	}
	if string(raw) == "true" || json.Unmarshal(raw, &got) != nil {
		return mismatch(human.Sayf("There is a %s at %s.", kind, found.Words), human.Sayf("There is none."))
	}
	places := a.t.places()
	i := slices.IndexFunc(places, func(p place) bool { return p.id == found.at.id })
	if i < 0 {
		return mismatch(human.Sayf("The page answers."), human.Sayf("It was reloaded or has failed."))
	}
	pick, bounds := a.b.picked(ctx, a.t, places, i, got, human.PickRequest{Field: s.Output, Take: kind})
	a.did.Text, a.did.Rows, a.did.Picked = pick.Text, pick.Rows, bounds
	return nil
}

// drags presses on one element, moves to another, and releases there. What the browser itself drags is handed to it.
func (a *act) drags(ctx context.Context, s human.ProcedureStep) error {
	if s.To == nil {
		return human.Errorf(human.Invalid, "A step of the kind %q needs a target.", s.Do)
	}
	ends := object{"point": true, "hover": true}
	if _, err := a.find(ctx, s, s.To, ends); err != nil { // scrolls it into sight
		return err
	}
	from, err := a.takes(ctx, s, placed(s, object{}))
	if err != nil {
		return err
	}
	ends["still"] = true
	to, err := a.find(ctx, s, s.To, ends)
	if err != nil {
		return err
	}
	b, session := a.b, a.t.session
	if err := a.call(ctx, session, "Input.setInterceptDrags", object{"enabled": true}, nil); err != nil {
		return failed(err)
	}
	defer a.t.conn.send(session, "Input.setInterceptDrags", object{"enabled": false})
	select {
	case <-b.hands.dragged:
	default:
	}
	defer b.sends("drag", "")()
	bits := modifierBits(s)
	held := object{"button": "left", "buttons": 1, "modifiers": bits}
	moves := []command{mouse("mouseMoved", from.X, from.Y, object{"modifiers": bits}), mouse("mousePressed", from.X, from.Y, object{"button": "left", "buttons": 1, "clickCount": 1, "modifiers": bits})}
	const steps = 8
	for i := 1.0; i <= steps; i++ {
		moves = append(moves, mouse("mouseMoved", from.X+(to.X-from.X)*i/steps, from.Y+(to.Y-from.Y)*i/steps, held))
	}
	if err := a.inputs(ctx, "drag", "", moves...); err != nil {
		return err
	}
	var lifted bool
	if err := a.ask(ctx, from.at, "hands.lifted()", &lifted); err != nil {
		return err
	}
	release := mouse("mouseReleased", to.X, to.Y, object{"button": "left", "clickCount": 1, "modifiers": bits})
	if !lifted {
		return a.inputs(ctx, "drag", "", release)
	}
	var data struct {
		Data json.RawMessage `json:"data"`
	}
	timer := time.NewTimer(liftWithin)
	defer timer.Stop()
	select {
	case raw := <-b.hands.dragged:
		if err := json.Unmarshal(raw, &data); err != nil {
			return failed(err)
		}
	case <-timer.C:
		return errors.Join(a.inputs(ctx, "drag", "", release), mismatch(human.Sayf("The browser does it."), human.Sayf("It drags nothing.")))
	case <-ctx.Done():
		return ctx.Err()
	}
	var drops []command
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		drops = append(drops, command{"Input.dispatchDragEvent", object{"type": kind, "x": to.X, "y": to.Y, "data": data.Data, "modifiers": bits}})
	}
	return a.inputs(ctx, "drag", "", append(drops, release)...)
}

// goes has the tab show another page, and waits until its document is interactive.
func (a *act) goes(ctx context.Context, s human.ProcedureStep) error {
	if err := a.there(ctx, s, true); err != nil {
		return err
	}
	t, before := a.t, a.t.places()[0]
	var method string
	params := object{}
	kind := navigation{kind: "reload", at: a.b.now()}
	switch s.Do {
	case "navigate":
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" { // a file of this computer must not be read
			return mismatch(human.Sayf("The address begins with http or https."), human.Sayf("It is %s.", s.URL))
		}
		method, params["url"], params["transitionType"] = "Page.navigate", s.URL, "typed"
		kind.kind = "address"
	case "reload":
		method = "Page.reload"
	default:
		by := map[string]int{"back": -1, "forward": 1}[s.Do]
		var past struct {
			At      int `json:"currentIndex"`
			Entries []struct {
				ID int `json:"id"`
			} `json:"entries"`
		}
		if err := a.call(ctx, t.session, "Page.getNavigationHistory", nil, &past); err != nil {
			return failed(err)
		}
		if i := past.At + by; i < 0 || i >= len(past.Entries) {
			return mismatch(human.Sayf("There is a page to go to in the history."), human.Sayf("There is none."))
		}
		method, params["entryId"] = "Page.navigateToHistoryEntry", past.Entries[past.At+by].ID
		kind.kind = "back_forward"
	}
	var answer struct {
		Loader string `json:"loaderId"`
		Failed string `json:"errorText"`
	}
	t.b.later(func() { t.nav = kind })
	a.begun = true
	if err := a.call(ctx, t.session, method, params, &answer); err != nil {
		return failed(err)
	}
	switch {
	case answer.Failed == "net::ERR_ABORTED": // it became a download, or another page took its place
		return nil
	case answer.Failed != "":
		return mismatch(human.Sayf("The page %s opens.", t.b.maskURL(s.URL)), human.Sayf("It does not: %s", answer.Failed))
	case s.Do == "navigate" && answer.Loader == "":
		return nil // another place on the same page
	}
	for {
		now := t.places()[0]
		moved := now.contextID != before.contextID || now.url != before.url
		var state string
		if moved && !t.goesElsewhere() && a.evaluate(ctx, now, "document.readyState", &state) == nil && state != "loading" {
			return nil
		}
		if err := a.dialogs(); err != nil {
			return err
		}
		if !a.pause(ctx) {
			return mismatch(human.Sayf("The page is loaded."), human.Sayf("It is still loading."))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// turns brings a tab to the front, or closes it.
func (a *act) turns(ctx context.Context, s human.ProcedureStep) error {
	if err := a.there(ctx, s, true); err != nil {
		return err
	}
	a.begun = true
	if s.Do == "switchPage" {
		return failed(a.call(ctx, a.t.session, "Page.bringToFront", nil, nil))
	}
	if err := a.call(ctx, a.t.session, "Page.close", nil, nil); err != nil && !errors.Is(err, errDetached) {
		return failed(err)
	}
	gone := make(chan error, 1)
	stop := context.AfterFunc(a.t.ctx, func() { gone <- nil })
	defer stop()
	return a.await(ctx, takenIn, gone)
}
