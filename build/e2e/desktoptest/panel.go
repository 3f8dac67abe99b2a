//go:build linux

package desktoptest

import (
	"image"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

// A Panel shows tray icons: the StatusNotifierWatcher of the desktop and, at once, its host.
type Panel struct {
	d     *Desktop
	items chan dbus.Sender
	owner string
}

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	itemName    = "org.kde.StatusNotifierItem"
	menuName    = "com.canonical.dbusmenu"
)

// StartPanel adds a panel to the desktop; without one there are no tray icons.
func (d *Desktop) StartPanel() *Panel {
	d.T.Helper()
	p := &Panel{d: d, items: make(chan dbus.Sender, 4)}
	node := &introspect.Node{Name: "/StatusNotifierWatcher"}
	if err := d.Bus.Export(introspect.NewIntrospectable(node), "/StatusNotifierWatcher", "org.freedesktop.DBus.Introspectable"); err != nil {
		d.T.Fatal(err)
	}
	if err := d.Bus.Export(panelMethods{p}, "/StatusNotifierWatcher", watcherName); err != nil {
		d.T.Fatal(err)
	}
	if reply, err := d.Bus.RequestName(watcherName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		d.T.Fatal("the panel's name is taken: ", err)
	}
	return p
}

type panelMethods struct{ p *Panel }

// RegisterStatusNotifierItem is called by each icon that wants to be shown.
func (m panelMethods) RegisterStatusNotifierItem(sender dbus.Sender, path string) *dbus.Error {
	_ = m.p.d.Bus.Emit("/StatusNotifierWatcher", watcherName+".StatusNotifierItemRegistered", string(sender)+path)
	m.p.items <- sender
	return nil
}

// WaitItem waits for an icon.
func (p *Panel) WaitItem() {
	p.d.T.Helper()
	select {
	case sender := <-p.items:
		p.owner = string(sender)
	case <-time.After(Patience):
		p.d.T.Fatal("no tray icon came")
	}
}

func (p *Panel) property(name string, into any) {
	p.d.T.Helper()
	v, err := p.d.Bus.Object(p.owner, "/StatusNotifierItem").GetProperty(itemName + "." + name)
	if err == nil {
		err = dbus.Store([]any{v.Value()}, into)
	}
	if err != nil {
		p.d.T.Fatalf("the tray icon's %s: %v", name, err)
	}
}

// Tooltip is what the icon says under the pointer.
func (p *Panel) Tooltip() string {
	p.d.T.Helper()
	var tip struct {
		Icon  string
		Image []struct {
			W, H int32
			Pix  []byte
		}
		Title, Text string
	}
	p.property("ToolTip", &tip)
	return tip.Title
}

// Spoil puts nonsense in the place of the tooltip, then announces the icon as taken, as if what the program set
// meanwhile had been lost.
func (p *Panel) Spoil() {
	p.d.T.Helper()
	type pixmap struct {
		W, H int32
		Pix  []byte
	}
	spoiled := struct {
		Icon        string
		Image       []pixmap
		Title, Text string
	}{Title: "spoiled"}
	if err := p.d.Bus.Object(p.owner, "/StatusNotifierItem").SetProperty(itemName+".ToolTip", dbus.MakeVariant(spoiled)); err != nil {
		p.d.T.Fatal(err)
	}
	if err := p.d.Bus.Emit("/StatusNotifierWatcher", watcherName+".StatusNotifierItemRegistered", p.owner+"/StatusNotifierItem"); err != nil {
		p.d.T.Fatal(err)
	}
}

// Icon is its picture.
func (p *Panel) Icon() *image.NRGBA {
	p.d.T.Helper()
	var pictures []struct {
		W, H int32
		Pix  []byte
	}
	p.property("IconPixmap", &pictures)
	if len(pictures) != 1 {
		p.d.T.Fatalf("the tray icon has %d pictures", len(pictures))
	}
	one := pictures[0]
	img := image.NewNRGBA(image.Rect(0, 0, int(one.W), int(one.H)))
	for i := 0; i+3 < len(one.Pix); i += 4 { // ARGB
		copy(img.Pix[i:], []byte{one.Pix[i+1], one.Pix[i+2], one.Pix[i+3], one.Pix[i]})
	}
	return img
}

type menuLayout struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

// A MenuEntry is an entry of its menu, or a line between them, which has no label.
type MenuEntry struct {
	Label     string      `json:"label"`
	Dead      bool        `json:"dead"` // it cannot be chosen
	Checkable bool        `json:"checkable"`
	Checked   bool        `json:"checked"`
	Inner     []MenuEntry `json:"inner"` // of the menu that it opens
}

// Entries are what its menu shows, from top to bottom.
func (p *Panel) Entries() []MenuEntry {
	p.d.T.Helper()
	return p.entries(p.layout())
}

func (p *Panel) entries(of menuLayout) (all []MenuEntry) {
	p.d.T.Helper()
	for _, item := range p.children(of) {
		enabled, said := item.Properties["enabled"].Value().(bool)
		label, _ := item.Properties["label"].Value().(string)
		toggle, _ := item.Properties["toggle-type"].Value().(string)
		state, _ := item.Properties["toggle-state"].Value().(int32)
		all = append(all, MenuEntry{Label: label, Dead: said && !enabled, Checkable: toggle != "", Checked: state == 1, Inner: p.entries(item)})
	}
	return all
}

// Menu returns the ids of what its menu and the menus in it show, by label without the hot key.
func (p *Panel) Menu() map[string]int32 {
	p.d.T.Helper()
	labels := map[string]int32{}
	p.labels(p.layout(), labels)
	return labels
}

func (p *Panel) layout() (root menuLayout) {
	p.d.T.Helper()
	var revision uint32
	err := p.d.Bus.Object(p.owner, "/StatusNotifierItem/menu").Call(menuName+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root)
	if err != nil {
		p.d.T.Fatalf("the tray menu: %v", err)
	}
	return root
}

// children are what is shown of a menu.
func (p *Panel) children(of menuLayout) (shown []menuLayout) {
	p.d.T.Helper()
	for _, child := range of.Children {
		var item menuLayout
		if err := dbus.Store([]any{child.Value()}, &item); err != nil {
			p.d.T.Fatal(err)
		}
		if seen, ok := item.Properties["visible"].Value().(bool); !ok || seen {
			shown = append(shown, item)
		}
	}
	return shown
}

func (p *Panel) labels(of menuLayout, labels map[string]int32) {
	p.d.T.Helper()
	for _, item := range p.children(of) {
		if label, ok := item.Properties["label"].Value().(string); ok {
			label, _, _ = strings.Cut(label, "\t")
			labels[label] = item.ID
		}
		p.labels(item, labels)
	}
}

// Choose clicks an entry of its menu.
func (p *Panel) Choose(label string) {
	p.d.T.Helper()
	id, ok := p.Menu()[label]
	if !ok {
		p.d.T.Fatalf("the tray menu has no %q: %v", label, p.Menu())
	}
	err := p.d.Bus.Object(p.owner, "/StatusNotifierItem/menu").Call(menuName+".Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err
	if err != nil {
		p.d.T.Fatal(err)
	}
}

// Opened says that its menu is about to be read, as panels do.
func (p *Panel) Opened() {
	p.d.T.Helper()
	if err := p.d.Bus.Object(p.owner, "/StatusNotifierItem/menu").Call(menuName+".Event", 0, int32(0), "opened", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		p.d.T.Fatal(err)
	}
}

// Activate clicks the icon itself.
func (p *Panel) Activate() {
	p.d.T.Helper()
	if err := p.d.Bus.Object(p.owner, "/StatusNotifierItem").Call(itemName+".Activate", 0, int32(0), int32(0)).Err; err != nil {
		p.d.T.Fatal(err)
	}
}
