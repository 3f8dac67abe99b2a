package facts

import (
	"slices"

	"deskbell/backend/human"
)

// chooses makes choices of clicks on the options of lists that pages draw themselves: the field is what was clicked to open the list.
// An option whose list was opened in a way that is not known may be of any field, so that no earlier value of the page is certain.
func (fs *Facts) chooses() {
	opened := map[string]int{} // by tab: what may have opened a list last
	made := map[string][]*human.Action{}
	for i, a := range fs.Actions {
		if a.Page == nil {
			continue
		}
		tab := string(a.Rec.ID) + " " + a.Page.Target
		switch {
		case a.Type == human.PageSaid || a.Type == human.Scroll || a.Type == human.Hover:
			continue
		case a.Type == human.Click && option(a.Element):
			at, ok := opened[tab]
			delete(opened, tab)
			if !ok || fs.Actions[at].Page.URL != a.Page.URL {
				for _, c := range made[tab] {
					c.Values = nil
				}
				continue
			}
			field := *fs.Actions[at].Element
			field.Role, field.Tag = "listbox", "" // whatever it is made of
			chosen := *a.Action
			chosen.Type, chosen.Element, chosen.Values = human.Choose, &field, []string{a.Element.Name}
			made[tab] = append(made[tab], &chosen)
			fs.Actions[i].Action, fs.Actions[i].opened = &chosen, fs.Actions[at].Action
		case (a.Type == human.Click || a.Type == human.Typing) && a.Element != nil && a.Element.Role == "combobox" && a.Hidden == "" && ElementName(a.Element) != "":
			opened[tab] = i
		default:
			delete(opened, tab)
		}
	}
}

// option says whether an element is one of a list from which one is chosen.
func option(e *human.Element) bool {
	return e != nil && e.Role == "option" && e.Tag != "option" && e.Name != "" && e.Hidden == "" && !slices.Contains(e.States, "multiselectable")
}
