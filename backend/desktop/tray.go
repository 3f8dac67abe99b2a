package desktop

// A Tray describes the icon in the panel. The texts are the operator's language's; Count says how many
// ring, for the menu and the tooltip.
type Tray struct {
	Open, Quit     string
	Count          func(pending int) string
	OnOpen, OnQuit func()
}
