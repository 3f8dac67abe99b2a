package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/settings"
	"deskbell/backend/transport/client"
)

func (s *shell) doctorCommand() *cobra.Command {
	var bundle string
	var yes bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what works here and what is missing",
		Long:  "Check what works here and what is missing. The exit code is 1 when something that Deskbell needs fails, 0 when at most something optional does.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), 20*time.Second)
			defer cancel()
			dir, err := s.dir()
			if err != nil {
				return err
			}
			place, err := s.place()
			program := s.Program
			// A large database takes longer to read than anything else may.
			program.Database = func(_ context.Context, dir string) ([]human.Sentence, error) { return s.Database(c.Context(), dir) }
			program.Audit = func(_ context.Context, dir string) (receipt.Audit, error) { return s.Audit(c.Context(), dir) }
			program.Team = s.teamNow
			report := Examine(ctx, program, Place{Dir: dir, Config: place.Config})
			if err != nil {
				report = slices.Insert(report, 1, human.Broken(human.Sayf("settings"), human.Sayf("%s", human.Inner{Err: err}), human.Sayf("correct that line of the file, or rename the file: every setting then has its default")))
			}
			if slices.ContainsFunc(report, func(d human.Diagnosis) bool { return d.Status() == human.CheckFail }) {
				s.code = exitNo
			}
			words := s.language(place)
			if bundle != "" {
				pages, err := s.bundle(Place{Dir: dir, Config: place.Config}, report)
				if err != nil {
					return err
				}
				return s.writeBundle(bundle, pages, yes, words)
			}
			if s.json {
				return s.printJSON(struct {
					OK     bool                `json:"ok"`
					Checks []human.DoctorCheck `json:"checks"`
				}{s.code == exitYes, human.Lines(report)})
			}
			s.printf("%s", visible(reportText(report, words)))
			return nil
		},
	}
	s.settingFlags(c)
	s.jsonFlag(c, "print the report as one line of JSON")
	c.Flags().StringVar(&bundle, "bundle", "", "show, ask, and write a zip `FILE` for whoever helps: the report, settings, logs, crashes; masked, without requests and keys")
	c.Flags().BoolVar(&yes, "yes", false, "write the bundle without a question")
	return c
}

// reportText is a report as people read it: a line for each check, and one below it that begins with -> for what to do.
func reportText(report []human.Diagnosis, words human.Translation) string {
	marks := map[string]human.Sentence{human.CheckOK: human.Sayf("ok"), human.CheckWarn: human.Sayf("warn"), human.CheckFail: human.Sayf("fail")}
	lines := make([]human.DoctorCheck, len(report))
	wide := 0
	for i, d := range report {
		lines[i] = d.In(words)
		wide = max(wide, ansi.StringWidth(lines[i].Name))
	}
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "%s  %s  %s\n", padded(words.Say(marks[line.Status]), 4), padded(line.Name, wide), line.Detail)
		if line.Fix != "" {
			fmt.Fprintf(&b, "%4s  %*s  -> %s\n", "", wide, "", line.Fix)
		}
	}
	return b.String()
}

// padded is text with spaces behind it, in columns of a terminal.
func padded(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-ansi.StringWidth(text)))
}

// Examine makes all checks but, where p has none, that of the settings. It leaves nothing behind but the
// data folder.
func Examine(ctx context.Context, program Program, p Place) []human.Diagnosis {
	report := []human.Diagnosis{human.Healthy(human.Sayf("program"), human.Sayf("%s", program.release()))}
	if p.Config != nil {
		report = append(report, program.Update(p)...)
		report = append(report, human.Healthy(human.Sayf("settings"), fileState(p.Config.File())))
	}
	report = append(report, checkFolder(p.Dir), checkSpace(p.Dir), checkDatabase(ctx, program, p.Dir))
	// Of a damaged database, the journal is of interest only where it can be read at all.
	if journal, read := checkJournal(ctx, program, p.Dir); read || report[len(report)-1].Status() != human.CheckFail {
		report = append(report, journal)
	}
	if p.Config != nil {
		report = append(report, checkArchives(ctx, program, p)...)
		report = append(report, checkServer(ctx, p.Dir, p.Config.Settings().Server.Addr))
	}
	report = append(report, checkTeam(program.Team(ctx, p.Dir))...)
	report = append(report, checkDisplay())
	report = append(report, checkSession(ctx)...)
	report = append(report, checkNotifications(program.Notifications(ctx)))
	for _, source := range program.Sources(ctx, p) {
		report = append(report, checkSource(source))
	}
	if p.Config != nil {
		report = append(report, checkModel(ctx, program, p)...)
		report = append(report, program.Summaries(p)...)
	}
	return report
}

// checkModel is about the model in the settings, where there is one that could be asked.
func checkModel(ctx context.Context, program Program, p Place) []human.Diagnosis {
	m, err := program.Model(p)
	if err != nil {
		return nil
	}
	name := human.Sayf("model")
	from, err := m.Key.Find(ctx)
	if err != nil {
		return []human.Diagnosis{human.Limited(name, human.Sayf("%s at %s: %s", m.Name, m.Host, human.Inner{Err: err}), human.Sayf("`deskbell model set-key` keeps one; a model of your own may need none"))}
	}
	return []human.Diagnosis{human.Healthy(name, human.Sayf("%s at %s, with the key from %s", m.Name, m.Host, from))}
}

func fileState(path string) human.Sentence {
	if _, err := os.Stat(path); err != nil {
		return human.Sayf("%s (not there: every setting has its default)", path)
	}
	return human.Sayf("%s", path)
}

func checkFolder(dir string) human.Diagnosis {
	name := human.Sayf("data folder")
	fix := human.Sayf("give yourself the right to write there (`ls -ld` says whose it is), or choose another folder with --data or DESKBELL_DATA")
	if runtime.GOOS == "windows" {
		fix = human.Sayf("give yourself the right to write there, or choose another folder with --data or DESKBELL_DATA")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return human.Broken(name, human.Sayf("%s cannot be made: %v", dir, err), fix)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return human.Broken(name, human.Sayf("%s cannot be written: %v", dir, err), fix)
	}
	return human.Healthy(name, human.Sayf("%s", dir))
}

// lowSpace is where the doctor begins to warn, in bytes.
const lowSpace = 200 << 20

func checkSpace(dir string) human.Diagnosis {
	name := human.Sayf("space")
	free, err := disk.Free(dir)
	switch {
	case err != nil:
		return human.Limited(name, human.Sayf("the free space is not known: %v", err), human.Sayf("see that the data folder is on a disk that is connected"))
	case free < lowSpace:
		return human.Limited(name, human.Sayf("%d MB are free", free>>20), human.Sayf("free some; when the disk is full, Deskbell accepts no requests, so that it loses none"))
	}
	return human.Healthy(name, human.Sayf("%d MB are free", free>>20))
}

// checkJournal reads the whole journal: was an answer changed or removed? read is false where there is none that can be read.
func checkJournal(ctx context.Context, program Program, dir string) (_ human.Diagnosis, read bool) {
	name := human.Sayf("journal")
	if _, err := os.Stat(filepath.Join(dir, datadir.Database)); errors.Is(err, os.ErrNotExist) {
		return human.Healthy(name, human.Sayf("not there yet")), false
	}
	audit, err := program.Audit(ctx, dir)
	if err != nil {
		return human.Broken(name, human.Sayf("it cannot be read: %s", human.Inner{Err: err}), human.Sayf("quit Deskbell, keep a copy of the data folder, and restore a backup of it")), false
	}
	return journalSays(name, audit), true
}

// journalSays says what an audit found.
func journalSays(name human.Sentence, audit receipt.Audit) human.Diagnosis {
	if n := len(audit.Gaps); len(audit.Found) == 0 && n > 0 {
		last := audit.Gaps[n-1]
		return human.Limited(name, human.Sayf("%d entries and %d receipts are as they were written; between them are %d gaps, the last from entry %d to %d, which the repair on %s could not bring back",
			audit.Entries, audit.Receipts, n, last.First, last.Last, last.At.Format(time.DateOnly)), human.Sayf("a backup from before the damage may have what is missing"))
	}
	if len(audit.Found) == 0 {
		if audit.Removed > 0 {
			return human.Healthy(name, human.Sayf("%d entries and %d receipts are as they were written; the words of %d of these entries were removed, the last on %s",
				audit.Entries, audit.Receipts, audit.Removed, audit.RemovedAt.Format(time.DateOnly)))
		}
		return human.Healthy(name, intact(audit.Entries, audit.Receipts))
	}
	const most = 10
	var lines []string
	for _, f := range audit.Found[:min(most, len(audit.Found))] {
		text := f.Text
		if !f.At.IsZero() {
			text += ", of " + f.At.Local().Format(time.DateTime)
		}
		if f.Operation != "" && !strings.Contains(text, string(f.Operation)) {
			text += ", operation " + string(f.Operation)
		}
		lines = append(lines, text)
	}
	changed := human.Sayf("%d of its entries or receipts are not as they were written; %s", len(audit.Found)+audit.More, strings.Join(lines, "; "))
	if len(audit.Found)+audit.More == 1 {
		changed = human.Sayf("one of its entries or receipts is not as it was written; %s", strings.Join(lines, "; "))
	}
	return human.Broken(name, changed, human.Sayf("keep a copy of the data folder for whoever looks into it, then restore a backup of it; receipts that agents have can be checked with `deskbell verify`"))
}

// intact says how much is as it was written.
func intact[N int | int64 | uint64](entries, receipts N) human.Sentence {
	switch {
	case entries == 1 && receipts == 0:
		return human.Sayf("1 entry is as it was written")
	case entries == 0 && receipts == 1:
		return human.Sayf("1 receipt is as it was written")
	case entries == 1 && receipts == 1:
		return human.Sayf("1 entry and 1 receipt are as they were written")
	case entries == 1:
		return human.Sayf("1 entry and %d receipts are as they were written", receipts)
	case receipts == 1:
		return human.Sayf("%d entries and 1 receipt are as they were written", entries)
	}
	return human.Sayf("%d entries and %d receipts are as they were written", entries, receipts)
}

func checkDatabase(ctx context.Context, program Program, dir string) human.Diagnosis {
	name, path := human.Sayf("database"), filepath.Join(dir, datadir.Database)
	lost, err := program.Database(ctx, dir)
	if err != nil {
		return human.Broken(name, human.Sayf("%s", human.Inner{Err: err}), human.Sayf("quit Deskbell, then run `deskbell repair`, which changes nothing before you say so, or restore a backup"))
	}
	info, err := os.Stat(path)
	switch use := human.Sayf("put the file itself there, and give yourself the right to read and write it"); {
	case errors.Is(err, os.ErrNotExist):
		return human.Healthy(name, human.Sayf("%s (not there yet; the first start makes it)", path))
	case err != nil:
		return human.Broken(name, human.Sayf("%s cannot be used: %v", path, reason(err)), use)
	case !info.Mode().IsRegular():
		return human.Broken(name, human.Sayf("%s is no file", path), use)
	case info.Mode().Perm()&0o200 == 0:
		return human.Broken(name, human.Sayf("%s is read-only", path), use)
	}
	if len(lost) > 0 {
		return human.Limited(name, lost[len(lost)-1], human.Sayf("the database is whole without it; restore a backup if you have a newer one, else stop Deskbell and run `deskbell repair --noted`, so that this is not said again"))
	}
	return human.Healthy(name, human.Sayf("%s", path))
}

func checkServer(ctx context.Context, dir, addr string) human.Diagnosis {
	name := human.Sayf("server")
	if server, err := datadir.Find(dir); err == nil {
		if err := healthy(ctx, server.URL); err != nil {
			return human.Broken(name, human.Sayf("process %d should listen on %s, but does not answer", server.PID, server.URL), human.Sayf("stop it (%s), then start Deskbell again", stopCommand(server.PID)))
		}
		return human.Healthy(name, human.Sayf("process %d listens on %s", server.PID, server.URL))
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return human.Broken(name, human.Sayf("none runs, and %s cannot be listened on: %v", addr, reason(err)), portAdvice(addr))
	}
	_ = listener.Close() // it was only a try
	return human.Healthy(name, human.Sayf("none runs; %s is free", addr))
}

// teamNow has the server that runs say how its desk stands, where this terminal is signed in.
func (s *shell) teamNow(ctx context.Context, dir string) (human.DeskState, error) {
	stored, err := s.Team(ctx, dir)
	if err != nil || stored.Team == "" || s.Sessions == nil {
		return stored, err
	}
	token := ""
	server, err := datadir.Find(dir)
	if err == nil {
		token, err = s.Sessions.Load(ctx, server.At())
	}
	if err == nil && token != "" {
		if now, err := client.New(server.At(), token).Team(ctx); err == nil {
			return now, nil
		}
	}
	return stored, nil
}

// checkTeam says how the desk stands with its team, without names, which the bundle leaves out; nothing where it is in none.
func checkTeam(now human.DeskState, err error) []human.Diagnosis {
	name, compare := human.Sayf("team"), human.Sayf("`deskbell team check` compares this desk's copy with the team's journal")
	restart := human.Sayf("start Deskbell again")
	var d human.Diagnosis
	switch {
	case err != nil:
		d = human.Broken(name, human.Sayf("%s", human.Inner{Err: err}), human.Sayf("ask for a new link, and join the team again"))
	case now.Team == "":
		return nil
	case now.Left:
		d = human.Limited(name, human.Sayf("this desk left its team"), restart)
	case now.Restart:
		d = human.Limited(name, human.Sayf("this desk joined a team, and connects once Deskbell is started again"), restart)
	case now.Since.IsZero():
		d = human.Healthy(name, human.Sayf("this desk is in one; whether it is connected was not asked, because Deskbell does not run, or you are not signed in here")).
			Hint(human.Sayf("`deskbell team` says how it stands"))
	case now.Online:
		d = human.Healthy(name, human.Sayf("connected since %s; nothing waits, and nothing is missing", now.Since.Local().Format(time.DateTime))).Hint(compare)
	default:
		d = human.Limited(name, human.Sayf("not connected since %s: %s; changes of the team that are not here yet: %d; requests that wait here: %d",
			now.Since.Local().Format(time.DateTime), cmp.Or(now.Problem, "it catches up"), now.Behind, now.Waiting),
			human.Sayf("see that this machine reaches the hub, and that the hub runs; then `deskbell team check` compares this desk's copy with the team's journal"))
	}
	return []human.Diagnosis{d}
}

// stopCommand ends a process.
func stopCommand(pid int) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf("`taskkill /PID %d`", pid)
	}
	return fmt.Sprintf("`kill %d`", pid)
}

// portAdvice says what to do when an address is taken.
func portAdvice(addr string) human.Sentence {
	if _, port, err := net.SplitHostPort(addr); err == nil && addr == settings.DefaultAddr {
		return human.Sayf("stop the program that listens on port %s, or choose another port with --addr, DESKBELL_ADDR or server.addr", port)
	}
	return human.Sayf("choose another address with --addr, DESKBELL_ADDR or server.addr; port 0 takes any free one")
}

// reason is the innermost part of a network error.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func checkDisplay() human.Diagnosis {
	name := human.Sayf("display")
	if !hasDisplay() {
		return human.Limited(name, human.Sayf("none, so no window and no cards"), human.Sayf("`deskbell serve` gives the console to a browser, `deskbell tui` the inbox to this terminal"))
	}
	if d := os.Getenv("WAYLAND_DISPLAY"); d != "" {
		return human.Healthy(name, human.Sayf("Wayland, %s", d))
	} else if d := os.Getenv("DISPLAY"); d != "" {
		return human.Healthy(name, human.Sayf("X11, %s", d))
	}
	return human.Healthy(name, human.Sayf("there is one"))
}

func checkNotifications(service Notifications) human.Diagnosis {
	name := human.Sayf("notifications")
	switch {
	case !service.Shown:
		return human.Limited(name, human.Sayf("no program shows notifications in this session; cards are still shown"), human.Sayf("install and start a notification daemon, such as dunst, mako or your desktop's own"))
	case !service.Buttons:
		return human.Limited(name, human.Sayf("%s shows them, without buttons", service.Name), human.Sayf("answer in the card or the console"))
	}
	return human.Healthy(name, human.Sayf("%s, with buttons", service.Name))
}

// recorded are the names of the checks of what can be recorded.
func recorded(source human.SourceName) human.Sentence {
	return map[human.SourceName]human.Sentence{
		human.InputSource: human.Sayf("record keys"), human.WindowSource: human.Sayf("record windows"), human.ElementSource: human.Sayf("record elements"),
		human.ScreenSource: human.Sayf("record screen"), human.FileSource: human.Sayf("record files"), human.ClipboardSource: human.Sayf("record clipboard"),
		human.BrowserSource: human.Sayf("record browser"),
	}[source]
}

// checkSource says whether a source of the recorder is there. Recording continues without one, so none fails.
func checkSource(s human.SourceState) human.Diagnosis {
	name := recorded(s.Source)
	switch {
	case s.Status == "off":
		return human.Healthy(name, human.Sayf("recorded in the folders that are named for a recording, or in recording.folders"))
	case s.Status == "complete" && s.Detail == "":
		return human.Healthy(name, human.Sayf("can be recorded"))
	case s.Status == "complete" && s.Fix == "":
		return human.Healthy(name, human.Sentence{Text: s.Detail})
	case s.Status == "complete":
		return human.Healthy(name, human.Sentence{Text: s.Detail}).Hint(human.Sentence{Text: s.Fix})
	}
	why, fix := sourceWords(s.Code)
	// What the source itself says is more exact; it says it in English.
	why.Text, fix.Text = cmp.Or(s.Detail, why.Text), cmp.Or(s.Fix, fix.Text)
	return human.Limited(name, why, fix)
}

// sourceWords say, for each code of human.SourceState, why a source is missing or has gaps and what to do.
func sourceWords(code string) (why, fix human.Sentence) {
	switch code {
	case "wayland":
		return human.Sayf("this is a Wayland session, which shows a program little of the others"), human.Sayf("to record all of it, log out, choose a session on Xorg (X11) on the log-in screen, and log in again")
	case "no_display":
		return human.Sayf("there is no display here"), human.Sayf("start Deskbell in a graphical session, as the user who is logged in there")
	case "no_accessibility_bus":
		return human.Sayf("the accessibility service does not answer, so password fields cannot be told from others"), human.Sayf("install at-spi2-core, log out and in, and start Deskbell in that session")
	case "no_permission":
		return human.Sayf("the system does not allow it"), human.Sayf("allow it for Deskbell in the system's settings for privacy, then start Deskbell again")
	case "elevated":
		return human.Sayf("a program that runs as administrator has the keyboard"), human.Sayf("run that program without the rights of an administrator")
	case "lost":
		return human.Sayf("it did not answer, or events can be lost"), human.Sayf("try again; if it stays so, log out and in")
	case "no_folder":
		return human.Sayf("a folder is not there or cannot be read"), human.Sayf("choose folders that exist and that you may read, in recording.folders")
	case "no_browser":
		return human.Sayf("no browser was found that Deskbell can record"), human.Sayf("install Chromium, Chrome or Edge, or set recording.browser.path")
	case "unsupported":
		return human.Sayf("this system does not offer it"), human.Sayf("nothing has to be done: recording continues without it")
	}
	return human.Sayf("it has gaps here"), human.Sayf("nothing has to be done: a recording counts what it could not see")
}
