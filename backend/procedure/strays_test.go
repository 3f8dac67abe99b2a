package procedure_test

import (
	"slices"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

const site = "https://a.example/"

// leftOut are the steps of recordings that are no part of what is made of them, and those that not all have.
func leftOut(recordings ...[]string) (left, optional []string) {
	var taught []human.Procedure
	for _, steps := range recordings {
		taught = append(taught, shownBy(steps...))
	}
	return leftOutOf(taught)
}

func leftOutOf(taught []human.Procedure) (left, optional []string) {
	_, rows := procedure.Align(taught)
	for _, r := range rows {
		for k, id := range r.From {
			i := slices.IndexFunc(taught[k].Steps, func(s human.ProcedureStep) bool { return s.ID == id })
			switch {
			case i < 0:
			case r.State == procedure.RowLeftOut:
				left = append(left, taught[k].Steps[i].Title)
			case r.State == procedure.RowOptional:
				optional = append(optional, taught[k].Steps[i].Title)
			}
		}
	}
	return left, optional
}

// TestACanceledForm: what was sent to be checked, canceled, and filled in and sent once more with the same is left out. What only looks like it
// stays, as it may be a part of the work.
func TestACanceledForm(t *testing.T) {
	const check, done = site + "check", site + "done"
	once := []string{"open", "Seat=4", "Day=Monday", "Next -> " + check, "Reserve -> " + done}
	twice := []string{"open", "Seat=7", "Day=Friday", "Next -> " + check, "link Cancel -> " + site + "form", "Seat=7", "Day=Friday", "Next -> " + check, "Reserve -> " + done}
	set := func(of []string, line string, at ...int) []string {
		of = slices.Clone(of)
		for _, i := range at {
			of[i] = line
		}
		return of
	}
	for name, tt := range map[string]struct {
		one, other []string
		left       int
	}{
		"canceled":                           {once, twice, 4},
		"by the first":                       {twice, once, 4},
		"in Chinese":                         {once, set(twice, "link 取消 -> "+site+"form", 4), 4},
		"sent by what is not known to write": {set(once, "link Next -> "+check, 3), set(twice, "link Next -> "+check, 3, 7), 4},
		"with another value":                 {once, set(twice, "Seat=1", 1), 0},
		"with less":                          {once, slices.Delete(slices.Clone(twice), 6, 7), 0},
		"to add another one":                 {once, set(twice, "link Back -> "+site+"form", 4), 0},
		"by what writes":                     {once, set(twice, "Cancel -> "+site+"form", 4), 0},
		"from elsewhere":                     {once, set(twice, "link Cancel -> "+site+"list", 4), 0},
		"something new was made":             {set(once, "Next -> "+site+"drafts/16", 3), set(set(twice, "Next -> "+site+"drafts/17", 3), "Next -> "+site+"drafts/18", 7), 0},
		"something new may have been made":   {set(once, "Next -> "+site+"drafts/*", 3), set(twice, "Next -> "+site+"drafts/*", 3, 7), 0},
		"something was saved before":         {once, slices.Insert(slices.Clone(twice), 3, "Attach"), 0},
		"a field was saved, too":             {set(once, "Day=Monday Enter", 2), set(twice, "Day=Friday Enter", 2, 6), 0},
		"what was sent is what was meant":    {once[:4], twice[:8], 0},
		"nothing was written after it":       {set(once, "link Home -> "+site, 4), set(twice, "link Home -> "+site, 8), 0},
		"both did so":                        {twice, twice, 0},
		"another button came next":           {once, set(twice, "Save it for later -> "+check, 3), 0},
	} {
		left, optional := leftOut(tt.one, tt.other)
		if len(left) != tt.left || tt.left > 0 && len(optional) > 0 {
			t.Errorf("%s: left out %q, optional %q", name, left, optional)
		}
	}
	if left, optional := leftOut(once, twice, set(once, "Seat=9", 1)); len(left) != 4 || len(optional) > 0 {
		t.Errorf("of three: left out %q, optional %q", left, optional)
	}
	if !procedure.Alike(shownBy(once...), shownBy(twice...)) || procedure.Alike(shownBy(once...), shownBy(set(twice, "Seat=1", 1)...)) {
		t.Error("it is the same work where the first time is left out, and only there")
	}
	saves := shownBy(twice...)
	saves.Steps[1].Writes, saves.Steps[5].Writes = true, true // as it is typed
	asks := shownBy(twice...)
	asks.Steps[3].Dialogs = []human.ProcedureDialog{{Kind: "confirm", Accept: true}}
	loads := shownBy(twice...)
	for _, i := range []int{3, 7} {
		loads.Steps[i].Then = append(loads.Steps[i].Then, human.ProcedureCheckpoint{Is: "download", Text: "*.pdf"})
	}
	for name, p := range map[string]human.Procedure{"a field that saves": saves, "the first time it asked": asks, "a file came": loads} {
		if left, optional := leftOutOf([]human.Procedure{shownBy(once...), p}); len(left) > 0 {
			t.Errorf("%s: left out %q, optional %q", name, left, optional)
		}
	}
}

// TestAPageThatWasNotNeeded, and was left by the menu, is left out where another recording continued by the same link from where it was opened.
func TestAPageThatWasNotNeeded(t *testing.T) {
	const tools, stock = site + "tools", site + "stock"
	direct := []string{"open", "link Stock -> " + stock, "Shelf=A", "Count -> " + site + "counted"}
	astray := func(through ...string) []string {
		return slices.Concat([]string{"open"}, through, []string{"link Stock -> " + stock, "Shelf=Nordwind", "Count -> " + site + "counted"})
	}
	for name, tt := range map[string]struct {
		one, other []string
		left       int
	}{
		"a page":                              {direct, astray("link Tools -> " + tools), 1},
		"by the first":                        {astray("link Tools -> " + tools), direct, 1},
		"two pages":                           {direct, astray("link Tools -> "+tools, "link Help -> "+site+"help"), 2},
		"it wrote":                            {direct, astray("Tools -> " + tools), 0},
		"one of many":                         {direct, astray("link Tools -> " + site + "tools/17"), 0},
		"with an order for the site":          {direct, astray("link Deutsch -> " + site + "tools?lang=de"), 0},
		"its name has what was typed":         {direct, astray("link Switch to Nordwind -> " + tools), 0},
		"its address has what was typed":      {direct, astray("link Client -> " + site + "nordwind"), 0},
		"its name says that it does a thing":  {direct, astray("link Cancel all -> " + tools), 0},
		"nothing is known to have opened":     {direct, astray("link Tools"), 0},
		"something was typed there":           {direct, astray("link Tools -> "+tools, "Tool=saw"), 0},
		"the link leads elsewhere from there": {direct, slices.Concat([]string{"open", "link Tools -> " + tools, "link Stock -> " + site + "tools/stock"}, direct[2:]), 0},
		"another link leads there":            {direct, slices.Concat([]string{"open", "link Tools -> " + tools, "link All of the stock -> " + stock}, direct[2:]), 0},
		"the others continued from elsewhere": {slices.Insert(slices.Clone(direct), 1, "Start -> "+site+"start"), astray("link Tools -> " + tools), 0},
		"both were there":                     {astray("link Tools -> " + tools), astray("link Tools -> " + tools), 0},
		"each on another one":                 {astray("link Tools -> " + tools), astray("link Help -> " + site + "help"), 0},
		"it ended there":                      {direct[:1], []string{"open", "link Tools -> " + tools}, 0},
	} {
		left, optional := leftOut(tt.one, tt.other)
		if len(left) != tt.left || tt.left > 0 && len(optional) > 0 {
			t.Errorf("%s: left out %q, optional %q", name, left, optional)
		}
	}
	if left, optional := leftOut(astray("link Tools -> "+tools), astray("link Help -> "+site+"help"), direct); len(left) != 2 || len(optional) > 0 {
		t.Errorf("of three: left out %q, optional %q", left, optional)
	}
	if left, _ := leftOut(direct, astray("link Unfold", "link Tools -> "+tools)); !slices.Equal(left, []string{"link Tools -> " + tools}) {
		t.Errorf("of a link that opened nothing and one that did, %q are left out", left)
	}
	row, pressed := shownBy(astray("link Tools -> "+tools)...), []human.Procedure{shownBy(direct...), shownBy(astray("link Tools -> " + tools)...)}
	row.Steps[1].Target.Row = []string{"Tools", "12"}
	for i := range pressed {
		pressed[i].Steps[1+i].Target.Role = "button"
	}
	apart := []human.Procedure{shownBy(astray("link Tools -> " + tools)...), shownBy(astray("link Help -> " + site + "help")...)}
	apart[1].Steps[1].Target.Role = "menuitem" // which are not taken for one step
	for name, taught := range map[string][]human.Procedure{"in a row": {shownBy(direct...), row}, "left by a button": pressed, "by none directly": apart} {
		if left, optional := leftOutOf(taught); len(left) > 0 {
			t.Errorf("%s: left out %q, optional %q", name, left, optional)
		}
	}
}
