package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// A Start is how the window is started. A window that runs already does the same for Args.
type Start struct {
	Dir  string
	Load func() (Place, error)
	Args []string // see StartArgs
}

// What the first of StartArgs is.
const (
	openStart   = "open"     // then a human.Destination's text
	hiddenStart = "--hidden" // nothing is shown
	QuietStart  = "quiet"    // then how long, "tomorrow" or "off"; only for a window that runs
)

// StartArgs are, of the arguments of a command line, those that say what the window is to do: "open" and a destination, or "--hidden".
// Whatever else stands there, such as --data, counts for nothing.
func StartArgs(args []string) []string {
	if slices.Contains(args, hiddenStart) {
		return []string{hiddenStart}
	}
	for i, word := range args {
		if rest := slices.DeleteFunc(slices.Clone(args[i+1:]), func(w string) bool { return w == "--" }); (word == openStart || word == QuietStart) && len(rest) > 0 {
			return []string{word, rest[0]}
		}
		if strings.HasPrefix(word, "deskbell:") {
			return []string{openStart, word}
		}
	}
	return []string{openStart, ""}
}

func (s *shell) openCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "open [PAGE | ID | LINK]",
		Short: "Show the window, at a page or a request",
		Long: "Show the window, at a page (" + strings.Join(human.Pages, ", ") + "), at the request with this id, or at the request that a\n" +
			"link such as " + human.OperationID("op_…").Link() + " names. A window that runs already is shown; no second one opens.\n" +
			"It opens, and does nothing else: requests are answered in the window.",
		Example: "  deskbell open inbox\n  deskbell open op_01k9zq3v7x8y2m4n6p8r0s2t4v",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return s.window(openStart, strings.Join(args, ""))
		},
	}
}

func (s *shell) quietCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "quiet LENGTH | tomorrow | off",
		Short: "Do not disturb for a while: no cards, no notifications",
		Long: "Do not disturb for a while, such as 30m or 2h, until tomorrow at 8:00, or no longer (off). Requests wait in the inbox and are\n" +
			"counted in the tray. Those of critical risk are shown anyway, unless notifications.quiet_critical is false.",
		Example: "  deskbell quiet 1h\n  deskbell quiet off",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			until, ok := time.Time{}, args[0] == "off"
			if !ok {
				until, ok = s.QuietEnd(args[0], time.Now())
			}
			if !ok {
				return human.BadField("LENGTH", "%q is not a length from 1m to 168h, tomorrow, or off", args[0])
			}
			dir, err := s.dir()
			if err != nil {
				return err
			}
			if server, notFound := datadir.Find(dir); notFound == nil && server.Window {
				err = s.Window(Start{Dir: dir, Load: s.place, Args: []string{QuietStart, args[0]}})
			} else {
				text := ""
				if !until.IsZero() {
					text = until.Format(time.RFC3339)
				}
				err = s.changeSetting(c.Context(), "notifications.quiet_until", text)
			}
			if err == nil && until.IsZero() {
				s.note("Requests are shown again.")
			} else if err == nil {
				s.note("No cards and no notifications until %s.", until.Local().Format("2006-01-02 15:04"))
			}
			return err
		},
	}
	s.urlFlag(c)
	c.Flags().StringVar(&s.oneTime, "code", "", oneTimeHelp)
	return c
}

// changeSetting changes one: through the server that runs, as an operator, or else in the file.
func (s *shell) changeSetting(ctx context.Context, key string, value any) error {
	p, err := s.place()
	if err != nil {
		return err
	}
	if _, err := datadir.Find(p.Dir); err == nil || s.url != "" {
		operator, err := s.operator(ctx)
		if err == nil {
			_, err = operator.SetSettings(ctx, map[string]any{key: value})
		}
		return err
	}
	raw, err := json.Marshal(value)
	if err == nil {
		_, err = p.Config.Update(map[string]json.RawMessage{key: raw})
	}
	return err
}

// window starts the window, or has the one that runs show itself.
func (s *shell) window(args ...string) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	var where human.Destination
	if args[0] == openStart {
		if where, err = human.ParseDestination(args[1]); err != nil {
			return err
		}
	}
	if server, err := datadir.Find(dir); err == nil && !server.Window {
		return s.browse(server, args[0] == hiddenStart, where)
	}
	if !hasDisplay() {
		return human.Errorf(human.Unavailable,
			"there is no display here, so no window. Run `deskbell serve` and open the link it prints in a browser, "+
				"from elsewhere through an SSH tunnel (ssh -L 7717:127.0.0.1:7717 THIS-MACHINE)")
	}
	return s.Window(Start{Dir: dir, Load: s.place, Args: args})
}

// browse is what a start of the window does where a server without a window has the data folder: it opens the console in a browser.
// The address has no code in it: other programs could read it from the browser's arguments.
func (s *shell) browse(server datadir.Server, hidden bool, where human.Destination) error {
	url := server.URL + "/#/inbox"
	switch {
	case where.Operation != "":
		url += "/" + string(where.Operation)
	case where.Page != "":
		url = server.URL + "/#/" + where.Page
	}
	s.note("Deskbell runs already, without a window: process %d. Its console is %s", server.PID, visible(url))
	if hidden {
		return nil
	}
	s.note("To sign in there, run `deskbell invite` in a terminal that is signed in (`deskbell login`). To have the window instead, stop that process first.")
	if !hasDisplay() {
		return nil
	}
	if err := s.Browse(url); err != nil {
		s.note("No browser could be opened: %s", visible(err.Error()))
	}
	return nil
}
