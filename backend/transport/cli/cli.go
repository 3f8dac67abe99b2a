// Package cli is Deskbell's command line: the server, agents' commands, an operator in a terminal, keys,
// settings and the doctor. Text that comes from agents or operators is never printed raw (see visible).
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/settings"
)

// Exit codes of all commands.
const (
	exitYes     = 0 // answered, or approved; for other commands: done
	exitNo      = 1 // denied, declined, or could not be done; doctor: something does not work
	exitUnended = 2 // canceled, or the time limit has passed
	exitError   = 3

	// Of the agent.
	exitDeniedRun   = 4 // an operator said no, or did not confirm in time
	exitInterrupted = 5 // it can continue
)

// A Server is an open Deskbell in this process.
type Server interface {
	// Run serves until ctx ends, then shuts down in order. It returns nil after an orderly end.
	Run(ctx context.Context) error
	// Ready is closed when requests are answered.
	Ready() <-chan struct{}
	// URL is the API's address without a slash at the end.
	URL() string
	// Invite makes a one-time code for an operator, and a link to the console with the code in it. over is closed when they are
	// of no use any more.
	Invite() (code, link string, over <-chan struct{})
}

// A Place is which data folder and settings a command works with.
type Place struct {
	Dir    string
	Config *settings.Config
	Errors io.Writer // where a server's warnings and errors go besides its log; nil: standard error
}

// Keys are the agents' keys of a data folder, whether a server runs on it or not. The program makes them for clients that it starts or
// hooks that it installs; what a person makes or revokes goes through the server.
type Keys interface {
	// AddKey makes a key. It is never to be had again; only its hash is stored. Several may have one name. No ephemeral one is made for an
	// agent whose keys were all revoked: Unauthorized.
	AddKey(ctx context.Context, name string, ephemeral bool) (key string, err error)
	// Keys lists every key there ever was but dropped ones.
	Keys(ctx context.Context) ([]human.Key, error)
	// DropKey makes this one key useless and forgets it, unless it was revoked.
	DropKey(ctx context.Context, key string) error
	// RevokeKey makes all keys of an agent useless, and returns how many. Afterwards only an operator makes one for it.
	RevokeKey(ctx context.Context, name string) (n int, err error)
	Close() error
}

// Sessions keep operators' sessions, each for a server and the session of the terminal that this process runs in.
type Sessions interface {
	// Load returns the token that is kept, "" without one. The error is Unavailable where this system keeps none.
	Load(ctx context.Context, server string) (token string, err error)
	Save(ctx context.Context, server, token string) error
	Remove(ctx context.Context, server string) error
}

// Notifications is who shows the operating system's notifications.
type Notifications struct {
	Shown   bool
	Name    string
	Buttons bool
}

// A Model is the model in the settings: its name, the host that it is asked at, and its key for that host.
type Model struct {
	Name, Host string
	Key        Key
}

// A Webhook is the webhook in the settings: where it leads, its secret, and a delivery of a sample.
type Webhook struct {
	Host   string
	Secret Key
	Test   func(context.Context) error
}

// A Key is that of one model, or the secret of a webhook, in the system's keychain or the environment.
type Key interface {
	// Find says where a key is: a variable's name, or "keychain". NotFound without one, Unavailable where there is
	// no keychain. It blocks while the keychain waits to be unlocked.
	Find(ctx context.Context) (from string, err error)
	// Set keeps a key in the keychain.
	Set(ctx context.Context, key string) error
	// Remove deletes it from the keychain; NotFound without.
	Remove(ctx context.Context) error
}

// A Program is the rest of Deskbell as the command line knows it.
type Program struct {
	Version string
	Built   string // the commit and the day, "cc1becf3d985, 2026-11-23"; empty when not known
	// Open opens the house; its error says what to do.
	Open func(ctx context.Context, p Place) (Server, error)
	// Window shows the app and blocks until it quits, or has the one that runs do what Start says. It is called on the goroutine that
	// called Execute. It loads the settings itself, so that their mistakes are shown where the user looks.
	Window func(Start) error
	// About are a few lines on the program and the system; Mask hides secrets in a text.
	About string
	Mask  func(text string) string
	// Chinese are the sentences that are said in Chinese, in JSON by their codes; nil where there are none.
	Chinese []byte
	// Browse opens an address in the user's browser.
	Browse func(url string) error
	// QuietEnd is when a time without disturbance ends that begins at now; false for what is no length.
	QuietEnd func(length string, now time.Time) (until time.Time, ok bool)
	// Autostart is how Deskbell starts when the user logs in.
	Autostart Autostart
	// Keys opens the keys of a data folder, which is made where it is missing.
	Keys func(ctx context.Context, dir string) (Keys, error)
	// Backups are the copies of a data folder that were made before calls ran.
	Backups func(dir string) Backups
	// Archives opens the backups of a data folder's data, in a folder or, with "", that of the settings. Where more than ToRead is needed,
	// it holds the data folder until done; a Conflict error says who has it.
	Archives func(ctx context.Context, p Place, folder string, needs ArchiveNeeds) (all Archives, done func() error, err error)
	// ServeMCP speaks MCP with one client on in and out until in or ctx ends. It writes nothing else to out.
	// find tells where the server is now, for when it has moved.
	ServeMCP func(ctx context.Context, s MCP, in io.Reader, out io.Writer) error
	// MCPProxy passes messages between an MCP client and a server, and has the calls judged. It returns the server's
	// exit code. It writes nothing but the protocol to out.
	MCPProxy func(ctx context.Context, who Asker, p Proxied, in io.Reader, out, errs io.Writer) (code int, err error)
	// Sessions keep what `deskbell login` opened.
	Sessions Sessions
	// OpenAPI returns the description of the API, in JSON.
	OpenAPI func() ([]byte, error)
	// Database reads all of a data folder's database without changing it. Lost is what is missing since earlier and no operator has read;
	// the error says what is damaged or missing now. A folder without a database is fine where none is due.
	Database func(ctx context.Context, dir string) (lost []human.Sentence, err error)
	// Repair makes a new database of what can be read in a data folder's, and puts it in its place if replace is set. It needs the
	// folder's lock.
	Repair func(ctx context.Context, dir string, replace bool, rescued []string) (Repaired, error)
	// ReadLosses notes that an operator has read what Database says is lost. It needs the folder's lock.
	ReadLosses func(ctx context.Context, dir string) error
	// Audit reads the whole journal of a data folder and says what was changed in it.
	Audit func(ctx context.Context, dir string) (receipt.Audit, error)
	// ReceiptKeys are the public keys of a data folder that sign receipts, the newest last.
	ReceiptKeys func(dir string) ([]receipt.ServerKey, error)
	// Notifications asks this session who shows notifications.
	Notifications func(ctx context.Context) Notifications
	// Model is the model in the settings; the error says why there is none.
	Model func(p Place) (Model, error)
	// Typed is the secret of a name that procedures type.
	Typed func(name string) Key
	// Webhook is the webhook in the settings; the error says why there is none.
	Webhook func(p Place) (Webhook, error)
	// Summaries says what is wrong with summarizers, and how far those of the user's own are confined.
	Summaries func(p Place) []human.Diagnosis
	// Sources says what of the operator's work could be recorded in this session.
	Sources func(ctx context.Context, p Place) []human.SourceState
	// Team is how the desk of a data folder stands with its team. Since is the zero time where only the team is known.
	Team func(ctx context.Context, dir string) (human.DeskState, error)
	// Newest asks updates.feed for the newest version now, and says in a line whether it is newer than this program.
	Newest func(ctx context.Context, p Place) (string, error)
	// Update is the check of what was last found, none where updates.check is off. It asks nothing.
	Update func(p Place) []human.Diagnosis
	// Gate is what judging needs of the machine.
	Gate Gate
	// Connecting puts a data folder's Deskbell into coding agents' settings.
	Connecting func(dir string, admit Admit) Connecting
	// Hooks are the hooks of coding agents.
	Hooks Hooks
	// Service is what starts a program with arguments by itself, for this user.
	Service func(program string, args []string) (Service, error)
	// Processes are those of this user, but for this one, that run one of the programs.
	Processes func(programs ...string) []human.Process
	// Agent is the agent that comes with Deskbell.
	Agent Agent
	// Hub is the server of a team.
	Hub Hub
}

// Autostart is how a data folder's Deskbell starts, hidden, when the user logs in.
type Autostart interface {
	// Set makes it so, or not; doing it again changes nothing. Where names the file or the entry that it changed or looked at.
	Set(on bool, dir string) (where string, err error)
	// On says whether it is so, with this very program.
	On(dir string) (on bool, where string, err error)
}

// A shell is one run of the command line.
type shell struct {
	Program
	in       io.Reader
	out, err io.Writer

	data, config string
	set          []string
	named        map[string]string // the settings' own flags that were given, by key
	url, key     string
	oneTime      string // an operator's code
	json         bool
	asking       bool // polkit's text agent runs
	code         int
}

// Execute runs the command line in args (without the program's name) and returns the exit code. It must
// be called on the main goroutine, where the window has to be.
func Execute(ctx context.Context, p Program, args []string, in io.Reader, out, errs io.Writer) int {
	s := &shell{Program: p, in: in, out: out, err: errs, named: map[string]string{}}
	root := s.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := noSuchCommand(root, args)
	var c *cobra.Command
	if err == nil {
		c, err = root.ExecuteContextC(ctx)
	}
	if err != nil {
		s.complain(err)
		if c != nil && human.KindOf(err) == human.NotFound && !strings.Contains(err.Error(), "`") {
			switch list := listing(c); {
			case list != "":
				s.note("`%s` lists what there is.", list)
			case c.GroupID == "agent":
				s.note("`deskbell ring` prints the id of what it sends; a key sees its own requests only.")
			}
		}
		return exitError
	}
	return s.code
}

// noSuchCommand is the error for a command that a group of commands, such as plan, does not have. Cobra would print the
// group's help and succeed, and a script would take that for an answer.
func noSuchCommand(root *cobra.Command, args []string) error {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	group, rest, err := root.Find(args)
	if err == nil && group.Name() == "help" {
		group, rest, err = root.Find(rest)
	}
	// Flags of others are parsed once only: a list of values would have each twice.
	if err != nil || !group.HasSubCommands() || group.ParseFlags(rest) != nil || group.Flags().NArg() == 0 {
		return nil // Cobra says what there is to say
	}
	words := group.Flags().Args()
	if words[0] == cobra.ShellCompRequestCmd || words[0] == cobra.ShellCompNoDescRequestCmd || group.Runnable() && (group.Args == nil || group.Args(group, words) == nil) {
		return nil
	}
	var known []string
	for _, c := range group.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	says := "there is no command %q of %s"
	if near := human.Nearest(words[0], known); near != "" {
		says += "; did you mean " + near + "?"
	} else if group.HasParent() {
		says += "; it has " + strings.Join(known, ", ") + "."
	} else {
		says += "."
	}
	return human.Errorf(human.Invalid, says+" See `%[2]s --help`.", words[0], group.CommandPath())
}

// sayHow adds to the errors of arguments and flags how a command is to be given.
func sayHow(c *cobra.Command) {
	if check := c.Args; check != nil && c.HasParent() {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			what, names, most, given := err.Error(), strings.Fields(c.Use)[1:], 0, 0
			exact, _ := fmt.Sscanf(what, "accepts %d arg(s), received %d", &most, &given)
			known := exact == 2 || strings.HasPrefix(what, "unknown command") // which is how Cobra says that there may be none
			if !known {
				n, _ := fmt.Sscanf(what, "accepts at most %d arg(s)", &most)
				known = n == 1
			}
			switch {
			case exact == 2 && given < most && most <= len(names):
				what = "what is missing: " + strings.Join(names[given:most], " ")
				if list := listing(c); list != "" && names[given] != "TASK" {
					what += " (`" + list + "` lists them)"
				}
			case known && len(args) > most:
				what = fmt.Sprintf("%q is more than it takes", args[most])
				if most > 0 {
					what += "; put a text with spaces in quotes"
				}
			}
			return human.Wrap(human.Invalid, err, "%s; the command is: %s", what, c.UseLine())
		}
	}
	for _, sub := range c.Commands() {
		sayHow(sub)
	}
}

// listing is the command that lists what the arguments of another name; empty where there is none.
func listing(c *cobra.Command) string {
	p, named := c.Parent(), func(what string) bool { return strings.Contains(c.Use, what) }
	switch {
	case p == nil || !slices.ContainsFunc([]string{"ID", "SESSION", "OPERATION", "RECORDING", "RUN", "revoke NAME"}, named):
		return ""
	case named("RECORDING"):
		return "deskbell recordings list"
	case p.Name() == "attachments":
		return "deskbell inbox --all"
	}
	list := slices.IndexFunc(p.Commands(), func(o *cobra.Command) bool { return o.Name() == "list" })
	switch {
	case p.HasParent() && list >= 0 && p.Commands()[list] != c:
		return p.Commands()[list].CommandPath()
	case p.HasParent() && p.Runnable():
		return p.CommandPath()
	case c.GroupID == "operator", p.Name() == "receipts":
		return "deskbell inbox --all"
	}
	return ""
}

// wrongFlag is the error of a flag, with the one that is meant.
func wrongFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	meant := ""
	if errors.As(err, &unknown) {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		if near := human.Nearest(unknown.GetSpecifiedName(), known); near != "" {
			meant = "; did you mean --" + near + "?"
		}
	}
	return human.Wrap(human.Invalid, err, "%v%s See `%s --help`.", err, cmp.Or(meant, "."), c.CommandPath())
}

// complain prints an error. Our own errors are made to be shown, with the cause where it tells more.
func (s *shell) complain(err error) {
	text := err.Error()
	var ours *human.Error
	if errors.As(err, &ours) {
		text = ours.Msg
	}
	_, _ = fmt.Fprintln(s.err, "deskbell:", visible(text)) // there is nowhere else to complain
}

func (s *shell) root() *cobra.Command {
	var hidden bool
	root := &cobra.Command{
		Use:   "deskbell",
		Short: "Let AI agents ask a human, and answer them",
		Long: "Deskbell lets AI agents ask a human. Without a command it opens the app.\n" +
			"Agents send requests over MCP (`deskbell mcp`), REST, or `deskbell ring`.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       s.Version,
		RunE: func(*cobra.Command, []string) error {
			if hidden {
				return s.window(hiddenStart)
			}
			return s.window(openStart, "")
		},
	}
	root.SetVersionTemplate(s.release() + "\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&s.data, "data", "", "the data folder (DESKBELL_DATA)")
	root.PersistentFlags().StringVar(&s.config, "config", "", "the settings file, if not config.toml in the data folder (DESKBELL_CONFIG)")
	root.Flags().BoolVar(&hidden, "hidden", false, "start without showing the window, until a request arrives")
	s.settingFlags(root)
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"run", "Running Deskbell:", []*cobra.Command{s.openCommand(), s.serveCommand(), s.serviceCommand(), s.hubCommand(), s.mcpCommand(), s.mcpProxyCommand(), s.boxCommand(), s.hookCommand(), s.connectCommand()}},
		{"agent", "For agents and scripts:", []*cobra.Command{s.ringCommand(), s.waitCommand(), s.replyCommand(), s.cancelCommand(), s.agentRunCommand(), s.verifyCommand()}},
		{"operator", "For an operator in a terminal:", []*cobra.Command{
			s.loginCommand(), s.logoutCommand(), s.inviteCommand(), s.joinCommand(), s.teamCommand(), s.inboxCommand(), s.historyCommand(), s.attentionCommand(), s.deleteCommand(), s.tuiCommand(), s.answerCommand(), s.handOverCommand(), s.attachmentsCommand(), s.recordCommand(), s.recordingsCommand(),
			s.summarizeCommand(), s.summarizersCommand(), s.gateCommand(), s.planCommand(), s.procedureCommand(), s.proofCommand(), s.phoneCommand(),
		}},
		{"admin", "Administration:", []*cobra.Command{
			s.quietCommand(), s.autostartCommand(), s.keysCommand(), s.receiptsCommand(), s.backupCommand(), s.restoreCommand(), s.backupsCommand(), s.retentionCommand(), s.modelCommand(), s.webhookCommand(), s.configCommand(), s.doctorCommand(), s.repairCommand(), s.openapiCommand(), s.sampleAgentCommand(), s.versionCommand(), s.uninstallCommand(),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("admin")
	root.SetFlagErrorFunc(wrongFlag)
	sayHow(root)
	return root
}

// settingFlags gives a command the flags that override settings. It replaces the command's PreRun.
func (s *shell) settingFlags(c *cobra.Command) {
	for _, setting := range settings.Table {
		if setting.Flag == "" {
			continue
		}
		help := strings.TrimSuffix(setting.Doc, ".") + " (" + setting.Variable() + ")"
		if setting.Type() == "boolean" {
			c.Flags().Bool(setting.Flag, false, help)
		} else {
			c.Flags().String(setting.Flag, "", help)
		}
	}
	c.Flags().StringArrayVar(&s.set, "set", nil, "override a setting, as `KEY=VALUE`; deskbell config lists them")
	c.PreRun = func(c *cobra.Command, _ []string) {
		for _, setting := range settings.Table {
			if f := c.Flags().Lookup(setting.Flag); f != nil && f.Changed {
				s.named[setting.Key] = f.Value.String()
			}
		}
	}
}

// flags are the settings given on the command line, by key.
func (s *shell) flags() (map[string]string, error) {
	flags := maps.Clone(s.named)
	for _, pair := range s.set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, human.Errorf(human.Invalid, "--set %s: it must be KEY=VALUE", pair)
		}
		flags[key] = text
	}
	return flags, settings.CheckFlags(flags)
}

// dir is the data folder.
func (s *shell) dir() (string, error) { return datadir.Choose(s.data) }

// place reads the settings of the data folder.
func (s *shell) place() (Place, error) {
	dir, err := s.dir()
	if err != nil {
		return Place{}, err
	}
	flags, err := s.flags()
	if err != nil {
		return Place{}, err
	}
	config, err := settings.Load(settings.Options{Dir: dir, File: s.config, Flags: flags})
	return Place{Dir: dir, Config: config}, err
}

// printf writes to standard output. What it is given must be visible text.
func (s *shell) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(s.out, format, args...); err != nil {
		s.code = exitError // the reader has gone; no one is left to tell
	}
}

// note writes to standard error, where it does not disturb a script.
func (s *shell) note(format string, args ...any) {
	_, _ = fmt.Fprintf(s.err, format+"\n", args...) // there is nowhere else to write to
}

// printJSON writes one line of JSON to standard output. What visible would bracket is escaped, which means
// the same to a program and does nothing to a terminal.
func (s *shell) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(escapeJSON(line), '\n'))
	return err
}

func (s *shell) jsonFlag(c *cobra.Command, help string) {
	c.Flags().BoolVar(&s.json, "json", false, help)
}

// interactive says whether a person sits at both ends.
func (s *shell) interactive() bool { return isTerminal(s.in) && isTerminal(s.err) }

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// release is the program with its version, and what it was built from.
func (p Program) release() string {
	if p.Built == "" {
		return "deskbell " + p.Version
	}
	return fmt.Sprintf("deskbell %s (%s)", p.Version, p.Built)
}

func (s *shell) versionCommand() *cobra.Command {
	check := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s.printf("%s\n", s.release())
			if !check {
				return nil
			}
			p, err := s.place()
			if err != nil {
				return err
			}
			line, err := s.Newest(c.Context(), p)
			if err == nil {
				s.printf("%s\n", visible(line))
			}
			return err
		},
	}
	c.Flags().BoolVar(&check, "check", false, "ask updates.feed whether there is a newer one; nothing is downloaded")
	return c
}

func (s *shell) openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "Print the OpenAPI description of the API", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := s.OpenAPI()
			if err != nil {
				return err
			}
			s.printf("%s\n", strings.TrimSpace(string(text)))
			return nil
		},
	}
}

// sortedKeys are a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
