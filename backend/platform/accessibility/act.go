package accessibility

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Interfaces of AT-SPI by which something is done.
const (
	action       = "org.a11y.atspi.Action."
	editableText = "org.a11y.atspi.EditableText."
)

const (
	finds = 3 * time.Second // for a window to be looked through
	acts  = 5 * time.Second // for an application to do something
)

// Find implements record.Finder.
func (e *Elements) Find(ctx context.Context, in record.Placed, role, name, inside string) ([]human.Element, error) {
	l, cancel, err := e.within(ctx, finds)
	if err != nil {
		return nil, end(err)
	}
	defer cancel()
	f, err := l.frame(e.screen.unshadowed(in))
	if err != nil {
		return nil, end(err)
	}
	var alike, tables []node
	whole := true
	for _, from := range f.tops {
		popup := from.ref != f.node.ref && (from.role == roleWindow || from.role == rolePopupMenu) && from.shows(f.kit)
		if from.ref != f.node.ref && !popup {
			continue
		}
		whole = l.search(f.kit, toFind, from, false, func(n node, _ bool) (bool, bool) {
			if n.role.word() == role {
				alike = append(alike, n)
			}
			if n.makesCells() && slices.Contains(cells, role) {
				tables = append(tables, n)
			}
			return true, false
		}) && whole
	}
	for _, t := range tables {
		more, all := l.cells(f.kit, t, role)
		alike, whole = append(alike, more...), whole && all
	}
	var found []human.Element
	for _, n := range alike {
		el := l.describe(f.kit, f.placement, n)
		in := inside == "" || slices.ContainsFunc(el.Ancestry, func(a human.Element) bool { return a.Name == inside })
		if el.Role == role && el.Name == name && in && !slices.ContainsFunc(found, func(o human.Element) bool { return o.Ref == el.Ref }) {
			found = append(found, el)
		}
	}
	switch {
	case l.ctx.Err() != nil:
		return nil, end(l.ctx.Err())
	case !whole:
		return nil, human.Errorf(human.Exhausted, "the window has more elements than are looked through")
	}
	return found, nil
}

// cells are the roles of what a table makes an object for once it is asked.
var cells = []string{"cell", "rowheader", "listitem", "treeitem"}

// cells are those of a role in a table that makes an object for each when it is asked for them: none, and false, where it has too many.
func (l *lookup) cells(kit toolkit, table node, role string) (found []node, all bool) {
	var count dbus.Variant
	n := int32(maxChildren + 1)
	if l.property(table.ref, accessible, "ChildCount").into(&count) == nil {
		n, _ = count.Value().(int32)
	}
	if n > maxChildren {
		return nil, false
	}
	table.states[stateManages/32] &^= 1 << (stateManages % 32) // its children are asked for now
	all = l.search(kit, toFind, table, false, func(n node, _ bool) (bool, bool) {
		if n.role.word() == role {
			found = append(found, n)
		}
		return true, false
	})
	return found, all
}

// pushes are the names of actions that do what a click does, as toolkits call them.
var pushes = []string{"click", "press", "toggle", "activate"}

// pushed are the roles whose action is that of a click, and nothing less.
var pushed = []role{rolePushButton, roleToggleButton, roleCheckBox, roleRadioButton}

// Push implements record.Finder.
func (e *Elements) Push(ctx context.Context, of human.Element) (done bool, err error) {
	return e.tell(ctx, of, func(l *lookup, n node) (bool, error) {
		if !slices.Contains(pushed, n.role) {
			return false, nil
		}
		for i := range int32(4) {
			var called string
			if l.ask(n.ref, action+"GetName", i).into(&called) != nil {
				return false, nil
			}
			if slices.Contains(pushes, strings.ToLower(called)) {
				var done bool
				err := l.ask(n.ref, action+"DoAction", i).into(&done)
				return done, err
			}
		}
		return false, nil
	})
}

// Write implements record.Finder.
func (e *Elements) Write(ctx context.Context, of human.Element, text string) (done bool, err error) {
	return e.tell(ctx, of, func(l *lookup, n node) (done bool, err error) {
		if !n.role.is(typed) || !n.states.has(stateEditable) {
			return false, nil
		}
		if l.ask(n.ref, editableText+"SetTextContents", text).into(&done) != nil {
			return false, l.ctx.Err()
		}
		return done, nil
	})
}

// Focus implements record.Finder.
func (e *Elements) Focus(ctx context.Context, of human.Element) error {
	_, err := e.tell(ctx, of, func(l *lookup, n node) (done bool, err error) {
		err = l.ask(n.ref, component+"GrabFocus").into(&done)
		return done, err
	})
	return err
}

// tell has an application do something with an element that was found.
func (e *Elements) tell(ctx context.Context, of human.Element, do func(*lookup, node) (bool, error)) (bool, error) {
	l, cancel, err := e.within(ctx, acts)
	if err != nil {
		return false, end(err)
	}
	defer cancel()
	n := l.one(otherT, parseRef(of.Ref), withRole|withStates)
	if n.gone {
		return false, human.Errorf(human.NotFound, "%s %q no longer exists", of.Role, of.Name)
	}
	done, err := do(l, n)
	return done, end(err)
}

var _ record.Finder = (*Elements)(nil)
