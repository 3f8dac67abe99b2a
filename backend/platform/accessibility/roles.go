package accessibility

// A role is an AT-SPI role, by its number: some toolkits tell no name (AtspiRole in at-spi2-core's
// atspi-constants.h).
type role uint32

// The roles that the code asks for by name.
const (
	roleCheckBox      role = 7
	roleCheckMenuItem role = 8
	roleComboBox      role = 11
	roleFiller        role = 20
	roleIcon          role = 26
	roleImage         role = 27
	roleLabel         role = 29
	roleList          role = 31
	roleListItem      role = 32
	roleMenu          role = 33
	roleMenuItem      role = 35
	rolePageTab       role = 37
	rolePageTabList   role = 38
	rolePanel         role = 39
	rolePassword      role = 40
	rolePopupMenu     role = 41
	rolePushButton    role = 43
	roleScrollPane    role = 49
	roleSlider        role = 51
	roleSpinButton    role = 52
	roleTable         role = 55
	roleText          role = 61
	roleRadioButton   role = 44
	roleRadioMenuItem role = 45
	roleToggleButton  role = 62
	roleTree          role = 65
	roleTreeTable     role = 66
	roleWindow        role = 69
	roleParagraph     role = 73
	roleApplication   role = 75
	roleEntry         role = 79
	roleDocument      role = 82
	roleDocumentText  role = 94
	roleDocumentWeb   role = 95
	roleListBox       role = 98
	roleStatic        role = 116
)

// A roleKind says what the recorder makes of a role.
type roleKind struct {
	word string // ARIA's, where ARIA has it
	flags
}

type flags uint8

const (
	interactive flags = 1 << iota // what a person means when pressing anything inside of it
	passive                       // drawn inside of things that are meant
	typed                         // text can be typed into it
	titled                        // its name is what its inner labels say, where it has none of its own
)

// kinds has every role that applications were seen to use; others are called "unknown".
var kinds = map[role]roleKind{
	1:                 {"accelerator label", passive},
	2:                 {"alert", 0},
	3:                 {"animation", passive},
	4:                 {"arrow", passive},
	5:                 {"calendar", 0},
	6:                 {"canvas", passive},
	roleCheckBox:      {"checkbox", interactive | titled},
	roleCheckMenuItem: {"menuitemcheckbox", interactive | titled},
	9:                 {"color chooser", 0},
	10:                {"columnheader", interactive | titled},
	roleComboBox:      {"combobox", interactive},
	12:                {"date editor", 0},
	13:                {"desktop icon", interactive},
	14:                {"desktop frame", 0},
	15:                {"dial", 0},
	16:                {"dialog", 0},
	17:                {"directory pane", 0},
	18:                {"drawing area", 0},
	19:                {"file chooser", 0},
	roleFiller:        {"filler", passive},
	22:                {"font chooser", 0},
	23:                {"window", 0},
	24:                {"glass pane", passive},
	25:                {"html container", passive},
	roleIcon:          {"icon", passive},
	roleImage:         {"img", passive},
	28:                {"internal frame", 0},
	roleLabel:         {"label", passive},
	30:                {"layered pane", passive},
	roleList:          {"list", 0},
	roleListItem:      {"listitem", interactive | titled},
	roleMenu:          {"menu", interactive | titled},
	34:                {"menubar", 0},
	roleMenuItem:      {"menuitem", interactive | titled},
	36:                {"option pane", 0},
	rolePageTab:       {"tab", interactive | titled},
	rolePageTabList:   {"tablist", 0},
	rolePanel:         {"group", passive},
	rolePassword:      {"textbox", interactive | typed},
	rolePopupMenu:     {"menu", 0},
	42:                {"progressbar", 0},
	rolePushButton:    {"button", interactive | titled},
	roleRadioButton:   {"radio", interactive | titled},
	roleRadioMenuItem: {"menuitemradio", interactive | titled},
	46:                {"root pane", passive},
	47:                {"rowheader", interactive | titled},
	48:                {"scrollbar", 0},
	roleScrollPane:    {"scroll pane", 0},
	50:                {"separator", 0},
	roleSlider:        {"slider", 0},
	roleSpinButton:    {"spinbutton", typed},
	53:                {"split pane", 0},
	54:                {"status", 0},
	roleTable:         {"table", 0},
	56:                {"cell", interactive | titled},
	57:                {"columnheader", interactive | titled},
	58:                {"rowheader", interactive | titled},
	59:                {"tearoff menu item", interactive},
	60:                {"terminal", 0},
	roleText:          {"textbox", interactive | typed},
	roleToggleButton:  {"button", interactive | titled},
	63:                {"toolbar", 0},
	64:                {"tooltip", 0},
	roleTree:          {"tree", 0},
	roleTreeTable:     {"treegrid", 0},
	67:                {"unknown", passive},
	68:                {"viewport", 0},
	roleWindow:        {"window", 0},
	70:                {"extended", passive},
	71:                {"header", passive},
	72:                {"footer", passive},
	roleParagraph:     {"paragraph", passive},
	74:                {"ruler", 0},
	roleApplication:   {"application", 0},
	76:                {"combobox", interactive | typed}, // an autocompleting entry
	77:                {"edit bar", typed},
	78:                {"embedded", passive},
	roleEntry:         {"textbox", interactive | typed},
	80:                {"chart", 0},
	81:                {"caption", passive},
	roleDocument:      {"document", 0},
	83:                {"heading", passive},
	84:                {"page", 0},
	85:                {"section", passive},
	86:                {"redundant object", passive},
	87:                {"form", 0},
	88:                {"link", interactive | titled},
	89:                {"input method window", 0},
	90:                {"row", interactive | titled},
	91:                {"treeitem", interactive | titled},
	92:                {"spreadsheet", 0},
	93:                {"presentation", 0},
	roleDocumentText:  {"text document", 0},
	roleDocumentWeb:   {"document", 0},
	96:                {"email", 0},
	97:                {"comment", 0},
	roleListBox:       {"listbox", 0},
	99:                {"group", passive},
	100:               {"image map", 0},
	101:               {"notification", 0},
	102:               {"infobar", 0},
	103:               {"level bar", 0},
	104:               {"title bar", 0},
	105:               {"blockquote", passive},
	106:               {"audio", 0},
	107:               {"video", 0},
	108:               {"definition", passive},
	109:               {"article", 0},
	110:               {"landmark", 0},
	111:               {"log", 0},
	112:               {"marquee", 0},
	113:               {"math", passive},
	114:               {"rating", 0},
	115:               {"timer", 0},
	roleStatic:        {"static", passive},
	117:               {"fraction", passive},
	118:               {"root", passive},
	119:               {"subscript", passive},
	120:               {"superscript", passive},
	121:               {"definition list", 0},
	122:               {"term", passive},
	123:               {"definition", passive},
	124:               {"footnote", passive},
	125:               {"deletion", passive},
	126:               {"insertion", passive},
	127:               {"mark", passive},
	128:               {"suggestion", passive},
	129:               {"menuitem", interactive | titled}, // a push button menu
	130:               {"switch", interactive | titled},
}

func (r role) is(f flags) bool { return kinds[r].flags&f != 0 }

func (r role) word() string {
	if k, ok := kinds[r]; ok {
		return k.word
	}
	return "unknown"
}

// states are the two words of an AT-SPI state set (AtspiStateType).
type states [2]uint32

// The states that the code asks for.
const (
	stateActive    = 1
	stateChecked   = 4
	stateEditable  = 7
	stateEnabled   = 8
	stateExpanded  = 10
	stateFocused   = 12
	stateMultiLine = 17
	stateSelected  = 23
	stateSensitive = 24
	stateShowing   = 25
	stateVisible   = 30
	stateManages   = 31 // its descendants
)

func (s states) has(bit int) bool { return s[bit/32]>>(bit%32)&1 == 1 }

// words are the states that a recording keeps.
func (s states) words() []string {
	var w []string
	for _, is := range [...]struct {
		so   bool
		word string
	}{
		{s.has(stateFocused), "focused"},
		{s.has(stateChecked), "checked"},
		{s.has(stateSelected), "selected"},
		{s.has(stateExpanded), "expanded"},
		{s != states{} && !s.has(stateEnabled) && !s.has(stateSensitive), "disabled"},
		{s.has(stateEditable), "editable"},
		{s.has(stateEditable) && s.has(stateMultiLine), "multiline"}, // GTK calls each label so
	} {
		if is.so {
			w = append(w, is.word)
		}
	}
	return w
}
