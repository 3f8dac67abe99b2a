package windows

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/go-ole/go-ole"
	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	lookUps  = 4                // that may be under way at once; one that an application holds up keeps one busy
	patience = 3 * time.Second  // for a look-up no one bounds
	avoidFor = 10 * time.Second // how long an application that held one up is not asked
	kept     = 64               // elements whose values may be asked for
	maxDepth = 24               // of an ancestry
	maxValue = 64 << 10         // bytes of a value
)

// Elements is a record.Elements on UI Automation. Roles are ARIA's by the control's type. Look-ups run on threads of
// their own, which begin with the first one and end with Close; an application that does not answer is not asked again
// for ten seconds.
type Elements struct {
	clock   record.Clock
	connect func() (*automation, error) // replaced in tests

	mu      sync.Mutex
	jobs    chan func(*automation)
	stop    chan struct{} // closed to end the threads
	broken  error
	workers sync.WaitGroup
	avoid   map[int]time.Time // processes that do not answer, until when
	refs    map[string]*com
	order   []string // of refs, the oldest first
	next    uint64
}

// NewElements makes one. It starts no thread yet.
func NewElements(clock record.Clock) *Elements {
	seePixels()
	return &Elements{clock: clock, connect: newAutomation, avoid: map[int]time.Time{}, refs: map[string]*com{}}
}

// Close ends the threads of the look-ups. Look-ups may begin again afterwards. It waits for an application that holds
// one up.
func (e *Elements) Close() error {
	e.mu.Lock()
	if e.jobs != nil {
		close(e.stop)
	}
	e.jobs, e.broken = nil, nil
	e.mu.Unlock()
	e.workers.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.refs {
		c.release()
	}
	clear(e.refs)
	e.order = nil
	return nil
}

// Check asks for the desktop's root element.
func (e *Elements) Check(ctx context.Context) human.SourceState {
	state := human.SourceState{Source: human.ElementSource, Status: "complete"}
	if _, err := ask(ctx, e, 0, func(a *automation) (struct{}, error) {
		root, err := a.client.object(clientGetRoot)
		root.release()
		return struct{}{}, err
	}); err != nil {
		state.Status, state.Code = "missing", "unsupported"
		state.Detail = "UI Automation does not work in this session: " + human.SafeText(err)
		state.Fix = "Start Deskbell in the session whose desktop is to be recorded."
	}
	return state
}

// At returns the innermost element at a point; see record.Elements.
func (e *Elements) At(ctx context.Context, x, y int, at record.Placed) (human.Element, error) {
	return ask(ctx, e, at.App.PID, func(a *automation) (human.Element, error) {
		// A POINT of two int32 is passed in one register.
		found, err := a.client.object(clientFromPointCached, uintptr(uint32(int32(x)))|uintptr(uint32(int32(y)))<<32, a.want.pointer())
		if err != nil {
			return human.Element{}, human.Wrap(human.NotFound, err, "There is no element at %d, %d.", x, y)
		}
		defer found.release()
		element := e.describe(a, found)
		if !element.Bounds.Contains(x, y) {
			return human.Element{}, human.Errorf(human.NotFound, "There is no element at %d, %d.", x, y)
		}
		return element, nil
	})
}

// Focused returns the element that has the keyboard; see record.Elements.
func (e *Elements) Focused(ctx context.Context, in record.Placed) (human.Element, error) {
	return ask(ctx, e, in.App.PID, func(a *automation) (human.Element, error) {
		found, err := a.client.object(clientFocusedCached, a.want.pointer())
		if err != nil || found == nil {
			return human.Element{}, human.Wrap(human.NotFound, err, "No element has the keyboard focus.")
		}
		defer found.release()
		if pid, err := found.number(cachedProcess); err == nil && in.App.PID != 0 && int(pid) != in.App.PID {
			return human.Element{}, human.Errorf(human.NotFound, "The keyboard focus is in another application.")
		}
		return e.describe(a, found), nil
	})
}

// Value returns the text in an element; see record.Elements. NotFound once 64 others have been looked up since.
func (e *Elements) Value(ctx context.Context, element human.Element) (string, error) {
	if element.Secret {
		return "", human.Errorf(human.Denied, "The text of a password field is not read.")
	}
	e.mu.Lock()
	found := e.refs[element.Ref]
	if found != nil {
		found.retain()
	}
	e.mu.Unlock()
	if found == nil {
		return "", human.Errorf(human.NotFound, "The element is not known any more.")
	}
	return ask(ctx, e, 0, func(*automation) (string, error) {
		defer found.release()
		if secret, err := found.number(currentIsPassword); err != nil || secret != 0 {
			return "", human.Wrap(human.Denied, err, "The text of a password field is not read.")
		}
		pattern, err := found.object(currentPattern, valuePattern)
		if err != nil || pattern == nil {
			return "", human.Wrap(human.NotFound, err, "The element has no text.")
		}
		defer pattern.release()
		value, err := pattern.as(iidValuePattern)
		if err != nil {
			return "", human.Wrap(human.NotFound, err, "The element has no text.")
		}
		defer value.release()
		text, err := value.text(valueCurrent)
		if err != nil {
			return "", human.Wrap(human.NotFound, err, "The element does not give its text.")
		}
		return strings.ToValidUTF8(text[:min(len(text), maxValue)], ""), nil
	})
}

// Run tells where the keyboard goes; see record.Elements.
func (e *Elements) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error) {
	now := monotonic(e.clock)
	// Whoever follows the focus asks about it on a goroutine of its own: the hook's thread must not wait.
	moved := make(chan int64, 1)
	var follower sync.WaitGroup
	follower.Go(func() {
		var last human.Element
		for at := range moved {
			element, err := e.focusedNow(ctx)
			if err != nil || same(element, last) {
				continue
			}
			last = element
			seen++
			emit(human.RecordedEvent{At: at, Source: human.ElementSource, Type: human.FocusMoved, Element: &element})
		}
	})
	tell := func() {
		select {
		case <-moved: // the newer one stands for both
		default:
		}
		moved <- now()
	}
	var unhook func()
	err = loop(ctx, func() (err error) {
		unhook, err = hookEvents(func(uint32, windows.HWND, int32, int32) { tell() }, [2]uint32{eventFocus, eventFocus})
		if err == nil {
			ready()
		}
		return err
	}, 0, nil, func() { unhook() })
	close(moved)
	follower.Wait()
	return seen, err
}

func (e *Elements) focusedNow(ctx context.Context) (human.Element, error) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	return e.Focused(ctx, record.Placed{App: human.App{PID: int(owner(windows.GetForegroundWindow()))}})
}

func same(a, b human.Element) bool {
	return a.Role == b.Role && a.Name == b.Name && a.Bounds == b.Bounds
}

// describe reads what was fetched with an element, and its ancestors.
func (e *Elements) describe(a *automation, found *com) human.Element {
	element := a.read(found)
	if secret, err := found.number(cachedIsPassword); err != nil || secret != 0 {
		element.Secret = true // also when it cannot be told
	}
	if is, err := found.number(cachedHasFocus); err == nil && is != 0 {
		element.States = append(element.States, "focused")
	}
	if is, err := found.number(cachedIsEnabled); err == nil && is == 0 {
		element.States = append(element.States, "disabled")
	}
	if element.Role == "textbox" {
		element.States = append(element.States, "editable")
	}
	child := found
	child.retain()
	for range maxDepth {
		parent, err := a.walker.object(walkerParentCached, child.pointer(), a.want.pointer())
		child.release()
		child = parent
		if err != nil || parent == nil {
			break
		}
		up := a.read(parent)
		element.Ancestry = append(element.Ancestry, human.Element{Role: up.Role, Name: up.Name})
		if up.Role == "window" {
			break
		}
	}
	child.release()
	element.Ref = e.keep(found)
	return element
}

// keep remembers an element for Value.
func (e *Elements) keep(found *com) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	ref := strconv.FormatUint(e.next, 10)
	found.retain()
	e.refs[ref] = found
	e.order = append(e.order, ref)
	if len(e.order) > kept {
		e.refs[e.order[0]].release()
		delete(e.refs, e.order[0])
		e.order = e.order[1:]
	}
	return ref
}

// ask runs a look-up on one of the threads, until ctx ends.
func ask[T any](ctx context.Context, e *Elements, pid int, look func(*automation) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	jobs, stop, err := e.begin(pid)
	if err != nil {
		return none, err
	}
	answers := make(chan answer, 1)
	select {
	case jobs <- func(a *automation) {
		if ctx.Err() != nil {
			return
		}
		value, err := look(a)
		answers <- answer{value, err}
	}:
	case <-stop:
		return none, human.Errorf(human.Unavailable, "Elements are no longer looked up.")
	case <-ctx.Done():
		return none, human.Wrap(human.Unavailable, ctx.Err(), "Other look-ups of elements are not finished.")
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		if pid != 0 {
			e.mu.Lock()
			e.avoid[pid] = time.Now().Add(avoidFor)
			e.mu.Unlock()
		}
		return none, human.Wrap(human.Unavailable, ctx.Err(), "The application does not answer.")
	}
}

// begin starts the threads when there are none, and says no for an application that does not answer.
func (e *Elements) begin(pid int) (jobs chan<- func(*automation), stop <-chan struct{}, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if until, ok := e.avoid[pid]; ok {
		if time.Now().Before(until) {
			return nil, nil, human.Errorf(human.Unavailable, "The application did not answer a moment ago.")
		}
		delete(e.avoid, pid)
	}
	if e.jobs == nil && e.broken == nil {
		e.jobs, e.stop = make(chan func(*automation)), make(chan struct{})
		started := make(chan error)
		for range lookUps {
			jobs, stop := e.jobs, e.stop
			e.workers.Go(func() { e.work(jobs, stop, started) })
		}
		for range lookUps {
			if err := <-started; err != nil {
				e.broken = err
			}
		}
		if e.broken != nil {
			close(e.stop)
			e.jobs = nil
		}
	}
	return e.jobs, e.stop, e.broken
}

// work does look-ups on a thread of its own, until stop.
func (e *Elements) work(jobs <-chan func(*automation), stop <-chan struct{}, started chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, and COM with it
	a, err := e.connect()
	started <- err
	if err != nil {
		return
	}
	defer a.close()
	for {
		select {
		case job := <-jobs:
			job(a)
		case <-stop:
			return
		}
	}
}

// Methods by their place in the tables of uiautomationclient.h.
const (
	clientGetRoot         = 5
	clientFromPointCached = 11
	clientFocusedCached   = 12
	clientControlWalker   = 14 // over what people see as controls
	clientNewRequest      = 20

	requestAddProperty = 3

	walkerParentCached = 9

	currentPattern    = 16
	currentIsPassword = 35
	cachedProcess     = 52
	cachedControlType = 53
	cachedName        = 55
	cachedHasFocus    = 58
	cachedIsEnabled   = 60
	cachedIsPassword  = 67
	cachedBounds      = 75

	valueCurrent = 4
)

// Properties and patterns, from the same.
const (
	propertyBounds     = 30001
	propertyProcess    = 30002
	propertyType       = 30003
	propertyName       = 30005
	propertyFocus      = 30008
	propertyEnabled    = 30010
	propertyIsPassword = 30019

	valuePattern = 10002
)

var (
	clsidAutomation = ole.NewGUID("{ff48dba4-60ef-4201-aa87-54103eef594e}")
	iidAutomation   = ole.NewGUID("{30cbe57d-d9d0-452a-ab13-7ac5ac4825ee}")
	iidValuePattern = ole.NewGUID("{a94cd8b1-0844-4cd6-9d2d-640537ab39e9}")
)

// An automation is one thread's way to UI Automation. Everything wanted of an element comes with it in one call:
// each question asked afterwards would be a call into the application.
type automation struct{ client, walker, want *com }

func newAutomation() (*automation, error) {
	const multithreaded = 0
	if err := ole.CoInitializeEx(0, multithreaded); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "COM does not start.")
	}
	unknown, err := ole.CreateInstance(clsidAutomation, iidAutomation)
	if err != nil {
		ole.CoUninitialize()
		return nil, human.Wrap(human.Unavailable, err, "UI Automation is missing.")
	}
	a := &automation{client: (*com)(unsafe.Pointer(unknown))}
	if a.walker, err = a.client.object(clientControlWalker); err == nil {
		a.want, err = a.client.object(clientNewRequest)
	}
	for _, p := range []uintptr{propertyBounds, propertyProcess, propertyType, propertyName, propertyFocus, propertyEnabled, propertyIsPassword} {
		if err == nil {
			err = a.want.call(requestAddProperty, p)
		}
	}
	if err != nil {
		a.close()
		return nil, human.Wrap(human.Unavailable, err, "UI Automation is incomplete.")
	}
	return a, nil
}

func (a *automation) close() {
	a.want.release()
	a.walker.release()
	a.client.release()
	ole.CoUninitialize()
}

func (c *com) pointer() uintptr { return uintptr(unsafe.Pointer(c)) }

func (a *automation) read(found *com) human.Element {
	var element human.Element
	kind, _ := found.number(cachedControlType)
	element.Role = roles[kind]
	if element.Role == "" {
		element.Role = "generic"
	}
	element.Name, _ = found.text(cachedName)
	var r rect
	if found.call(cachedBounds, uintptr(unsafe.Pointer(&r))) == nil {
		element.Bounds = human.Bounds{X: int(r.left), Y: int(r.top), W: int(r.right - r.left), H: int(r.bottom - r.top)}
	}
	return element
}

// roles are ARIA's for the types of controls, and the platform's own words where ARIA has none.
var roles = map[int32]string{
	50000: "button", 50001: "grid", 50002: "checkbox", 50003: "combobox", 50004: "textbox", 50005: "link", 50006: "img",
	50007: "listitem", 50008: "listbox", 50009: "menu", 50010: "menubar", 50011: "menuitem", 50012: "progressbar",
	50013: "radio", 50014: "scrollbar", 50015: "slider", 50016: "spinbutton", 50017: "status", 50018: "tablist",
	50019: "tab", 50020: "text", 50021: "toolbar", 50022: "tooltip", 50023: "tree", 50024: "treeitem", 50025: "generic",
	50026: "group", 50027: "thumb", 50028: "grid", 50029: "row", 50030: "document", 50031: "button", 50032: "window",
	50033: "pane", 50034: "rowgroup", 50035: "columnheader", 50036: "table", 50037: "titlebar", 50038: "separator",
	50039: "semanticzoom", 50040: "toolbar",
}
