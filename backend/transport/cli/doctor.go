package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/settings"
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
			checks := Examine(ctx, s.Program, Place{Dir: dir, Config: place.Config})
			if err != nil {
				checks = slices.Insert(checks, 1, examined("settings", human.CheckFail, human.SafeText(err), ""))
			}
			for _, check := range checks {
				if check.Status == human.CheckFail {
					s.code = exitNo
				}
			}
			if bundle != "" {
				pages, err := s.bundle(Place{Dir: dir, Config: place.Config}, checks)
				if err != nil {
					return err
				}
				return s.writeBundle(bundle, pages, yes)
			}
			if s.json {
				return s.printJSON(struct {
					OK     bool                `json:"ok"`
					Checks []human.DoctorCheck `json:"checks"`
				}{s.code == exitYes, checks})
			}
			for _, check := range checks {
				s.printf("%-4s  %-16s %s\n", check.Status, check.Name, visible(check.Detail))
				if check.Fix != "" {
					s.printf("%-4s  %-16s -> %s\n", "", "", visible(check.Fix))
				}
			}
			return nil
		},
	}
	s.settingFlags(c)
	s.jsonFlag(c, "print the report as one line of JSON")
	c.Flags().StringVar(&bundle, "bundle", "", "show, ask, and write a zip `FILE` for whoever helps: the report, settings, logs, crashes; masked, without requests and keys")
	c.Flags().BoolVar(&yes, "yes", false, "write the bundle without a question")
	return c
}

// examined is how a check ended; fix is what would help.
func examined(name, status, detail, fix string) human.DoctorCheck {
	return human.DoctorCheck{Name: name, Status: status, Detail: detail, Fix: fix}
}

// Examine makes all checks but, where p has none, that of the settings. It leaves nothing behind but the
// data folder.
func Examine(ctx context.Context, program Program, p Place) []human.DoctorCheck {
	checks := []human.DoctorCheck{examined("program", human.CheckOK, program.release(), "")}
	if p.Config != nil {
		checks = append(checks, program.Update(p)...)
		checks = append(checks, examined("settings", human.CheckOK, fileState(p.Config.File()), ""))
	}
	checks = append(checks, checkFolder(p.Dir), checkSpace(p.Dir), checkDatabase(ctx, program, p.Dir))
	if checks[len(checks)-1].Status == human.CheckOK {
		checks = append(checks, checkJournal(ctx, program, p.Dir))
	}
	if p.Config != nil {
		checks = append(checks, checkServer(ctx, p.Dir, p.Config.Settings().Server.Addr))
	}
	checks = append(checks, checkDisplay())
	checks = append(checks, checkSession(ctx)...)
	checks = append(checks, checkNotifications(program.Notifications(ctx)))
	for _, source := range program.Sources(ctx, p) {
		checks = append(checks, checkSource(source))
	}
	if p.Config != nil {
		checks = append(checks, checkModel(ctx, program, p)...)
		checks = append(checks, program.Summaries(p)...)
	}
	return checks
}

// checkModel is about the model in the settings, where there is one that could be asked.
func checkModel(ctx context.Context, program Program, p Place) []human.DoctorCheck {
	m, err := program.Model(p)
	if err != nil {
		return nil
	}
	at := m.Name + " at " + m.Host
	from, err := m.Key.Find(ctx)
	if err != nil {
		return []human.DoctorCheck{examined("model", human.CheckWarn, at+": "+human.SafeText(err), "deskbell model set-key, unless it needs none")}
	}
	return []human.DoctorCheck{examined("model", human.CheckOK, at+", with the key from "+from, "")}
}

func fileState(path string) string {
	if _, err := os.Stat(path); err != nil {
		return path + " (not there: every setting has its default)"
	}
	return path
}

func checkFolder(dir string) human.DoctorCheck {
	c := human.DoctorCheck{Name: "data folder", Status: human.CheckFail, Fix: "give yourself the right to write there, or choose another folder with --data or DESKBELL_DATA"}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.Detail = fmt.Sprintf("%s cannot be made: %v", dir, err)
		return c
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		c.Detail = fmt.Sprintf("%s cannot be written: %v", dir, err)
		return c
	}
	return examined("data folder", human.CheckOK, dir, "")
}

// lowSpace is where the doctor begins to warn, in bytes.
const lowSpace = 200 << 20

func checkSpace(dir string) human.DoctorCheck {
	free, err := disk.Free(dir)
	switch {
	case err != nil:
		return examined("space", human.CheckWarn, "unknown: "+err.Error(), "")
	case free < lowSpace:
		return examined("space", human.CheckWarn, fmt.Sprintf("%d MB are free", free>>20), "free some; when the disk is full, Deskbell accepts no requests, so that it loses none")
	}
	return examined("space", human.CheckOK, fmt.Sprintf("%d MB are free", free>>20), "")
}

// checkJournal reads the whole journal: was an answer changed or removed?
func checkJournal(ctx context.Context, program Program, dir string) human.DoctorCheck {
	if _, err := os.Stat(filepath.Join(dir, datadir.Database)); errors.Is(err, os.ErrNotExist) {
		return examined("journal", human.CheckOK, "not there yet", "")
	}
	audit, err := program.Audit(ctx, dir)
	if err != nil {
		return examined("journal", human.CheckFail, "it cannot be read: "+human.SafeText(err), "")
	}
	if len(audit.Found) == 0 {
		return examined("journal", human.CheckOK, intact(audit.Entries, audit.Receipts), "")
	}
	const most = 10
	lines := []string{fmt.Sprintf("%d of its entries or receipts are not as they were written", len(audit.Found)+audit.More)}
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
	return examined("journal", human.CheckFail, strings.Join(lines, "; "), "keep a copy of the data folder for whoever looks into it, then restore a backup of it; receipts that agents have can be checked with `deskbell verify`")
}

// intact says how much is as it was written.
func intact[N int | int64 | uint64](entries, receipts N) string {
	of := func(n N, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	verb := "are as they were"
	if entries+receipts == 1 {
		verb = "is as it was"
	}
	return of(entries, "entry", "entries") + " and " + of(receipts, "receipt", "receipts") + " " + verb + " written"
}

func checkDatabase(ctx context.Context, program Program, dir string) human.DoctorCheck {
	path := filepath.Join(dir, datadir.Database)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return examined("database", human.CheckOK, path+" (not there yet; the first start makes it)", "")
	}
	if err := program.Database(ctx, dir); err != nil {
		return examined("database", human.CheckFail, human.SafeText(err), "")
	}
	return examined("database", human.CheckOK, path, "")
}

func checkServer(ctx context.Context, dir, addr string) human.DoctorCheck {
	if server, err := datadir.Find(dir); err == nil {
		if err := healthy(ctx, server.URL); err != nil {
			return examined("server", human.CheckFail, fmt.Sprintf("process %d should listen on %s, but does not answer", server.PID, server.URL), "stop that process and start Deskbell again")
		}
		return examined("server", human.CheckOK, fmt.Sprintf("process %d listens on %s", server.PID, server.URL), "")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return examined("server", human.CheckFail, fmt.Sprintf("none runs, and %s cannot be listened on: %v", addr, reason(err)), portAdvice(addr))
	}
	_ = listener.Close() // it was only a try
	return examined("server", human.CheckOK, "none runs; "+addr+" is free", "")
}

// portAdvice says what to do when an address is taken.
func portAdvice(addr string) string {
	if _, port, err := net.SplitHostPort(addr); err == nil && addr == settings.DefaultAddr {
		return "stop the program that listens on port " + port + ", or choose another port with --addr, DESKBELL_ADDR or server.addr"
	}
	return "choose another address with --addr, DESKBELL_ADDR or server.addr; port 0 takes any free one"
}

// reason is the innermost part of a network error.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func checkDisplay() human.DoctorCheck {
	if hasDisplay() {
		found := "there is one"
		if d := os.Getenv("WAYLAND_DISPLAY"); d != "" {
			found = "Wayland, " + d
		} else if d := os.Getenv("DISPLAY"); d != "" {
			found = "X11, " + d
		}
		return examined("display", human.CheckOK, found, "")
	}
	return examined("display", human.CheckWarn, "none, so no window and no cards", "`deskbell serve` gives the console to a browser")
}

func checkNotifications(service Notifications) human.DoctorCheck {
	switch {
	case !service.Shown:
		return examined("notifications", human.CheckWarn, "no program shows notifications in this session; cards are still shown", "install and start a notification daemon, such as dunst, mako or your desktop's own")
	case !service.Buttons:
		return examined("notifications", human.CheckWarn, service.Name+" shows them, without buttons", "answer in the card or the console")
	}
	return examined("notifications", human.CheckOK, service.Name+", with buttons", "")
}

// recorded are the names of the checks of what can be recorded.
var recorded = map[human.SourceName]string{
	human.InputSource: "record keys", human.WindowSource: "record windows", human.ElementSource: "record elements",
	human.ScreenSource: "record screen", human.FileSource: "record files", human.ClipboardSource: "record clipboard",
	human.BrowserSource: "record browser",
}

// checkSource says whether a source of the recorder is there. Recording continues without one, so none fails.
func checkSource(s human.SourceState) human.DoctorCheck {
	c := examined(recorded[s.Source], human.CheckWarn, s.Detail, s.Fix)
	switch s.Status {
	case "complete":
		c.Status = human.CheckOK
		if c.Detail == "" {
			c.Detail = "can be recorded"
		}
	case "off":
		c.Status, c.Detail = human.CheckOK, "recorded in the folders that are named for a recording, or in recording.folders"
	}
	return c
}
