package cli

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// A HookPlace is whose settings of a coding agent are meant.
type HookPlace struct {
	Home string // the user's
	Dir  string // a project's root; empty: the user's own settings
}

// A HookCommand is what a coding agent starts before it calls a tool.
type HookCommand struct {
	Program []string // and its first arguments
	Data    string   // the data folder; the environment of the agent does not change it
	Limit   time.Duration
}

// A HookChange is a change of a coding agent's settings that no one has made yet.
type HookChange struct {
	Path    string
	Backup  string // where the file as it was is kept; empty where there was none
	Changes bool
	Diff    string
	Note    string // for the user, once it is made
	Apply   func() error
}

// A HookState says whether Deskbell's hook is in a coding agent's settings.
type HookState struct {
	Client    string `json:"client"`
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Command   string `json:"command,omitempty"`
	Problem   string `json:"problem,omitempty"` // why the agent may not ask, though it is installed
}

// Hooks are the hooks of coding agents.
type Hooks struct {
	Clients []string
	// Answer answers one call, as the program deskbell-hook does; it returns the exit code.
	Answer    func(args []string, in io.Reader, out, errs io.Writer) int
	Install   func(client string, at HookPlace, c HookCommand) (HookChange, error)
	Uninstall func(client string, at HookPlace) (HookChange, error)
	// Look compares what is installed with the command, whatever its limit.
	Look func(client string, at HookPlace, c HookCommand) (HookState, error)
	// KeyFile is where the key of a client's hooks is kept.
	KeyFile func(dir, client string) string
	// Projects are the folders of projects that clients list in a home folder, and more, as far as they are there.
	Projects func(home string, more []string) []string
}

func (s *shell) hookCommand() *cobra.Command {
	clients := strings.Join(s.Hooks.Clients, ", ")
	c := &cobra.Command{
		Use:   "hook CLIENT",
		Short: "Answer the hook of a coding agent; install adds it to the agent's settings",
		Long: "Answer the hook of a coding agent that is about to call a tool: read the call from standard input, have it\n" +
			"checked, and print the decision in the agent's format. CLIENT is one of: " + clients + ".\n\n" +
			"The program deskbell-hook does the same and starts faster.",
		DisableFlagParsing: true, // every mistake has to end with the exit code that blocks a call
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return c.Help()
			}
			s.code = s.Hooks.Answer(args, s.in, s.out, s.err)
			return nil
		},
	}
	c.AddCommand(s.hookInstallCommand(clients), s.hookStatusCommand())
	return c
}

func (s *shell) hookInstallCommand(clients string) *cobra.Command {
	var dir string
	var user, yes, out bool
	var limit time.Duration
	c := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Add the hook to a coding agent's settings, or remove it",
		Long: "Add the hook to a coding agent's settings, after showing the change. Everything else in the file stays as it is, and a\n" +
			"copy is kept beside it. CLIENT is one of: " + clients + ".\n\n" +
			"The agent's hooks get a key of their own, in the data folder.",
		Example: "  deskbell hook install claude-code\n  deskbell hook install codex --dir . --yes\n  deskbell hook install gemini --uninstall",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := hookPlace(dir, user)
			if err != nil {
				return err
			}
			if out {
				change, err := s.Hooks.Uninstall(args[0], at)
				return s.changeHook(change, err, yes, "there is no hook of Deskbell's in it")
			}
			return s.installHook(c.Context(), args[0], at, limit, yes)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "change the settings of the project with this root; default: your own settings, for every project")
	c.Flags().BoolVar(&user, "user", false, "your own settings, for every project")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&out, "uninstall", false, "remove it")
	c.Flags().DurationVar(&limit, "timeout", time.Hour, "how long the agent waits for an answer, at most")
	return c
}

func hookPlace(dir string, user bool) (at HookPlace, err error) {
	if dir != "" && user {
		return at, human.Errorf(human.Invalid, "--dir and --user are two places; give one")
	}
	if dir != "" {
		if at.Dir, err = filepath.Abs(dir); err == nil {
			var info os.FileInfo
			if info, err = os.Stat(at.Dir); err == nil && !info.IsDir() {
				err = errors.New("it is no folder")
			}
		}
		if err != nil {
			return at, human.Wrap(human.Invalid, err, "--dir %s: there is no such folder; give the root of a project, such as --dir .", dir)
		}
	}
	if at.Home, err = os.UserHomeDir(); err != nil {
		return at, human.Wrap(human.Invalid, err, "your home folder is not known: %v", err)
	}
	return at, nil
}

func (s *shell) installHook(ctx context.Context, client string, at HookPlace, limit time.Duration, yes bool) error {
	if limit < 10*time.Second || limit > 24*time.Hour {
		return human.Errorf(human.Invalid, "--timeout must be from 10s to 24h")
	}
	dir, err := s.dir()
	if err != nil {
		return err
	}
	c := HookCommand{Data: dir, Limit: limit}
	if c.Program, err = HookProgram(); err != nil {
		return err
	}
	change, err := s.Hooks.Install(client, at, c)
	if err != nil {
		return err
	}
	// Before the settings: a hook without a key refuses everything, and one that is not noted is not found again.
	if err := s.hookKey(ctx, dir, client); err != nil {
		return err
	}
	if at.Dir != "" {
		if err := noteProject(dir, at.Dir); err != nil {
			return err
		}
	}
	return s.changeHook(change, nil, yes, "the hook is in it already")
}

// OwnProgram is the path of this program as others are to start it: one that stays the same when it is updated.
func OwnProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", human.Wrap(human.Internal, err, "Deskbell cannot find its own program")
	}
	if image := os.Getenv("APPIMAGE"); filepath.IsAbs(image) && strings.Contains(self, string(filepath.Separator)+".mount_") {
		return image, nil // what it is unpacked to is gone when it ends
	}
	slashes := filepath.ToSlash(self)
	if strings.Contains(slashes, "/_npx/") {
		return "", human.Errorf(human.Unavailable, "Deskbell runs from npx's cache, which npm empties; install it first: npm install -g deskbell")
	}
	if strings.Contains(slashes, "/Cellar/") || strings.HasPrefix(slashes, "/nix/store/") { // one folder for each version
		if link, err := exec.LookPath("deskbell"); err == nil && filepath.IsAbs(link) {
			if real, err := filepath.EvalSymlinks(link); err == nil && real == self {
				return link, nil
			}
		}
	}
	return self, nil
}

// HookProgram is deskbell-hook beside this program; without it, this program does the same.
func HookProgram() ([]string, error) {
	self, err := OwnProgram()
	if err != nil {
		return nil, err
	}
	small := filepath.Join(filepath.Dir(self), "deskbell-hook")
	if runtime.GOOS == "windows" {
		small += ".exe"
	}
	if info, err := os.Stat(small); err == nil && info.Mode().IsRegular() {
		return []string{small}, nil
	}
	return []string{self, "hook"}, nil
}

// sameProgram says whether a program was built from the same source as this one.
func sameProgram(path string) bool {
	self, ok := debug.ReadBuildInfo()
	other, err := buildinfo.ReadFile(path)
	return ok && err == nil && other.Main.Path == self.Main.Path
}

// changeHook shows a change and makes it.
func (s *shell) changeHook(change HookChange, err error, yes bool, nothing string) error {
	if err != nil {
		return err
	}
	if !change.Changes {
		s.note("%s: %s.", visible(change.Path), nothing)
		return nil
	}
	for line := range strings.Lines(change.Diff) {
		s.printf("%s\n", visible(strings.TrimSuffix(line, "\n")))
	}
	if !yes {
		if !s.interactive() {
			return human.Errorf(human.Invalid, "nothing was changed; --yes changes it without a question")
		}
		_, _ = fmt.Fprint(s.err, "Make this change? [y/N] ") // there is nowhere else to ask
		line, err := bufio.NewReader(s.in).ReadString('\n')
		if err != nil && line == "" || !strings.EqualFold(strings.TrimSpace(line), "y") && !strings.EqualFold(strings.TrimSpace(line), "yes") {
			s.note("Nothing was changed.")
			s.code = exitNo
			return nil
		}
	}
	if err := change.Apply(); err != nil {
		return err
	}
	s.note("Changed %s.", visible(change.Path))
	if _, err := os.Stat(change.Backup); change.Backup != "" && err == nil {
		s.note("The file as it was is in %s.", visible(change.Backup))
	}
	if change.Note != "" {
		s.note("%s", change.Note)
	}
	return nil
}

// hookKey makes a key for a client's hooks, where there is none that is good.
func (s *shell) hookKey(ctx context.Context, dir, client string) error {
	keys, err := s.Keys(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(EnsureKey(ctx, keys, s.Hooks.KeyFile(dir, client), client, s.admit), keys.Close())
}

// EnsureKey makes a key for a client, where its file has none that is good. It is kept out of the client's settings, which others
// may read. For a client whose keys were all revoked, admit makes it, as an operator.
func EnsureKey(ctx context.Context, keys Keys, file, client string, admit Admit) error {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return human.Wrap(human.Unavailable, err, "%s cannot be read: %v", file, err)
	}
	all, err := keys.Keys(ctx)
	if err != nil {
		return err
	}
	add := func(ctx context.Context, client string) (string, error) { return keys.AddKey(ctx, client, false) }
	if Barred(all, client) {
		add = admit
	}
	for _, k := range all {
		if k.RevokedAt == nil && strings.HasPrefix(strings.TrimSpace(string(text)), "dbk_"+k.ID) {
			return nil
		}
	}
	key, err := add(ctx, client)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
		_ = os.Remove(file) // so that what is written has permissions of its own
		err = os.WriteFile(file, []byte(key+"\n"), 0o600)
	}
	if err != nil {
		return errors.Join(human.Wrap(human.Unavailable, err, "%s cannot be written: %v", file, err), keys.DropKey(ctx, key))
	}
	return nil
}

// An Admit makes a key for an agent whose keys were all revoked: only an operator can.
type Admit func(ctx context.Context, name string) (key string, err error)

// admit asks the server, with the session of the terminal's operator.
func (s *shell) admit(ctx context.Context, name string) (key string, err error) {
	operator, err := s.operator(ctx)
	if err != nil {
		return "", errors.Join(human.RevokedAgent(name), err)
	}
	return operator.AddAgent(ctx, name)
}

// Barred says whether all keys of an agent were revoked; one without keys is not barred.
func Barred(keys []human.Key, name string) bool {
	barred := false
	for _, k := range keys {
		if k.Name == name && k.RevokedAt == nil {
			return false
		}
		barred = barred || k.Name == name
	}
	return barred
}

func (s *shell) hookStatusCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "status", Short: "Print where the hook is installed, and whether its agent asks it", Args: cobra.NoArgs,
		Long: "Print where the hook is installed: in your settings, and in those of the project in this folder. It says what is wrong with an\n" +
			"entry: under another event, asked about some calls only, with another command, switched off, or not trusted by the agent yet.",
		RunE: func(*cobra.Command, []string) error {
			user, err := hookPlace("", false)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = "."
			}
			project, err := hookPlace(dir, false)
			if err != nil {
				return err
			}
			return s.hookStatus([]HookPlace{user, project})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the root of the project; default: this folder")
	s.jsonFlag(c, "print one line of JSON")
	return c
}

// A hookLine is one place of one client.
type hookLine struct {
	HookState
	Scope string `json:"scope"` // user or project
	Key   bool   `json:"key"`   // there is one for it
}

func (s *shell) hookStatus(places []HookPlace) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	c := HookCommand{Data: dir}
	if c.Program, err = HookProgram(); err != nil {
		return err
	}
	replaced := ""
	if !sameProgram(c.Program[0]) {
		replaced = visible(c.Program[0]) + " is not Deskbell's program"
	}
	lines := []hookLine{}
	for _, client := range s.Hooks.Clients {
		_, missing := os.Stat(s.Hooks.KeyFile(dir, client))
		for _, at := range places {
			state, err := s.Hooks.Look(client, at, c)
			line := hookLine{HookState: state, Scope: "user", Key: missing == nil}
			if at.Dir != "" {
				line.Scope = "project"
			}
			if err != nil {
				line.Problem = human.SafeText(err)
			} else if line.Installed && line.Problem == "" {
				line.Problem = replaced
			}
			lines = append(lines, line)
		}
	}
	if s.json {
		return s.printJSON(struct {
			Hooks []hookLine `json:"hooks"`
		}{lines})
	}
	w := s.columns()
	for _, l := range lines {
		state := "not installed"
		switch {
		case l.Problem != "" && l.Installed:
			state = "installed, but " + l.Problem
		case l.Problem != "":
			state = l.Problem
		case l.Installed && !l.Key:
			state = "installed, but its key is missing: install it again"
		case l.Installed:
			state = "installed"
		}
		w.row("%s\t%s\t%s\t%s\n", visible(l.Client), l.Scope, visible(state), visible(l.Path))
	}
	return w.flush()
}
