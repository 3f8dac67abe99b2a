package cli

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/client"
)

// exitPartly is uninstall's for what could be done only in part; its installers go on then.
const exitPartly = 2

// stopPatience is how long a program may take to end in order.
const stopPatience = 30 * time.Second

// A removal is what one run of uninstall does.
type removal struct {
	*shell
	words   human.Translation
	place   Place
	steps   []step
	trouble []string // what cannot be done, and why
}

// A step is one thing that is removed.
type step struct {
	what human.Sentence
	do   func(ctx context.Context) error
}

// uninstallFlags are those of the command.
type uninstallFlags struct {
	dry, yes, data, called bool
	dirs                   []string
}

func (s *shell) uninstallCommand() *cobra.Command {
	var f uninstallFlags
	c := &cobra.Command{
		Use: "uninstall", Short: "Stop Deskbell, take it out of everything of yours, and say how to remove the program", Args: cobra.NoArgs,
		Long: "Stop Deskbell, remove its service and what starts it when you log in, and take it out of the settings of every client: each file is\n" +
			"then as it was before, to the byte, or as you have changed it since. It shows all of that first, and then says how to remove the\n" +
			"program itself and where your data stays. Hooks in projects are removed where Deskbell wrote them, in the projects that Claude Code,\n" +
			"Codex and Gemini CLI list, in this folder, and in those of --dir.\n\n" +
			"While Deskbell runs only an operator can do this, with proof of presence where that is set up. --remove-data always asks an\n" +
			"operator, at a terminal; it deletes requests, answers, recordings and settings for good.",
		Example: "  deskbell uninstall --dry-run\n  deskbell uninstall\n  deskbell uninstall --remove-data",
		RunE:    func(c *cobra.Command, _ []string) error { return s.uninstall(c.Context(), f) },
	}
	c.Flags().BoolVar(&f.dry, "dry-run", false, "print what would be done, and do nothing")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask; only where Deskbell does not run, and never with --remove-data")
	c.Flags().BoolVar(&f.data, "remove-data", false, "delete the data folder, and the model's key in the keychain, too")
	c.Flags().BoolVar(&f.called, "by-uninstaller", false, "the uninstaller of the program calls this: do not say how to remove the program")
	c.Flags().StringArrayVar(&f.dirs, "dir", nil, "remove the hooks from the project with this root, too; may be given several times")
	c.Flags().StringVar(&s.oneTime, "code", "", oneTimeHelp)
	_ = c.Flags().MarkHidden("by-uninstaller") // the flag is there
	return c
}

func (s *shell) uninstall(ctx context.Context, f uninstallFlags) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	place, _ := s.place() // settings with a mistake are no reason to keep Deskbell
	place.Dir = dir
	r := &removal{shell: s, place: place, words: s.language(place)}
	if err := r.plan(ctx, f); err != nil {
		return err
	}
	if len(r.steps) == 0 {
		r.say(human.Sayf("Nothing of Deskbell runs, and it is in no settings."))
	} else {
		r.say(human.Sayf("Uninstalling does this:"))
	}
	for _, st := range r.steps {
		s.printf("  %s\n", visible(r.words.Say(st.what)))
	}
	r.complain()
	if f.dry {
		r.farewell(ctx, f)
		return nil
	}
	if err := r.permit(ctx, f); err != nil || s.code != exitYes {
		return err
	}
	for _, st := range r.steps {
		if err := st.do(ctx); err != nil {
			r.trouble = append(r.trouble, r.words.Say(human.Sayf("%s: %s", human.Inner{Err: errors.New(r.words.Say(st.what))}, human.Inner{Err: err})))
		}
	}
	if len(r.trouble) > 0 {
		r.complain()
		s.code = exitPartly
	} else if len(r.steps) > 0 {
		r.say(human.Sayf("Done."))
	}
	r.farewell(ctx, f)
	return nil
}

// say prints a sentence in the operator's language.
func (r *removal) say(text human.Sentence) { r.printf("%s\n", visible(r.words.Say(text))) }

func (r *removal) complain() {
	for _, text := range r.trouble {
		r.note("%s", visible(r.words.Say(human.Sayf("Not done: %s", text))))
	}
	r.trouble = nil
}

func (r *removal) add(what human.Sentence, do func(ctx context.Context) error) {
	r.steps = append(r.steps, step{what, do})
}

// cannot notes what is in the way of a step.
func (r *removal) cannot(err error) {
	if err != nil {
		r.trouble = append(r.trouble, human.SafeText(err))
	}
}

// plan looks at everything, and changes nothing. What would start Deskbell again comes before what stops it.
func (r *removal) plan(ctx context.Context, f uninstallFlags) error {
	if f.data && f.yes {
		return human.Errorf(human.Invalid, "--remove-data deletes for good, so --yes does not go with it: run it at a terminal, where you are asked")
	}
	if f.data {
		if err := deletable(r.place.Dir); err != nil {
			return err
		}
	}
	r.planClients(ctx)
	if err := r.planHooks(f.dirs); err != nil {
		return err
	}
	r.planStarts(ctx)
	r.planStop()
	if f.data {
		r.planData(ctx)
	}
	return nil
}

func (r *removal) planClients(ctx context.Context) {
	with := r.Connecting(r.place.Dir, r.admit)
	defer with.Close()
	for _, id := range with.IDs() {
		c, err := with.Apart(ctx, id) // which needs no database
		r.cannot(err)
		if err != nil || len(c.Changes) == 0 {
			continue
		}
		r.add(human.Sayf("take Deskbell out of the settings of %s", c.Name), func(ctx context.Context) error {
			with := r.Connecting(r.place.Dir, r.admit)
			defer with.Close()
			_, err := with.Undo(ctx, id)
			return err
		})
	}
}

// planHooks looks for hooks in projects: those that were named, that of this folder, those in which Deskbell wrote one, and those that
// clients list. Only hooks of Deskbell's own are removed, whoever wrote these lists.
func (r *removal) planHooks(dirs []string) error {
	named := len(dirs)
	dirs = slices.Clone(dirs)
	if here, err := os.Getwd(); err == nil {
		dirs = append(dirs, here)
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, r.Hooks.Projects(home, notedProjects(r.place.Dir))...)
	}
	seen := map[string]bool{}
	for i, dir := range dirs {
		at, err := hookPlace(dir, false)
		if err != nil && i < named {
			return err
		}
		if err != nil || at.Dir == at.Home {
			continue
		}
		for _, id := range r.Hooks.Clients {
			state, err := r.Hooks.Look(id, at, HookCommand{Data: r.place.Dir})
			real, link := filepath.EvalSymlinks(state.Path)
			if err != nil || !state.Installed || link != nil || seen[real] {
				continue // what cannot be read is no hook of ours
			}
			seen[real] = true
			r.add(human.Sayf("remove the hook from %s", state.Path), func(context.Context) error {
				change, err := r.Hooks.Uninstall(id, at)
				if err != nil {
					return err
				}
				return change.Apply()
			})
		}
	}
	return nil
}

// planStarts looks for what starts Deskbell by itself.
func (r *removal) planStarts(ctx context.Context) {
	service, _, err := r.service()
	var st ServiceState
	if err == nil {
		st, err = service.State(ctx)
	}
	r.cannot(err)
	if err == nil && st.Written {
		r.add(human.Sayf("stop and remove the service: %s", st.Where), service.Uninstall)
	}
	on, where, err := r.Autostart.On(r.place.Dir)
	r.cannot(err)
	if _, there := os.Stat(where); on || there == nil {
		r.add(human.Sayf("remove what starts Deskbell when you log in: %s", where), func(context.Context) error {
			_, err := r.Autostart.Set(false, r.place.Dir)
			return err
		})
	}
}

// planStop looks for what runs: the server, and what clients have started.
func (r *removal) planStop() {
	if n := len(r.running()); n > 0 {
		r.add(human.Sayf("stop what clients have started of Deskbell (%d)", n), func(ctx context.Context) error { return stop(ctx, r.running) })
	}
	if server, err := datadir.Find(r.place.Dir); err == nil {
		r.add(human.Sayf("stop Deskbell, which runs on %s (process %d)", r.place.Dir, server.PID), r.stopServer)
	}
}

// stopServer stops what runs on the data folder, if anything does, and ends this terminal's session with it.
func (r *removal) stopServer(ctx context.Context) error {
	server, err := datadir.Find(r.place.Dir)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	if r.Sessions != nil {
		_ = r.Sessions.Remove(ctx, server.At()) // without the server it opens nothing
	}
	return stop(ctx, func() []int {
		if !datadir.Held(r.place.Dir) {
			return nil
		}
		return []int{server.PID}
	})
}

// running are the programs of this Deskbell on the data folder, but for the server and this one.
func (r *removal) running() []int {
	server, _ := datadir.Find(r.place.Dir)
	usual := datadir.Usual() == r.place.Dir
	var found []int
	for _, p := range r.Processes(ownPrograms()...) {
		i := slices.Index(p.Args, "--data")
		if i >= 0 && i+1 < len(p.Args) {
			if p.Args[i+1] != r.place.Dir {
				continue
			}
		} else if !usual {
			continue
		}
		if p.PID != server.PID {
			found = append(found, p.PID)
		}
	}
	return found
}

// ownPrograms are the paths of this program and those beside it.
func ownPrograms() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	suffix := filepath.Ext(self)
	if runtime.GOOS != "windows" {
		suffix = ""
	}
	all := []string{self}
	for _, name := range []string{"deskbell", "deskbellw", "deskbell-hook"} {
		if path := filepath.Join(filepath.Dir(self), name+suffix); path != self {
			all = append(all, path)
		}
	}
	return all
}

// stop ends processes and waits until they are gone: in order where the system can ask for that.
func stop(ctx context.Context, those func() []int) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	asked := map[int]bool{}
	for {
		left := those()
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			p, err := os.FindProcess(pid)
			if err != nil || asked[pid] {
				continue
			}
			asked[pid] = true
			if p.Signal(syscall.SIGTERM) != nil { // which Windows does not have
				_ = p.Kill() // that it is gone is what is waited for
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return human.Errorf(human.Unavailable, "process %d still runs", left[0])
		}
	}
}

// deletable says why a folder is not to be deleted as a data folder.
func deletable(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, datadir.Database)); err != nil {
		return human.Errorf(human.NotFound, "%s has no database of Deskbell in it, so nothing of it is deleted", dir)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return human.Errorf(human.Invalid, "%s is a link; name the folder itself with --data", dir)
	}
	home, err := os.UserHomeDir()
	if err == nil {
		var to string
		if to, err = filepath.Rel(dir, home); err == nil && to != ".." && !strings.HasPrefix(to, ".."+string(filepath.Separator)) {
			return human.Errorf(human.Invalid, "%s holds your home folder, so it is not deleted", dir)
		}
	}
	return nil
}

func (r *removal) planData(ctx context.Context) {
	if r.place.Config != nil {
		if m, err := r.Model(r.place); err == nil {
			if from, err := m.Key.Find(ctx); err == nil && from == "keychain" {
				r.add(human.Sayf("delete the key of the model %s from the keychain", m.Name), m.Key.Remove)
			}
		}
	}
	dir, files, bytes := r.place.Dir, 0, int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				files, bytes = files+1, bytes+info.Size()
			}
		}
		return nil // what cannot be looked at is not counted
	})
	r.add(human.Sayf("delete the data folder %s for good: %d files, %d bytes", dir, files, bytes), func(ctx context.Context) error {
		if err := r.stopServer(ctx); err != nil {
			return err
		}
		return os.RemoveAll(dir)
	})
}

// permit asks whoever has to allow it. Nothing is done where the code is not 0 afterwards.
func (r *removal) permit(ctx context.Context, f uninstallFlags) (err error) {
	runs := datadir.Held(r.place.Dir)
	switch {
	case len(r.steps) == 0:
		return nil
	case !runs && f.yes:
		return nil
	case !r.interactive() && f.data:
		return human.Errorf(human.Invalid, "nothing was changed; data is deleted only from a terminal, where you are asked")
	case !r.interactive() && !f.yes:
		return human.Errorf(human.Invalid, "nothing was changed; run this in a terminal, or quit Deskbell and add --yes")
	}
	if f.data && !runs {
		url, err := r.start(ctx, r.place, []string{"serve"}) // only a server knows its operator
		if err != nil {
			return err
		}
		r.note("%s", r.words.Say(human.Sayf("Started Deskbell on %s, to ask whether you may do this.", url)))
		defer func() {
			if err != nil || r.code != exitYes {
				err = errors.Join(err, r.stopServer(ctx))
			}
		}()
	}
	if runs || f.data {
		operator, err := r.operatorHere(ctx)
		if err == nil {
			err = operator.ProveUninstall(ctx)
		}
		if err != nil {
			return err
		}
	}
	if f.yes {
		return nil
	}
	word := "uninstall"
	if f.data {
		word = r.place.Dir
	}
	lines := bufio.NewScanner(r.in)
	if !r.ask(r.words.Say(human.Sayf("Type %s to do this:", visible(word)))+" ", lines) || strings.TrimSpace(lines.Text()) != word {
		r.note("%s", r.words.Say(human.Sayf("Nothing was changed.")))
		r.code = exitNo
	}
	return nil
}

// operatorHere is a client of the operator, who signs in where this terminal is not.
func (r *removal) operatorHere(ctx context.Context) (*client.Client, error) {
	server, err := datadir.Find(r.place.Dir)
	if err != nil {
		return nil, err
	}
	at := server.At()
	r.url = at // whatever the environment names: another server has nothing to say about this data folder
	if r.oneTime == "" && r.interactive() && !r.signedIn(ctx) {
		r.note("%s", r.words.Say(human.Sayf("Only an operator can do this.")))
		if r.oneTime, err = r.askForCode(ctx, at); err != nil {
			return nil, err
		}
	}
	return r.operator(ctx)
}

// farewell says what is left, and how to remove it.
func (r *removal) farewell(ctx context.Context, f uninstallFlags) {
	if _, err := os.Stat(r.place.Dir); err == nil && !f.data {
		r.say(human.Sayf("Your data stays in %s: requests, answers, recordings and settings. `deskbell uninstall --remove-data` deletes it.", r.place.Dir))
		if r.place.Config != nil {
			if m, err := r.Model(r.place); err == nil {
				if from, err := m.Key.Find(ctx); err == nil && from == "keychain" {
					r.say(human.Sayf("The key of the model %s stays in the keychain. `deskbell model remove-key` deletes it.", m.Name))
				}
			}
		}
	}
	r.say(human.Sayf("A hook in a project that was not found: deskbell hook install CLIENT --dir FOLDER --uninstall"))
	if f.called {
		return
	}
	if self, err := ownPath(); err == nil {
		r.say(howToRemove(self))
	}
}
