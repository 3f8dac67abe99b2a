package macos

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	answerIn = 0.5 // seconds an application has for each question
	kept     = 64  // elements whose values may be asked for
	maxDepth = 24  // of an ancestry
	maxValue = 64 << 10
)

// Elements is a record.Elements on the system's accessibility. Where the focus goes is asked five times a second.
type Elements struct {
	clock record.Clock

	mu    sync.Mutex
	refs  map[string]ref
	order []string // of refs, the oldest first
	next  uint64
}

// NewElements makes one.
func NewElements(clock record.Clock) *Elements {
	return &Elements{clock: clock, refs: map[string]ref{}}
}

// Check says whether the operator has allowed it.
func (e *Elements) Check(context.Context) human.SourceState {
	return permitted(human.SourceState{Source: human.ElementSource, Status: "complete"},
		func() bool { return system.AXIsProcessTrusted() }, "see which button or field is used", "Accessibility")
}

// At returns the innermost element at a point; see record.Elements.
func (e *Elements) At(ctx context.Context, x, y int, _ record.Placed) (human.Element, error) {
	return e.look(ctx, func(all ref) (found ref) {
		if system.AXElementAtPosition(all, float32(x), float32(y), &found) != 0 {
			return 0
		}
		return found
	}, func(is human.Element) bool { return is.Bounds.Contains(x, y) })
}

// Focused returns the element that has the keyboard; see record.Elements.
func (e *Elements) Focused(ctx context.Context, in record.Placed) (human.Element, error) {
	return e.look(ctx, func(all ref) ref {
		found := attribute(all, "AXFocusedUIElement")
		var pid int32
		if found != 0 && in.App.PID != 0 && system.AXGetPid(found, &pid) == 0 && int(pid) != in.App.PID {
			system.CFRelease(found)
			return 0
		}
		return found
	}, func(human.Element) bool { return true })
}

// look finds an element and describes it, on a goroutine of its own: the application's time to answer is bounded,
// ctx may be shorter.
func (e *Elements) look(ctx context.Context, find func(all ref) ref, fits func(human.Element) bool) (human.Element, error) {
	if err := load(); err != nil {
		return human.Element{}, err
	}
	type answer struct {
		element human.Element
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		pooled(func() {
			all := system.AXCreateSystemWide()
			defer system.CFRelease(all)
			_ = system.AXSetTimeout(all, answerIn)
			found := find(all)
			if found == 0 {
				a.err = human.Errorf(human.NotFound, "There is no such element.")
				return
			}
			defer system.CFRelease(found)
			if a.element = e.describe(found); !fits(a.element) {
				a.element, a.err = human.Element{}, human.Errorf(human.NotFound, "There is no such element.")
			}
		})
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.element, a.err
	case <-ctx.Done():
		return human.Element{}, human.Wrap(human.Unavailable, ctx.Err(), "The application does not answer.")
	}
}

// Value returns the text in an element; see record.Elements. NotFound once 64 others have been looked up since.
func (e *Elements) Value(ctx context.Context, element human.Element) (string, error) {
	if element.Secret {
		return "", human.Errorf(human.Denied, "The text of a password field is not read.")
	}
	e.mu.Lock()
	found := e.refs[element.Ref]
	if found != 0 {
		system.CFRetain(found)
	}
	e.mu.Unlock()
	if found == 0 {
		return "", human.Errorf(human.NotFound, "The element is not known any more.")
	}
	type answer struct {
		text   string
		secret bool
	}
	answers := make(chan answer, 1)
	go pooled(func() {
		defer system.CFRelease(found)
		if secret(found) {
			answers <- answer{secret: true}
			return
		}
		s := attributeText(found, "AXValue")
		answers <- answer{text: strings.ToValidUTF8(s[:min(len(s), maxValue)], "")}
	})
	select {
	case a := <-answers:
		if a.secret {
			return "", human.Errorf(human.Denied, "The text of a password field is not read.")
		}
		return a.text, nil
	case <-ctx.Done():
		return "", human.Wrap(human.Unavailable, ctx.Err(), "The application does not answer.")
	}
}

// Run tells where the keyboard goes; see record.Elements.
func (e *Elements) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error) {
	if err := load(); err != nil {
		return 0, err
	}
	now := monotonic(e.clock)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var last human.Element
	ready()
	for {
		select {
		case <-ctx.Done():
			return seen, nil
		case <-ticker.C:
		}
		at := now()
		element, err := e.Focused(ctx, record.Placed{})
		if err != nil || element.Role == last.Role && element.Name == last.Name && element.Bounds == last.Bounds {
			continue
		}
		last = element
		seen++
		emit(human.RecordedEvent{At: at, Source: human.ElementSource, Type: human.FocusMoved, Element: &element})
	}
}

// attribute reads one; to be released. 0 when there is none.
func attribute(element ref, key string) ref {
	var value ref
	if system.AXCopyAttribute(element, name(key), &value) != 0 {
		return 0
	}
	return value
}

func attributeText(element ref, key string) string {
	value := attribute(element, key)
	if value == 0 {
		return ""
	}
	defer system.CFRelease(value)
	return text(value)
}

func truth(element ref, key string) (is, known bool) {
	value := attribute(element, key)
	if value == 0 {
		return false, false
	}
	defer system.CFRelease(value)
	if system.CFGetTypeID(value) != system.CFBooleanGetTypeID() {
		return false, false
	}
	return system.CFBooleanGetValue(value), true
}

func secret(element ref) bool { return attributeText(element, "AXSubrole") == "AXSecureTextField" }

func (e *Elements) describe(found ref) human.Element {
	element := human.Element{Role: role(found), Name: label(found), Bounds: place(found), Secret: secret(found)}
	if is, _ := truth(found, "AXFocused"); is {
		element.States = append(element.States, "focused")
	}
	if is, known := truth(found, "AXEnabled"); known && !is {
		element.States = append(element.States, "disabled")
	}
	switch attributeText(found, "AXRole") {
	case "AXTextField", "AXTextArea", "AXComboBox":
		element.States = append(element.States, "editable")
	}
	child := found
	system.CFRetain(child)
	for range maxDepth {
		parent := attribute(child, "AXParent")
		system.CFRelease(child)
		if child = parent; parent == 0 {
			break
		}
		up := human.Element{Role: role(parent), Name: label(parent)}
		element.Ancestry = append(element.Ancestry, up)
		if up.Role == "window" {
			break
		}
	}
	if child != 0 {
		system.CFRelease(child)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	element.Ref = strconv.FormatUint(e.next, 10)
	e.refs[element.Ref] = system.CFRetain(found)
	e.order = append(e.order, element.Ref)
	if len(e.order) > kept {
		system.CFRelease(e.refs[e.order[0]])
		delete(e.refs, e.order[0])
		e.order = e.order[1:]
	}
	return element
}

func place(element ref) human.Bounds {
	const pointKind, sizeKind = 1, 2
	var r cgRect
	if at := attribute(element, "AXPosition"); at != 0 {
		_ = system.AXValueGetValue(at, pointKind, unsafe.Pointer(&r.at))
		system.CFRelease(at)
	}
	if size := attribute(element, "AXSize"); size != 0 {
		_ = system.AXValueGetValue(size, sizeKind, unsafe.Pointer(&r.size))
		system.CFRelease(size)
	}
	return rectangle(r)
}

// label is an element's name: its own, or that of the text beside it, never what stands in a field.
func label(element ref) string {
	for _, key := range []string{"AXTitle", "AXDescription"} {
		if s := attributeText(element, key); s != "" {
			return s
		}
	}
	if beside := attribute(element, "AXTitleUIElement"); beside != 0 {
		defer system.CFRelease(beside)
		for _, key := range []string{"AXValue", "AXTitle"} {
			if s := attributeText(beside, key); s != "" {
				return s
			}
		}
	}
	if attributeText(element, "AXRole") == "AXStaticText" {
		return attributeText(element, "AXValue")
	}
	return attributeText(element, "AXPlaceholderValue")
}

func role(element ref) string {
	own := attributeText(element, "AXRole")
	switch attributeText(element, "AXSubrole") {
	case "AXSearchField":
		return "searchbox"
	case "AXTabButton":
		return "tab"
	case "AXSwitch":
		return "switch"
	case "AXDialog", "AXSystemDialog":
		return "dialog"
	}
	if r, ok := roles[own]; ok {
		return r
	}
	return "generic"
}

// roles are ARIA's for the system's, and its own words where ARIA has none.
var roles = map[string]string{
	"AXApplication": "application", "AXWindow": "window", "AXSheet": "dialog", "AXButton": "button", "AXMenuButton": "button",
	"AXPopUpButton": "combobox", "AXComboBox": "combobox", "AXCheckBox": "checkbox", "AXRadioButton": "radio",
	"AXRadioGroup": "radiogroup", "AXTextField": "textbox", "AXTextArea": "textbox", "AXStaticText": "text", "AXLink": "link",
	"AXImage": "img", "AXList": "list", "AXOutline": "tree", "AXTable": "table", "AXRow": "row", "AXColumn": "column",
	"AXCell": "cell", "AXMenuBar": "menubar", "AXMenuBarItem": "menuitem", "AXMenu": "menu", "AXMenuItem": "menuitem",
	"AXTabGroup": "tablist", "AXToolbar": "toolbar", "AXSlider": "slider", "AXIncrementor": "spinbutton",
	"AXProgressIndicator": "progressbar", "AXScrollBar": "scrollbar", "AXScrollArea": "scrollarea", "AXSplitGroup": "group",
	"AXSplitter": "separator", "AXGroup": "group", "AXWebArea": "document", "AXHeading": "heading", "AXDisclosureTriangle": "button",
}
