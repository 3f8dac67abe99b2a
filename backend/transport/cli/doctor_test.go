package cli

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/settings"
)

type noKey struct{ Key }

func (noKey) Find(context.Context) (string, error) { return "", errors.New("no key") }

// badly is a program of which nothing works: every check of the doctor can be seen as it is then.
func badly() Program {
	trouble := human.Errorf(human.Internal, "it does not work")
	return Program{
		Version:       "1.0",
		Database:      func(context.Context, string) ([]human.Sentence, error) { return nil, trouble },
		Audit:         func(context.Context, string) (receipt.Audit, error) { return receipt.Audit{}, trouble },
		Notifications: func(context.Context) Notifications { return Notifications{} },
		Model:         func(Place) (Model, error) { return Model{Name: "m", Host: "h", Key: noKey{}}, nil },
		Team:          func(context.Context, string) (human.DeskState, error) { return human.DeskState{}, trouble },
		Update:        func(Place) []human.Diagnosis { return nil },
		Summaries:     func(Place) []human.Diagnosis { return nil },
		Sources: func(context.Context, Place) []human.SourceState {
			var all []human.SourceState
			for _, source := range []human.SourceName{human.InputSource, human.WindowSource, human.ElementSource, human.ScreenSource, human.FileSource, human.ClipboardSource, human.BrowserSource} {
				for _, code := range []string{"wayland", "no_display", "no_accessibility_bus", "no_permission", "elevated", "lost", "no_folder", "no_browser", "unsupported", ""} {
					all = append(all, human.SourceState{Source: source, Status: "missing", Code: code}, human.SourceState{Source: source, Status: "partial", Code: code})
				}
			}
			return all
		},
	}
}

func translation(t *testing.T) human.Translation {
	t.Helper()
	raw, err := os.ReadFile("../../../frontend/messages/server/zh-CN.json")
	if err != nil {
		t.Fatal(err)
	}
	var words human.Translation
	if err := json.Unmarshal(raw, &words); err != nil {
		t.Fatal(err)
	}
	return words
}

// worst are reports in which each check of this package is not ok in one of them at least.
func worst(t *testing.T) map[string][]human.Diagnosis {
	t.Helper()
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	config, err := settings.Load(settings.Options{Dir: dir, Flags: map[string]string{"server.addr": taken.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.Database), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	noFolder := filepath.Join(dir, datadir.Database, "below a file")
	changed, readable := badly(), badly()
	changed.Database = func(context.Context, string) ([]human.Sentence, error) { return nil, nil }
	changed.Audit = func(context.Context, string) (receipt.Audit, error) {
		return receipt.Audit{Found: []receipt.AuditFinding{{Sentence: human.Sentence{Text: "entry 3 was changed"}}}}, nil
	}
	readable.Database = changed.Database
	return map[string][]human.Diagnosis{
		"nothing works":       Examine(t.Context(), badly(), Place{Dir: dir, Config: config}),
		"a changed journal":   Examine(t.Context(), changed, Place{Dir: dir, Config: config}),
		"an unread journal":   Examine(t.Context(), readable, Place{Dir: dir, Config: config}),
		"no folder":           Examine(t.Context(), badly(), Place{Dir: noFolder, Config: config}),
		"the zero fix":        {human.Limited(human.Sayf("model"), human.Sayf("not there yet"), human.Sentence{}), human.Broken(human.Sayf("model"), human.Sayf("not there yet"), human.Sentence{})},
		"portless":            {human.Broken(human.Sayf("server"), human.Sayf("not there yet"), portAdvice("[::1]:9")), human.Broken(human.Sayf("server"), human.Sayf("not there yet"), portAdvice(settings.DefaultAddr))},
		"without buttons":     {checkNotifications(Notifications{Shown: true, Name: "dunst"})},
		"no space is known":   {checkSpace(noFolder)},
		"offline":             checkTeam(human.DeskState{Team: "Blue", Member: "Mei", Since: time.Now(), Problem: "no answer", Behind: 3, Waiting: 2}, nil),
		"joined just now":     checkTeam(human.DeskState{Team: "Blue", Member: "Mei", Restart: true}, nil),
		"the settings' error": {human.Broken(human.Sayf("settings"), human.Sayf("not there yet"), human.Sayf("correct that line of the file, or rename the file: every setting then has its default"))},
	}
}

// A database that the check of its pages cannot open is not ok.
func TestTheDoctorLooksAtWhatTheDatabaseIs(t *testing.T) {
	fine := badly()
	fine.Database = func(context.Context, string) ([]human.Sentence, error) { return nil, nil }
	for want, make := range map[string]func(path string) error{
		"no file":        func(path string) error { return os.Mkdir(path, 0o700) },
		"cannot be used": func(path string) error { return os.Symlink(path, path) },
		"read-only":      func(path string) error { return os.WriteFile(path, []byte("x"), 0o400) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, datadir.Database)); err != nil {
			t.Skip(err)
		}
		if line := checkDatabase(t.Context(), fine, dir).Line(); line.Status != human.CheckFail || !strings.Contains(line.Detail, want) {
			t.Errorf("%s: %+v", want, line)
		}
	}
}

// Every line that is not ok says what to do, in English and in Chinese.
func TestEveryLineOfTheDoctorThatIsNotOKHasAFix(t *testing.T) {
	words, seen := translation(t), map[string]bool{}
	for name, report := range worst(t) {
		for _, d := range report {
			english, said := d.Line(), d.In(words)
			if english.Status == human.CheckOK {
				continue
			}
			seen[english.Name] = true
			if english.Fix == "" || english.Detail == "" || english.Name == "" {
				t.Errorf("%s: %+v", name, english)
			}
			if d.Line().SaidFix == nil || said.Fix == english.Fix {
				t.Errorf("%s: the fix of %s is not said in Chinese: %q", name, english.Name, said.Fix)
			}
			if said.Name == english.Name {
				t.Errorf("%s: the name %s is not said in Chinese", name, english.Name)
			}
		}
	}
	for _, name := range []string{"data folder", "space", "database", "journal", "server", "team", "notifications", "model", "record keys", "record windows", "record elements", "record screen", "record files", "record clipboard", "record browser", "settings"} {
		if !seen[name] {
			t.Errorf("no report shows %q as not ok", name)
		}
	}
}

// A DoctorCheck is made of a Diagnosis alone, which cannot be without a fix.
func TestChecksAreMadeOfDiagnoses(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "human" {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				if sel, ok := lit.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "DoctorCheck" {
					t.Errorf("%s makes a DoctorCheck by hand", set.Position(lit.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsIntactIsCounted(t *testing.T) {
	words := translation(t)
	for _, tt := range []struct {
		entries, receipts int
		english, chinese  string
	}{
		{0, 0, "0 entries and 0 receipts are as they were written", "0 条记录和 0 份回执与写入时一致"},
		{1, 0, "1 entry is as it was written", "1 条记录与写入时一致"},
		{0, 1, "1 receipt is as it was written", "1 份回执与写入时一致"},
		{1, 1, "1 entry and 1 receipt are as they were written", "1 条记录和 1 份回执与写入时一致"},
		{1, 2, "1 entry and 2 receipts are as they were written", "1 条记录和 2 份回执与写入时一致"},
		{2, 0, "2 entries and 0 receipts are as they were written", "2 条记录和 0 份回执与写入时一致"},
		{2, 1, "2 entries and 1 receipt are as they were written", "2 条记录和 1 份回执与写入时一致"},
		{2, 2, "2 entries and 2 receipts are as they were written", "2 条记录和 2 份回执与写入时一致"},
	} {
		s := intact(tt.entries, tt.receipts)
		if s.Text != tt.english || words.Say(s) != tt.chinese {
			t.Errorf("%d, %d: %q, %q", tt.entries, tt.receipts, s.Text, words.Say(s))
		}
	}
}

// The doctor says what the server that runs says of the team where this terminal is signed in, and else which team it is.
func TestTheDoctorSaysHowTheTeamStands(t *testing.T) {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.Local)
	online := human.DeskState{Team: "Blue", Member: "Mei", Role: "lead", Online: true, Since: at}
	offline := human.DeskState{Team: "Blue", Member: "Mei", Since: at, Problem: "no answer", Behind: 3, Waiting: 2}
	stored := human.DeskState{Team: "Blue", Member: "Mei"}
	for name, tt := range map[string]struct {
		stored, said human.DeskState
		session      oneSession
		status, says string
	}{
		"connected":     {stored, online, "token", "ok", "connected since 2026-11-01 09:00:00"},
		"not connected": {stored, offline, "token", "warn", "no answer; changes of the team that are not here yet: 3; requests that wait here: 2"},
		"left":          {stored, human.DeskState{Team: "Blue", Left: true}, "token", "warn", "left its team"},
		"joined":        {stored, human.DeskState{Team: "Blue", Member: "Mei", Restart: true}, "token", "warn", "once Deskbell is started again"},
		"not asked":     {stored, online, "", "ok", "in one; whether it is connected was not asked"},
		"in no team":    {human.DeskState{}, online, "token", "", ""},
		"not its own":   {stored, human.DeskState{}, "token", "", ""},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/team" && r.Header.Get("Authorization") == "Bearer token" {
				_ = json.NewEncoder(w).Encode(tt.said)
			} else {
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		dir := t.TempDir()
		claim, err := datadir.Take(dir, "test")
		if err == nil {
			err = claim.Publish(web.URL, false)
		}
		if err != nil {
			t.Fatal(err)
		}
		s := shell{Program: Program{Sessions: tt.session, Team: func(context.Context, string) (human.DeskState, error) { return tt.stored, nil }}}
		report := checkTeam(s.teamNow(t.Context(), dir))
		web.Close()
		if err := claim.Release(); err != nil {
			t.Fatal(err)
		}
		if len(report) == 0 && tt.status == "" {
			continue
		}
		if line := human.Lines(report)[0]; line.Status != tt.status || !strings.Contains(line.Detail, tt.says) || line.Fix == "" {
			t.Errorf("%s: %+v", name, line)
		}
	}
}
