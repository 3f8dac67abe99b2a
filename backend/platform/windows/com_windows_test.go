package windows

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/go-ole/go-ole"
	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Here UI Automation is played by tables of functions in this process, so that what is asked of it, what is made of
// the answers, and that every object is released again, can be seen without it.

// A played object counts who holds it. Its first field is where callers find its methods.
type played struct {
	com
	table           [128]uintptr
	held            atomic.Int32
	role            int32
	name, value     string
	bounds          rect
	secret, focused int32
	pid             int32
	parent          *played
	hangs           chan struct{}
}

const (
	notImplemented = 0x80004001
	notFound       = 0x80131000
)

func (p *played) give(out **com) uintptr {
	if p == nil {
		*out = nil
		return 0
	}
	p.held.Add(1)
	*out = &p.com
	return 0
}

func bstr(s string) *uint16 {
	return (*uint16)(unsafe.Pointer(ole.SysAllocStringLen(s)))
}

// fixture is what the automation sees: all objects, and the answers to its questions.
type fixture struct {
	client, walker, request, pattern *played
	under, focus                     *played
	wanted                           []uintptr
}

// The callbacks are made once; each finds its object by the pointer it is called with.
var (
	theFixture atomic.Pointer[fixture]

	onNothing = syscall.NewCallback(func(uintptr) uintptr { return notImplemented })
	onRetain  = syscall.NewCallback(func(p *played) uintptr { return uintptr(p.held.Add(1)) })
	onRelease = syscall.NewCallback(func(p *played) uintptr { return uintptr(p.held.Add(-1)) })
	onAs      = syscall.NewCallback(func(p *played, _ *ole.GUID, out **com) uintptr { return p.give(out) })
	onRoot    = syscall.NewCallback(func(_ *played, out **com) uintptr { return theFixture.Load().under.give(out) })
	onPoint   = syscall.NewCallback(func(_ *played, at uintptr, _ uintptr, out **com) uintptr {
		u := theFixture.Load().under
		if x := int32(at); x < 0 || u == nil {
			return notFound
		}
		if u.hangs != nil {
			<-u.hangs
		}
		return u.give(out)
	})
	onFocused = syscall.NewCallback(func(_ *played, _ uintptr, out **com) uintptr { return theFixture.Load().focus.give(out) })
	onParent  = syscall.NewCallback(func(_ *played, of *played, _ uintptr, out **com) uintptr { return of.parent.give(out) })
	onWant    = syscall.NewCallback(func(_ *played, property uintptr) uintptr {
		theFixture.Load().wanted = append(theFixture.Load().wanted, property)
		return 0
	})
	onType    = syscall.NewCallback(func(p *played, out *int32) uintptr { *out = p.role; return 0 })
	onSecret  = syscall.NewCallback(func(p *played, out *int32) uintptr { *out = p.secret; return 0 })
	onHas     = syscall.NewCallback(func(p *played, out *int32) uintptr { *out = p.focused; return 0 })
	onEnabled = syscall.NewCallback(func(p *played, out *int32) uintptr { *out = 1; return 0 })
	onPID     = syscall.NewCallback(func(p *played, out *int32) uintptr { *out = p.pid; return 0 })
	onName    = syscall.NewCallback(func(p *played, out **uint16) uintptr { *out = bstr(p.name); return 0 })
	onBounds  = syscall.NewCallback(func(p *played, out *rect) uintptr { *out = p.bounds; return 0 })
	onPattern = syscall.NewCallback(func(p *played, id uintptr, out **com) uintptr {
		if id != valuePattern {
			return notFound
		}
		theFixture.Load().pattern.value = p.value
		return theFixture.Load().pattern.give(out)
	})
	onValue = syscall.NewCallback(func(p *played, out **uint16) uintptr { *out = bstr(p.value); return 0 })
)

func play(p *played, methods map[int]uintptr) *played {
	for i := range p.table {
		p.table[i] = onNothing
	}
	p.table[0], p.table[1], p.table[2] = onAs, onRetain, onRelease
	for i, m := range methods {
		p.table[i] = m
	}
	p.methods = &p.table
	return p
}

func playElement(p *played) *played {
	return play(p, map[int]uintptr{cachedControlType: onType, cachedName: onName, cachedBounds: onBounds, cachedIsPassword: onSecret,
		currentIsPassword: onSecret, cachedHasFocus: onHas, cachedIsEnabled: onEnabled, cachedProcess: onPID, currentPattern: onPattern})
}

// rig is Elements before a fixture. What is held of its objects must be nothing once it is closed.
func rig(t *testing.T, d *fixture, objects ...*played) *Elements {
	t.Helper()
	d.client = play(&played{}, map[int]uintptr{clientGetRoot: onRoot, clientFromPointCached: onPoint, clientFocusedCached: onFocused})
	d.walker = play(&played{}, map[int]uintptr{walkerParentCached: onParent})
	d.request = play(&played{}, map[int]uintptr{requestAddProperty: onWant})
	d.pattern = play(&played{}, map[int]uintptr{valueCurrent: onValue})
	theFixture.Store(d)
	e := NewElements(func() (time.Time, int64) { return time.Now(), time.Now().UnixNano() })
	e.connect = func() (*automation, error) {
		const multithreaded = 0
		if err := ole.CoInitializeEx(0, multithreaded); err != nil {
			return nil, err
		}
		a := &automation{}
		for out, p := range map[**com]*played{&a.client: d.client, &a.walker: d.walker, &a.want: d.request} {
			p.give(out)
		}
		return a, nil
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		for i, p := range append(objects, d.client, d.walker, d.request, d.pattern) {
			if n := p.held.Load(); n != 0 {
				t.Errorf("object %d (%s) is held %d times", i, p.name, n)
			}
		}
	})
	return e
}

func TestElementAtAPoint(t *testing.T) {
	window := playElement(&played{role: 50032, name: "Editor", bounds: rect{0, 0, 800, 600}})
	bar := playElement(&played{role: 50021, name: "Bar", parent: window})
	button := playElement(&played{role: 50000, name: "Speichern 保存", bounds: rect{-100, 20, -10, 50}, parent: bar, focused: 1})
	e := rig(t, &fixture{under: button}, window, bar, button)
	// Left of the main display, where x is negative: the played fixture takes it only as it should come.
	button.bounds = rect{10, -20, 100, 50}
	got, err := e.At(t.Context(), 50, -10, record.Placed{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Role != "button" || got.Name != "Speichern 保存" || got.Bounds != (human.Bounds{X: 10, Y: -20, W: 90, H: 70}) || got.Secret || len(got.States) != 1 {
		t.Errorf("it is %+v", got)
	}
	if len(got.Ancestry) != 2 || got.Ancestry[0].Role != "toolbar" || got.Ancestry[1].Name != "Editor" {
		t.Errorf("it is in %+v", got.Ancestry)
	}
	if _, err := e.At(t.Context(), 500, 500, record.Placed{}); human.KindOf(err) != human.NotFound {
		t.Errorf("beside it there is %v", err)
	}
	if _, err := e.At(t.Context(), -5, 0, record.Placed{}); human.KindOf(err) != human.NotFound {
		t.Errorf("outside there is %v", err)
	}
}

func TestSecretFieldIsNotRead(t *testing.T) {
	field := playElement(&played{role: 50004, name: "Name", value: "Anna", pid: 7})
	e := rig(t, &fixture{focus: field}, field)
	got, err := e.Focused(t.Context(), record.Placed{App: human.App{PID: 7}})
	if err != nil || got.Role != "textbox" || got.Secret {
		t.Fatalf("it is %+v: %v", got, err)
	}
	if text, err := e.Value(t.Context(), got); err != nil || text != "Anna" {
		t.Errorf("its text is %q: %v", text, err)
	}
	field.secret = 1 // it became one for passwords meanwhile
	if text, err := e.Value(t.Context(), got); human.KindOf(err) != human.Denied {
		t.Errorf("its text is %q: %v", text, err)
	}
	if got, err = e.Focused(t.Context(), record.Placed{}); err != nil || !got.Secret {
		t.Errorf("it is %+v: %v", got, err)
	}
	if _, err := e.Focused(t.Context(), record.Placed{App: human.App{PID: 8}}); human.KindOf(err) != human.NotFound {
		t.Errorf("in another application there is %v", err)
	}
}

// One that does not answer holds up neither the others nor whoever asks, and is left alone for a while.
func TestAnApplicationThatDoesNotAnswer(t *testing.T) {
	hangs := make(chan struct{})
	stuck := playElement(&played{role: 50000, name: "stuck", bounds: rect{0, 0, 9, 9}, hangs: hangs})
	field := playElement(&played{role: 50004, name: "alive"})
	e := rig(t, &fixture{under: stuck, focus: field}, stuck, field)
	defer close(hangs)
	if _, err := e.Focused(t.Context(), record.Placed{}); err != nil { // the threads have begun: that, too, takes time
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.At(ctx, 1, 1, record.Placed{App: human.App{PID: 9}}); human.KindOf(err) != human.Unavailable {
		t.Errorf("said %v", err)
	}
	began := time.Now()
	if _, err := e.At(t.Context(), 1, 1, record.Placed{App: human.App{PID: 9}}); human.KindOf(err) != human.Unavailable || time.Since(began) > time.Second {
		t.Errorf("asked again at once, it said %v after %v", err, time.Since(began))
	}
	if got, err := e.Focused(t.Context(), record.Placed{}); err != nil || got.Name != "alive" {
		t.Errorf("another is %+v: %v", got, err)
	}
}

func TestOnlyTheLastElementsAreKept(t *testing.T) {
	field := playElement(&played{role: 50004, value: "x"})
	e := rig(t, &fixture{focus: field}, field)
	first, err := e.Focused(t.Context(), record.Placed{})
	if err != nil {
		t.Fatal(err)
	}
	for range kept {
		if _, err := e.Focused(t.Context(), record.Placed{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Value(t.Context(), first); human.KindOf(err) != human.NotFound {
		t.Errorf("said %v", err)
	}
}

func TestIntegrity(t *testing.T) {
	level, err := integrity(windows.GetCurrentProcessId())
	if err != nil || level < 0x1000 || level > 0x4000 {
		t.Errorf("ours is %#x: %v", level, err)
	}
	var p processes
	if p.above(windows.GetCurrentProcessId()) {
		t.Error("we are above ourselves")
	}
}

func TestDeadKeys(t *testing.T) {
	for _, tt := range []struct {
		dead rune
		text string
		want string
	}{{0, "e", "e"}, {'´', "e", "é"}, {'^', "O", "Ô"}, {'¨', " ", "¨"}, {'~', "x", "~x"}, {'€', "a", "€a"}, {'ˇ', "s", "š"}} {
		if got := composed(tt.dead, tt.text); got != tt.want {
			t.Errorf("%c and %s make %s, not %s", tt.dead, tt.text, got, tt.want)
		}
	}
}

// A character made with AltGr is text: with its modifiers it would be taken for a command, and stored with its name.
func TestTextOfAltGrHasNoModifiers(t *testing.T) {
	r := inputRun{held: heldRMenu | heldLShift}
	if got := r.modifiers("€"); len(got) != 1 || got[0] != "shift" {
		t.Errorf("modifiers are %v", got)
	}
	if got := r.modifiers(""); len(got) != 2 {
		t.Errorf("modifiers are %v", got)
	}
}
