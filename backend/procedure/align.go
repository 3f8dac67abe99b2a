package procedure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A Row is what became of a step that at least one recording has.
type Row struct {
	State string         `json:"state" enum:"same,parameter,optional,left_out" doc:"same: it is fixed. parameter: it differs. optional: not all recordings have it. left_out: it is no part of the work."`
	At    int            `json:"at" doc:"The index of the step that came of it; -1 where it was left out."`
	From  []string       `json:"from" doc:"One for each recording: the id of its step, or empty where it has none."`
	Why   human.Sentence `json:"why"`
}

// The states of rows.
const (
	RowSame      = "same"
	RowParameter = "parameter"
	RowOptional  = "optional"
	RowLeftOut   = "left_out"
)

// Align makes one procedure of drafts of the same work, each compiled from one recording and without parameters, and says what became of
// each of their steps. What is the same in all is fixed; what differs is a parameter, one for the same values wherever they
// stand; what not all have is optional, or left out where it changed nothing and came back to the same page, or was typed again.
func Align(taught []human.Procedure) (human.Procedure, []Row) {
	if len(taught) == 0 {
		return human.Procedure{}, nil
	}
	return merge(taught).procedure()
}

func merge(taught []human.Procedure) *merger {
	m := &merger{taught: taught}
	var drafts [][]*shown
	for i, p := range taught {
		kept, before := corrected(i, p.Steps)
		drafts = append(drafts, kept)
		m.again = append(m.again, before...)
	}
	habits(drafts)
	// What was typed tells which rows were clicked: the second time, it is known.
	for range 2 {
		m.columns = align(drafts, m.values)
		m.classify(drafts)
		m.columns = reordered(m.columns)
		m.classify(drafts)
		m.findInputs()
	}
	m.findNames()
	return m
}

// A shown is a step of a recording with what is known around it.
type shown struct {
	human.ProcedureStep
	draft, at     int
	before, after string // the page's addresses
	detour        int    // 1 and more: it belongs to that part, which changed nothing, or was done once more, and came back to the same page
	back          bool   // by going back, or closing a tab
}

// A column is a step as each recording has it; nil where one has not.
type column struct {
	of   []*shown
	left *human.Sentence // why it is left out
}

func (c column) who() []int {
	var who []int
	for i, s := range c.of {
		if s != nil {
			who = append(who, i)
		}
	}
	return who
}

// first is the step of the first recording that has it.
func (c column) first() *shown { return c.of[c.who()[0]] }

// hidden is the step of the first recording that hid what was typed; nil where none did.
func (c column) hidden() *shown {
	for _, s := range c.of {
		if s != nil && s.Secret != "" {
			return s
		}
	}
	return nil
}

// all says whether all recordings have it.
func (c column) all() bool { return !slices.Contains(c.of, nil) }

// fills says whether a step only fills a field, so that the last time counts and neighbors may change places.
func fills(s human.ProcedureStep) bool {
	return (s.Do == "change" && s.Key == "") || s.Do == "selectOption" || s.Do == "check" || s.Do == "setInputFiles"
}

func looks(s human.ProcedureStep) bool { return s.Do == "scroll" || s.Do == "hover" }

// sameWindow says whether two steps of a recording are done in windows that are called the same.
func sameWindow(a, b *human.ProcedureWindow) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// program is the one that a step on the desktop is done in.
func program(s *shown) string {
	if s.Window == nil {
		return ""
	}
	return s.Window.Program
}

// field names what a step is done to.
func field(s human.ProcedureStep) string {
	if s.Target == nil {
		return ""
	}
	t, id := s.Target, ""
	if t.Name == "" && len(t.Selectors) > 0 {
		id = strings.Join(t.Selectors[0], " ")
	}
	return strings.Join([]string{s.Do, fmt.Sprint(s.Frame), t.Role, t.Name, t.Beside, t.Tag, id}, "\x00")
}

// corrected are the steps of a recording without those that were done once more: a field that was filled again before anything else was
// done, whose place in the order is that of the first time, and a form that was sent in vain, with what was wrong in it. before has those.
func corrected(draft int, steps []human.ProcedureStep) (kept, before []*shown) {
	at := map[string]string{}
	for i, s := range steps {
		now := &shown{ProcedureStep: s, draft: draft, at: i, before: at[s.Page]}
		for _, c := range s.Then {
			if c.Is == "address" {
				at[cmp.Or(c.Page, s.Page)] = c.Text
			}
		}
		if s.Do == "navigate" && at[s.Page] == now.before {
			at[s.Page] = s.URL
		}
		now.after = at[s.Page]
		for k := len(kept) - 1; fills(s) && k >= 0 && (fills(kept[k].ProcedureStep) || looks(kept[k].ProcedureStep)); k-- {
			if field(kept[k].ProcedureStep) == field(s) && kept[k].Page == s.Page && sameWindow(kept[k].Window, s.Window) {
				before = append(before, kept[k])
				kept[k], now = now, nil
				break
			}
		}
		if now != nil {
			kept = append(kept, now)
		}
	}
	vain := signedInVain(kept)
	kept = slices.DeleteFunc(kept, func(s *shown) bool { return slices.Contains(vain, s) })
	vain = append(vain, slices.DeleteFunc(slices.Clone(kept), func(s *shown) bool { return !inVain(s, kept) })...)
	kept = slices.DeleteFunc(kept, func(s *shown) bool { return slices.Contains(vain, s) })
	markDetours(kept)
	markCanceled(kept)
	return kept, append(before, vain...)
}

// longestDetour is how many steps a detour has at most.
const longestDetour = 10

// markDetours finds the parts in which nothing was done but to look at other pages, and which ended where they began: those that went
// back first, and the shortest before those around them.
func markDetours(steps []*shown) {
	n := 0
	for _, back := range []bool{true, false} {
		for length := 2; length <= min(len(steps), longestDetour); length++ {
			for i := range len(steps) - length + 1 {
				part := steps[i : i+length]
				if !leaves(part[0].Do) || leaves(part[length-1].Do) == back || !returns(part) || i+length < len(steps) && steps[i+length].Page != part[0].Page {
					continue
				}
				n++
				for _, s := range part {
					if s.detour == 0 {
						s.detour, s.back = n, back
					}
				}
			}
		}
	}
}

// leaves says whether a step leads away from the page, and not back.
func leaves(do string) bool { return do != "back" && do != "forward" && do != "close" }

// returns says whether steps only look at other pages, or other tabs, and end where they begin.
func returns(steps []*shown) bool {
	first, address, tabs := steps[0], steps[0].before, map[string]bool{}
	for i, s := range steps {
		if !quiet(s.ProcedureStep) {
			return false
		}
		for _, c := range s.Then {
			if c.Is == "opened" {
				tabs[c.Page] = true
			}
		}
		if s.Do == "close" {
			delete(tabs, s.Page)
		}
		if s.Page == first.Page {
			address = s.after
		}
		if away := address != first.before || len(tabs) > 0; away == (i == len(steps)-1) {
			return false
		}
	}
	return address != ""
}

// quiet says whether a step alone changes nothing but what is shown.
func quiet(s human.ProcedureStep) bool {
	return !s.Writes && len(s.Dialogs) == 0 && slices.Contains([]string{"navigate", "back", "forward", "reload", "click", "hover", "scroll", "switchPage", "close"}, s.Do)
}

// The costs of an alignment. That of a step that one recording has alone is about 100, so that two steps are taken for the same one
// only where what they differ in costs less than 200; never where what they do differs.
const (
	costGap       = 100
	costGapLook   = 20  // scroll, hover: they change nothing
	costGapDetour = 40  // each step of a part that went back to the same page
	costGapWrite  = 160 // a step that writes, or gives an output, is seldom an accident
	costText      = 10  // other text in the same field
	costName      = 90  // another name of a link, row or cell
	costKnown     = 10  // of a name that a known value explains
	costRole      = 80
	costBeside    = 40
	costBefore    = 30 // another page before it, in full where they have nothing in common
	costAfter     = 60
	costURL       = 150
	never         = 1_000_000
)

func gap(s *shown) int {
	switch {
	case looks(s.ProcedureStep):
		return costGapLook
	case s.back:
		return costGapDetour
	case s.Writes || s.Do == "pick":
		return costGapWrite
	}
	return costGap
}

// align brings the steps of recordings into columns (Needleman and Wunsch 1970): the second recording with the first, the third with
// what comes of those. The steps of each stay in their order.
func align(drafts [][]*shown, known heldValues) []column {
	var columns []column
	for i, steps := range drafts {
		columns = extend(columns, steps, i, len(drafts), known)
	}
	return columns
}

func extend(columns []column, steps []*shown, draft, of int, known heldValues) []column {
	skip := func(c column) int {
		sum := 0
		for _, i := range c.who() {
			sum += gap(c.of[i])
		}
		return sum / draft
	}
	cost := make([][]int, len(columns)+1)
	for i := range cost {
		cost[i] = make([]int, len(steps)+1)
		for j := range cost[i] {
			switch {
			case i == 0 && j == 0:
			case i == 0:
				cost[i][j] = cost[i][j-1] + gap(steps[j-1])
			case j == 0:
				cost[i][j] = cost[i-1][j] + skip(columns[i-1])
			default:
				cost[i][j] = min(cost[i-1][j-1]+difference(columns[i-1], steps[j-1], known), cost[i-1][j]+skip(columns[i-1]), cost[i][j-1]+gap(steps[j-1]))
			}
		}
	}
	var out []column
	for i, j := len(columns), len(steps); i > 0 || j > 0; {
		switch { // the later of two that fit equally is the one that counts
		case i > 0 && j > 0 && cost[i][j] == cost[i-1][j-1]+difference(columns[i-1], steps[j-1], known):
			i, j = i-1, j-1
			columns[i].of[draft] = steps[j]
			out = append(out, columns[i])
		case i > 0 && cost[i][j] == cost[i-1][j]+skip(columns[i-1]):
			i--
			out = append(out, columns[i])
		default:
			j--
			c := column{of: make([]*shown, of)}
			c.of[draft] = steps[j]
			out = append(out, c)
		}
	}
	slices.Reverse(out)
	return out
}

// difference is what it costs to take a step for that of a column.
func difference(c column, s *shown, known heldValues) int {
	sum, n := 0, 0
	for _, i := range c.who() {
		if i != s.draft {
			sum, n = sum+unlike(c.of[i], s, known), n+1
		}
	}
	return sum / n
}

func unlike(a, b *shown, known heldValues) int {
	if a.Do != b.Do || len(a.Frame) != len(b.Frame) || a.Key != b.Key || program(a) != program(b) || (a.Secret == "") != (b.Secret == "") && field(a.ProcedureStep) != field(b.ProcedureStep) || answered(a) != answered(b) {
		return never
	}
	who := []int{a.draft, b.draft}
	far := apart(who, a.after, b.after, known)
	cost := costBefore * apart(who, a.before, b.before, known) / 100
	if a.Writes != b.Writes {
		cost += costRole
	}
	switch {
	case a.Do == "navigate":
		return cost + costURL*apart(who, a.URL, b.URL, known)/100
	case fills(a.ProcedureStep):
		if field(a.ProcedureStep) != field(b.ProcedureStep) && !sharesSelector(a.Target, b.Target) {
			return never
		}
		if a.Text != b.Text || !slices.Equal(a.Options, b.Options) || !slices.Equal(a.Files, b.Files) {
			cost += costText
		}
		return cost
	case a.Target != nil && b.Target != nil:
		cost += unlikeTargets(who, a.Target, b.Target, known)
		if tabs := a.after == a.before && b.after == b.before; a.back && b.back && (tabs || far == 100) && cost >= costName/3 {
			return never // two who looked at different things
		}
	}
	cost += costAfter * far / 100
	return cost
}

// answered are the dialogs of a step and how they were answered.
func answered(s *shown) string {
	var b strings.Builder
	for _, d := range s.Dialogs {
		fmt.Fprint(&b, d.Kind, d.Accept, " ")
	}
	return b.String()
}

func unlikeTargets(who []int, a, b *human.ProcedureTarget, known heldValues) int {
	cost := 0
	if a.Role != b.Role || a.Tag != b.Tag {
		cost += costRole
	}
	if a.Beside != b.Beside {
		if _, ok := known.explain(who, []string{a.Beside, b.Beside}); !ok {
			cost += costBeside
		}
	}
	if a.Name == b.Name {
		return cost
	}
	_, explained := known.explain(who, []string{a.Name, b.Name})
	switch {
	case explained:
		return cost + costKnown
	case sharesSelector(a, b):
		return cost + costName/3
	case a.Role == "button" && digits(a.Name) != digits(b.Name) && 2*len(common([]string{a.Name, b.Name})) <= min(len(a.Name), len(b.Name)):
		return never // another button: what such are called is seldom data
	}
	return cost + costName
}

// digits is a text with its numbers taken for one.
func digits(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r >= '0' && r <= '9' }), "0")
}

// sharesSelector says whether two targets have a selector in common that is no path.
func sharesSelector(a, b *human.ProcedureTarget) bool {
	return a != nil && b != nil && slices.ContainsFunc(a.Selectors, func(s []string) bool {
		return !isPath(s) && slices.ContainsFunc(b.Selectors, func(t []string) bool { return slices.Equal(s, t) })
	})
}

// isPath says whether a selector finds an element by where it stands alone.
func isPath(selectors []string) bool {
	return slices.ContainsFunc(selectors, func(s string) bool {
		return strings.Contains(s, ":nth-") || strings.Contains(s, " > ") || strings.HasPrefix(s, "xpath/") && !strings.ContainsAny(s, `"'`)
	})
}

// apart is how far two addresses are from being of one pattern: 0 where they are the same or known values explain how they differ,
// 100 where they have nothing in common.
func apart(who []int, a, b string, known heldValues) int {
	if a == b {
		return 0
	}
	if _, ok := known.explainAddress(who, []string{a, b}, nil); ok {
		return 0
	}
	x, y := pieces(a), pieces(b)
	if len(x) != len(y) || len(x) < 7 {
		return 100
	}
	differ := 0
	for i := 0; i < len(x); i += 2 {
		if x[i] != y[i] {
			differ++
			if i <= 6 && digits(x[i]) != digits(y[i]) { // the host, or the first part of the path
				return 100
			}
		}
	}
	return 100 * differ / (len(x)/2 - 1)
}

// reordered joins columns of the same field that recordings filled in another order: at the place of one of them, from which the other's
// recordings only filled or looked at something in between.
func reordered(columns []column) []column {
	for i := 0; i < len(columns); i++ {
		for j := i + 1; j < len(columns); j++ {
			a, b := columns[i], columns[j]
			if a.left != nil || b.left != nil || !fills(a.first().ProcedureStep) || field(a.first().ProcedureStep) != field(b.first().ProcedureStep) ||
				slices.ContainsFunc(b.who(), func(k int) bool { return a.of[k] != nil }) {
				continue
			}
			stays, goes := i, j
			if !onlyFills(columns[i+1:j], b.who()) {
				if !onlyFills(columns[i+1:j], a.who()) {
					continue
				}
				stays, goes = j, i
			}
			for _, k := range columns[goes].who() {
				columns[stays].of[k] = columns[goes].of[k]
			}
			columns = slices.Delete(columns, goes, goes+1)
			j = i
			if goes == i {
				i--
				break
			}
		}
	}
	return columns
}

// onlyFills says whether recordings only filled fields and looked at something in columns.
func onlyFills(columns []column, who []int) bool {
	return !slices.ContainsFunc(columns, func(c column) bool {
		return c.left == nil && slices.ContainsFunc(who, func(k int) bool {
			return c.of[k] != nil && !fills(c.of[k].ProcedureStep) && !looks(c.of[k].ProcedureStep)
		})
	})
}
