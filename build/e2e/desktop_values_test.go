//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/build/corpus"
	"deskbell/build/e2e/desktoptest"
)

// Why a case is to stop, instead of ending as the person's own work does.
const (
	typesSecret = "it types the secret"       // secrets are not typed on the desktop
	onlyPlace   = "only its place"            // it was done to nothing that accessibility knows, or dragged
	noEntry     = "listitem"                  // what a combo box has chosen lies where it opens its list
	nothingDone = "has nothing that was done" // looking at windows is no step
)

// deskExpected says what is expected of each case of work on the desktop, and what other persons type and choose in it: instead of the first
// text of each row, one has the second and one the third. What has no values is done once, and run as it was. stop is what the reason of a
// stop says; without it, the run ends in the same state as the person's own work, but for what was done apart: while nothing was recorded.
var deskExpected = map[string]struct {
	values      [][3]string
	stop, apart string
}{
	"desktop_settings_changed":             {stop: noEntry},
	"desktop_ide_tests_green":              {values: [][3]string{{"my-project", "shop", "billing"}}},
	"desktop_ide_tests_mended":             {values: [][3]string{{"my-project", "shop", "billing"}, {"a + b", "b + a", "sum((a, b))"}}},
	"desktop_contract_exported":            {stop: typesSecret},
	"desktop_contract_export_failed_first": {stop: typesSecret},
	"desktop_file_deleted_and_restored":    {values: [][3]string{{"old-2019", "old-2018", "old-2020"}}},
	"desktop_contract_signed":              {stop: typesSecret},
	"desktop_saved_in_wrong_folder":        {values: [][3]string{{"ship on Friday", "wait for a week", "ask Anna"}, {"minutes.txt", "meeting.txt", "notes.txt"}}},
	"desktop_wrong_menu_then_right":        {values: [][3]string{{"stock-2026", "stock-2027", "stock-2025"}}, stop: "has the keyboard"},
	"desktop_undone_and_typed_again":       {values: [][3]string{{"Tuesday 14", "Monday 10", "Friday 16"}, {"Thursday 09:30", "Wednesday 08:45", "Saturday 11:00"}}},
	"desktop_file_renamed":                 {values: [][3]string{{"report-final", "report-done", "report-sent"}}},
	"desktop_password_typed":               {stop: typesSecret},
	"desktop_excluded_window":              {values: [][3]string{{"looked after", "was checked", "is fine"}}},
	"desktop_paused":                       {values: [][3]string{{"a-2026", "a-2027", "a-2025"}, {"b-2026", "b-2027", "b-2025"}}, apart: "salaries.csv"},
	"desktop_long_wait":                    {stop: onlyPlace},
	"desktop_opened_and_closed":            {},
	"desktop_typed_and_not_saved":          {values: [][3]string{{"4893", "4901", "5012"}}},
	"desktop_step_left_undone":             {values: [][3]string{{"archive", "attic", "store"}}},
	"desktop_outcome_met":                  {values: [][3]string{{"Version 8.2", "Version 9.0", "Version 7.1"}, {"release-notes", "news", "changes"}}},
	"desktop_outcome_not_met":              {stop: typesSecret},
	"desktop_outcome_other":                {values: [][3]string{{"All quiet in the third", "Loud in the second", "Busy in the first"}, {"summary", "overview", "digest"}}},
	"desktop_application_crashed":          {stop: onlyPlace},
	"desktop_file_dragged":                 {stop: onlyPlace},
	"desktop_shortcuts":                    {values: [][3]string{{"call Li", "write to Wang", "see Zhao"}, {"todo.txt", "tasks.txt", "list.txt"}}},
	"desktop_copied_between_windows":       {values: [][3]string{{"proxy.corp.example", "gate.corp.example", "cache.other.example"}}, stop: onlyPlace},
	"desktop_terminal":                     {stop: onlyPlace},
	"desktop_notes_marked":                 {stop: typesSecret},
	"desktop_invalid_port":                 {values: [][3]string{{"proxy.corp.example", "gate.corp.example", "cache.other.example"}, {"8080", "3128", "8888"}}},
	"desktop_wrong_application":            {values: [][3]string{{"second", "another line", "one more"}}},
	"desktop_waited_for_a_file":            {values: [][3]string{{"export-latest", "export-newest", "export-last"}}},
	"desktop_copy_edited":                  {values: [][3]string{{"2026-12-01", "2026-12-08", "2027-01-15"}}},
	"desktop_gave_up_signing":              {stop: typesSecret},
	"desktop_tests_left_red":               {values: [][3]string{{"my-project", "shop", "billing"}}},
	"desktop_ticked_and_taken_back":        {values: [][3]string{{"export-1", "export-7", "export-4"}}},
	"desktop_long_pause":                   {},
	"desktop_many_files_deleted":           {},
	"desktop_folder_misspelt":              {values: [][3]string{{"2026", "2027", "2025"}}},
	"desktop_compared_only":                {stop: nothingDone},
	"desktop_form_filled":                  {values: [][3]string{{"Mei Tanaka", "Ole Berg", "Ana Ruiz"}}},
	"desktop_hostile_names":                {},
	"desktop_many_files_unpacked":          {stop: onlyPlace},
	"desktop_quotes_and_numbers":           {values: [][3]string{{"winter", "summer", "autumn"}}},
	"desktop_box_checked":                  {},
	"desktop_no_error_expected":            {},
	"desktop_file_gone":                    {},
	"desktop_file_kept":                    {},
	"desktop_two_of_three_moved":           {},
	"desktop_line_added":                   {values: [][3]string{{"8334", "9000", "1234"}}},
	"desktop_converter_done":               {stop: onlyPlace},
	"desktop_other_window_closed":          {},
	"desktop_two_exports":                  {stop: typesSecret},
	"desktop_folder_missing":               {values: [][3]string{{"Hello", "Good day", "Welcome"}, {"greetings", "letters", "cards"}}},
	"desktop_looked_only":                  {stop: typesSecret},
	"desktop_quit_cancelled":               {values: [][3]string{{"tuesday", "wednesday", "sunday"}}},
}

// TestDesktopOtherValues has two persons do each case of the corpus on the desktop, and Deskbell do it with the values of a third: it has to
// end in the state that the third person's work ends in, or to stop and say why. These are two cases, unless DESKBELL_CASES names others or
// DESKBELL_VALUES a file for the figures of all.
func TestDesktopOtherValues(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	file, only := os.Getenv("DESKBELL_VALUES"), strings.Fields(os.Getenv("DESKBELL_CASES"))
	if file == "" && len(only) == 0 {
		only = []string{"desktop_line_added", "desktop_password_typed"}
	}
	t.Run("cases", func(t *testing.T) {
		for _, c := range deskCases {
			if c.source != corpus.Desktop || len(only) > 0 && !slices.Contains(only, c.name) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				expected, known := deskExpected[c.name]
				if !known {
					t.Fatal("nothing is expected of it")
				}
				end, why := otherDeskValues(t, c, expected.values)
				t.Logf("%s: %s", end, why)
				switch {
				case end == "otherwise":
					t.Error("it ended otherwise: ", why)
				case end == "stop" && (expected.stop == "" || !strings.Contains(why, expected.stop)):
					t.Errorf("it stopped: %s; expected was %q", why, expected.stop)
				}
				first, _, _ := strings.Cut(why, "\n")
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, fmt.Sprintf("| %s | %s | %s |\n", c.name, end, first))
				if file != "" {
					if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
						t.Error(err)
					}
				}
			})
		}
	})
}

// otherDeskValues is how a run with the values of a third person ends: "same" where its state is that of their own work, "stop" where it
// does not run or stops, and says why; "otherwise" is wrong.
func otherDeskValues(t *testing.T, c deskCase, values [][3]string) (end, why string) {
	t.Helper()
	p := newClerk(t, c)
	p.brief, p.once = true, slices.Contains([]string{typesSecret, onlyPlace}, deskExpected[c.name].stop)
	defer func() { // here and not with the test: a desktop's programs all end at once
		_ = p.h.program.Signal(syscall.SIGTERM)
		p.h.Ended(p.h.program)
	}()
	_, state := p.does(values, 0)
	recordings := []human.RecordingID{p.rec.ID}
	if values != nil {
		recordings = nil
		for n := 1; n < 3; n++ {
			id, _ := p.does(values, n)
			recordings = append(recordings, id)
		}
	}
	var draft procedure.ProcedureDraft
	status, answer := p.h.ask("POST", "/api/procedure-drafts", map[string]any{"recordings": recordings})
	if status >= 300 {
		return "stop", string(answer)
	}
	if err := json.Unmarshal(answer, &draft); err != nil {
		t.Fatal(err)
	}
	t.Log(draft.File)
	with := map[string]string{}
	for _, q := range draft.Procedure.Parameters {
		value, err := thirdValue(q, values)
		if err != nil {
			return "otherwise", err.Error()
		}
		with[q.Name] = value
	}
	draft.Procedure.Name, draft.Procedure.Policy = "case", procedure.Permissive
	p.run = &deskRun{clerk: p, of: draft.Procedure, with: with}
	p.begins(values, 0)
	p.left = p.run.acts
	c.act(p)
	p.run.acts()
	p.run.waits()
	defer p.run.ends()
	if why := p.run.why(); why != "" {
		return "stop", why
	}
	is := ""
	for range 20 {
		if is = p.state(); is == state {
			return "same", ""
		}
		<-time.After(250 * time.Millisecond)
	}
	return "otherwise", difference(state, is)
}

// thirdValue is what the third person has for a parameter: what one of the first two had, with their own values instead of those.
func thirdValue(q human.ProcedureParameter, values [][3]string) (string, error) {
	var all []string
	for _, had := range q.Examples {
		for n := 1; n < 3; n++ {
			var pairs []string
			for _, row := range values {
				pairs = append(pairs, row[n], row[0])
			}
			if own := strings.NewReplacer(pairs...).Replace(had); own != had && !slices.Contains(all, own) {
				all = append(all, own)
			}
		}
	}
	if len(all) != 1 {
		return "", fmt.Errorf("the parameter %s has the examples %q, for which the third person has %q", q.Name, q.Examples, all)
	}
	return all[0], nil
}

// begins makes the person the nth to do a case, in a home in which nothing was done.
func (p *clerk) begins(values [][3]string, n int) {
	p.T.Helper()
	for _, program := range p.opened {
		program.Kill()
	}
	p.opened, p.apps = nil, nil
	all, err := filepath.Glob(filepath.Join(p.home, "*"))
	if err != nil {
		p.T.Fatal(err)
	}
	for _, path := range append(all, filepath.Join(p.home, ".trash")) {
		if err := os.RemoveAll(path); err != nil {
			p.T.Fatal(err)
		}
	}
	var pairs []string
	for _, row := range values {
		pairs = append(pairs, row[0], row[n])
	}
	p.own = strings.NewReplacer(pairs...)
	// Slow persons: it is the procedure that is looked at here, and not whether the recorder is quick enough on a busy machine.
	p.looking, p.holding = 900*time.Millisecond, 300*time.Millisecond
	p.Desktop.Wait("the windows to be closed", func() bool { return p.ActiveWindow() == "" })
}

// does has the nth person do a case while it is recorded, and says what state that ends in. Where a recorder on a busy machine
// could not look at something in time, they show it once more.
func (p *clerk) does(values [][3]string, n int) (id human.RecordingID, state string) {
	p.T.Helper()
	for range 3 {
		unseen := false
		p.begins(values, n)
		p.c.act(p)
		p.pause()
		for last := "-"; state != last; {
			last = state
			<-time.After(500 * time.Millisecond)
			state = p.state()
		}
		p.control("stop")
		for _, a := range p.h.actions(p.rec.ID) {
			p.T.Logf("%6.2f %-13s %s", float64(a.At)/1e9, a.Type, a.Words)
			unseen = unseen || a.Hidden != "" || a.Type == human.Click && a.Element == nil
		}
		if !unseen || p.once {
			break
		}
	}
	return p.rec.ID, state
}

// state is what there is now: the files in the person's home, and what the windows show.
func (p *clerk) state() string {
	p.T.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.home, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, p.home)
		if err != nil || name == "/state.json" || p.isApart(name) { // the first is of the form: what it learns while it runs
			return err
		}
		text := []byte("a picture")
		if !entry.IsDir() && filepath.Ext(name) != ".png" {
			text, err = os.ReadFile(path)
		} else if entry.IsDir() {
			text = nil
		}
		fmt.Fprintf(&b, "%s %q\n", name, text)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		p.T.Fatal(err)
	}
	titles := strings.Split(p.Try("xdotool", "search", "--onlyvisible", "--name", ".", "getwindowname", "%@"), "\n")
	slices.Sort(titles)
	fmt.Fprintf(&b, "windows %q\n", titles)
	apps := slices.Clone(p.apps)
	slices.Sort(apps)
	for _, app := range slices.Compact(apps) {
		for _, e := range p.Elements(app) {
			if p.isApart(e.Name) {
				continue
			}
			fmt.Fprintf(&b, "%s: %d %q %q\n", app, e.Role, e.Name, p.Text(e))
		}
	}
	return b.String()
}

// isApart says whether something was changed while nothing was recorded.
func (p *clerk) isApart(name string) bool {
	apart := deskExpected[p.c.name].apart
	return apart != "" && strings.HasSuffix(name, apart)
}

// A deskRun does a case by a procedure. The person only opens the programs, as a run opens none: the first ones before it begins, and
// others when it stops because they are not open.
type deskRun struct {
	*clerk
	of    human.Procedure
	with  map[string]string
	path  string
	r     human.RunOfProcedure
	not   string // why it did not begin
	began bool
	over  bool // what comes now is left undone
}

// acts begins the run, or continues it after a program was opened. It is called where the person would do something.
func (d *deskRun) acts() bool {
	d.T.Helper()
	switch {
	case d.over:
	case !d.began:
		d.began = true
		d.starts()
	case d.r.State == human.Halted:
		d.r.State = human.Performing
		d.h.call("POST", d.path+"/orders", procedure.RunOrder{Do: "continue"}, nil)
	}
	return true
}

func (d *deskRun) starts() {
	d.T.Helper()
	status, answer := d.h.ask("POST", "/api/procedures", map[string]any{"procedure": d.of})
	if status < 300 {
		status, answer = d.h.ask("POST", "/api/procedures/case/runs", map[string]any{"parameters": d.with}, d.key)
	}
	var asked procedure.Asked
	if status < 300 {
		if err := json.Unmarshal(answer, &asked); err != nil {
			d.T.Fatal(err)
		}
		d.path = "/api/operations/" + string(asked.Operation) + "/procedure"
		status, answer = d.h.ask("POST", d.path, map[string]any{})
	}
	if status >= 300 {
		d.not, d.over = string(answer), true
		return
	}
	d.r.State = human.Performing
}

// waits waits until the run is over or stands still.
func (d *deskRun) waits() {
	d.T.Helper()
	if !d.began || d.not != "" {
		return
	}
	deadline := time.After(3 * time.Minute)
	for d.r.State == human.Performing {
		select {
		case <-deadline:
			d.T.Fatalf("the run does not end: %+v", d.r)
		case <-time.After(50 * time.Millisecond):
		}
		d.r = human.RunOfProcedure{}
		d.h.call("GET", d.path, nil, &d.r)
	}
}

// opens opens a program once the run needs it.
func (d *deskRun) opens(env []string, called, app, title string, arguments []string) *desktoptest.Program {
	d.T.Helper()
	d.waits()
	if d.began && !d.over {
		d.over = d.r.State != human.Halted || d.r.Stop == nil || d.r.Stop.Found.Text != "It is not there." || !strings.Contains(d.r.Stop.Expected.Text, "window of")
	}
	if d.over {
		return nil
	}
	program := d.StartWith(env, filepath.Join(desktoptest.Apps(), app), arguments...)
	title = d.said(title)
	d.Desktop.Wait("the window "+title, func() bool { return strings.HasPrefix(d.ActiveWindow(), title) })
	d.apps = append(d.apps, called)
	return program
}

// why says why the run did not do its work; "" where it did.
func (d *deskRun) why() string {
	switch {
	case d.not != "":
		return d.not
	case d.r.State == human.Succeeded:
		return ""
	case d.r.Stop == nil:
		return fmt.Sprintf("%s: %+v", d.r.State, d.r.Why)
	}
	title := d.r.Stop.Step
	for _, s := range d.of.Steps {
		if s.ID == d.r.Stop.Step {
			title = s.ID + " " + s.Title
		}
	}
	return fmt.Sprintf("at %s: expected %s found %s", title, d.r.Stop.Expected.Text, d.r.Stop.Found.Text)
}

// ends ends a run that stopped.
func (d *deskRun) ends() {
	d.T.Helper()
	if d.path == "" || d.r.State.Over() {
		return
	}
	d.h.call("POST", d.path+"/orders", procedure.RunOrder{Do: "end"}, nil)
	d.Desktop.Wait("the run to be over", func() bool {
		d.r = human.RunOfProcedure{}
		d.h.call("GET", d.path, nil, &d.r)
		return d.r.State.Over()
	})
}
