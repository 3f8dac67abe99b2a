package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/transport/client"
)

func (s *shell) procedureCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "procedure", Short: "Work with procedures: what was taught once and runs again",
		Long: "A procedure is work that was shown once in a recorded browser or on the desktop, as a file of steps. It is taught\n" +
			"in the window, or from recordings with `deskbell procedure teach`; the file can be kept, shared and reviewed, and saved again.",
	}
	c.AddCommand(s.procedureListCommand(), s.procedureShowCommand(), s.procedureProposalsCommand(), s.procedureTeachCommand(), s.procedureSaveCommand(), s.procedureLintCommand(),
		s.procedureRunCommand(), s.procedureAgentsCommand(), s.procedureUnattendedCommand(), s.procedureRemoveCommand(), s.procedureSecretCommand())
	return c
}

func (s *shell) procedureListCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "list", Short: "List procedures", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			all, err := operator.Procedures(ctx)
			if err != nil || s.json {
				return cmp.Or(err, s.printJSON(all))
			}
			w := s.columns()
			for _, p := range all {
				w.row("%s\tversion %d\t%s\t%d runs, %d good\t%s\n", visible(p.Name), p.Version, strings.Join(p.Does, ", "), p.Figures.Runs, p.Figures.Good, visible(p.Title))
			}
			return w.flush()
		}),
	}, "print them as one line of JSON")
}

func (s *shell) procedureShowCommand() *cobra.Command {
	version := 0
	c := s.operatorFlags(&cobra.Command{
		Use: "show NAME", Short: "Print a procedure as its file", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			shown, err := operator.Procedure(ctx, args[0], version)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(shown)
			}
			_, err = s.out.Write([]byte(visibleLines(shown.File)))
			return err
		}),
	}, "print all that is known of it as one line of JSON")
	c.Flags().IntVar(&version, "version", 0, "of it; the newest without")
	return c
}

// visibleLines is visible, but for the ends of lines.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (s *shell) procedureProposalsCommand() *cobra.Command {
	dismiss := ""
	c := s.operatorFlags(&cobra.Command{
		Use: "proposals", Short: "List work that was done by hand three times or more in 90 days, and that no procedure covers", Args: cobra.NoArgs,
		Example: "  deskbell procedure proposals\n  deskbell procedure proposals --dismiss op_4f2c",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			if dismiss != "" {
				return operator.DismissProcedureProposal(ctx, human.OperationID(dismiss))
			}
			all, err := operator.ProcedureProposals(ctx)
			if err != nil || s.json {
				return cmp.Or(err, s.printJSON(all))
			}
			for _, p := range all {
				s.printf("%s\n  %d times since %s, %s in all; for %s on %s\n  deskbell procedure teach", visible(p.Title), p.Times, p.First.Local().Format(time.DateOnly),
					(time.Duration(p.Took) * time.Millisecond).Round(time.Second), visible(strings.Join(p.Agents, ", ")), visible(p.Site))
				for _, id := range p.Recordings {
					s.printf(" %s", id)
				}
				s.printf("\n")
			}
			return nil
		}),
	}, "print them as one line of JSON")
	c.Flags().StringVar(&dismiss, "dismiss", "", "do not propose such work again; the `operation` is one of it")
	return c
}

func (s *shell) procedureTeachCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "teach RECORDING... | OPERATION", Short: "Print the file that one to three recordings of the same work make", Args: cobra.RangeArgs(1, 3),
		Long: "Print the file that one to three recordings of the same work make; or, of the operation of a run, the next version of its\n" +
			"procedure with what was done by hand in it. It is not saved: read it, change it, and save it with `deskbell procedure save`.\n" +
			"What it does not cover is listed on standard error.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			draft, err := drafted(ctx, operator, args)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(draft)
			}
			s.linted(draft.Findings)
			_, err = s.out.Write([]byte(visibleLines(draft.File)))
			return err
		}),
	}, "print the draft as one line of JSON")
}

// drafted is what recordings make, or the run of an operation.
func drafted(ctx context.Context, operator *client.Client, ids []string) (procedure.ProcedureDraft, error) {
	if len(ids) == 1 && strings.HasPrefix(ids[0], "op_") {
		return operator.ProcedureCorrection(ctx, human.OperationID(ids[0]))
	}
	var of procedure.DraftOf
	for _, id := range ids {
		of.Recordings = append(of.Recordings, human.RecordingID(id))
	}
	return operator.DraftProcedure(ctx, of)
}

// linted lists on standard error what Lint found.
func (s *shell) linted(all []procedure.LintFinding) (errors int) {
	for _, f := range all {
		where := ""
		if f.Step != "" {
			where = " step " + f.Step + ":"
		}
		s.note("%s:%s %s", f.Level, visible(where), visible(f.Said.Text))
		if f.Level == procedure.LintError {
			errors++
		}
	}
	return errors
}

func (s *shell) procedureSaveCommand() *cobra.Command {
	after, note := 0, ""
	c := s.operatorFlags(&cobra.Command{
		Use: "save FILE", Short: "Save a file as a procedure, or as the next version of one", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			file, err := os.ReadFile(args[0])
			if err != nil {
				return human.Wrap(human.Invalid, err, "the file cannot be read: %s", args[0])
			}
			shown, err := operator.SaveProcedure(ctx, procedure.Change{File: string(file), After: after, Note: note})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(shown)
			}
			s.printf("Saved %s, version %d.\n", visible(shown.Procedure.Name), shown.Version)
			return nil
		}),
	}, "print what was saved as one line of JSON")
	c.Flags().IntVar(&after, "after", 0, "the version that it was made from; 0 for a new procedure")
	c.Flags().StringVar(&note, "note", "", "what is new in it, in a line")
	return c
}

func (s *shell) procedureLintCommand() *cobra.Command {
	policy := ""
	c := &cobra.Command{
		Use: "lint FILE", Short: "Say what a procedure's file does not cover", Args: cobra.ExactArgs(1),
		Long: "Say what a procedure's file does not cover, and whether a policy does not let it run. It needs no server. The exit code is 1\n" +
			"where there is an error, or the policy does not let it run.",
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := os.ReadFile(args[0])
			if err != nil {
				return human.Wrap(human.Invalid, err, "the file cannot be read: %s", args[0])
			}
			p, err := procedure.Read(string(file))
			if err != nil {
				return err
			}
			all := procedure.Lint(p)
			if s.json {
				if err := s.printJSON(all); err != nil {
					return err
				}
			} else if len(all) == 0 {
				s.printf("Nothing found.\n")
			}
			if s.linted(all) > 0 {
				return human.Errorf(human.Invalid, "the procedure cannot be saved as it is")
			}
			if said := procedure.Blocked(p, cmp.Or(policy, p.Policy, procedure.Standard)); said != nil {
				return human.Errorf(human.Invalid, "%s", said.Text)
			}
			return nil
		},
	}
	s.jsonFlag(c, "print the findings as one line of JSON")
	c.Flags().StringVar(&policy, "policy", "", "permissive, standard or strict, in place of the file's own")
	return c
}

func (s *shell) procedureRunCommand() *cobra.Command {
	var with map[string]string
	c := s.operatorFlags(&cobra.Command{
		Use: "run NAME", Short: "Run a procedure and follow it", Args: cobra.ExactArgs(1),
		Long: "Run a procedure in the recorded browser, or on the desktop where it was taught there, and follow it until it ends.\n" +
			"Where something is not as it was taught it stops: decide in the window how it continues.",
		Example: "  deskbell procedure run export_invoice --with customer='Halde & Co' --with month=2026-10",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			asked, err := operator.AskForRun(ctx, args[0], procedure.Call{Parameters: with})
			if err != nil {
				return err
			}
			r, err := operator.StartRun(ctx, asked.Operation)
			if err != nil {
				return err
			}
			return s.followRun(ctx, operator, r)
		}),
	}, "print the run as one line of JSON when it has ended")
	c.Flags().StringToStringVar(&with, "with", nil, "a parameter, as NAME=VALUE; may be given more than once")
	return c
}

// followRun prints what becomes of the steps of a run, until it is over.
func (s *shell) followRun(ctx context.Context, operator *client.Client, r human.RunOfProcedure) (err error) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	said := 0
	stops := 0
	for {
		for ; said < r.At() && !s.json; said++ {
			s.printf("%2d  %s  %s\n", said+1, r.Steps[said].State, visible(r.Steps[said].Step))
		}
		if r.Stop != nil && r.Stops > stops {
			stops = r.Stops
			s.note("Stopped at %s. Expected: %s. Found: %s. Decide in the window: %s", visible(cmp.Or(r.Stop.Step, "an effect")), visible(r.Stop.Expected.Text), visible(r.Stop.Found.Text), r.Operation)
		}
		if r.State.Over() {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if r, err = operator.RunState(ctx, r.Operation); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(r)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		s.printf("%s: %s\n", visible(name), visible(r.Outputs[name]))
	}
	if r.State != human.Succeeded {
		why := ""
		if r.Why != nil {
			why = ": " + r.Why.Text
		}
		return human.Errorf(human.Conflict, "the run ended as %s%s", r.State, why)
	}
	s.printf("Good: all checkpoints held.\n")
	return nil
}

func (s *shell) procedureUnattendedCommand() *cobra.Command {
	var agents, anything, exactly []string
	most, days, off := 0, 0, false
	c := s.operatorFlags(&cobra.Command{
		Use: "unattended NAME", Short: "Show, give or switch off that agents run a procedure without you", Args: cobra.ExactArgs(1),
		Long: "Show whether agents run a procedure without an operator; with --agent, let them, in place of what was let before; with --off,\n" +
			"switch it off. It holds for the newest version only, the agents, values and number a day that are named, and ends. It can be\n" +
			"given after 5 good runs that were watched, one of them of the newest version.",
		Example: "  deskbell procedure unattended export_invoice --agent invoice-bot --value month=2026-10 --any customer --most 5 --days 7\n" +
			"  deskbell procedure unattended export_invoice --off",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			state, err := procedure.UnattendedState{}, error(nil)
			switch {
			case off && len(agents) > 0:
				err = human.Errorf(human.Invalid, "give --agent or --off, not both")
			case off:
				state, err = operator.StopUnattended(ctx, args[0])
			case len(agents) == 0 && (len(anything) > 0 || len(exactly) > 0 || most > 0 || days > 0):
				err = human.Errorf(human.Invalid, "name the agents that may, with --agent")
			case len(agents) == 0:
				state, err = operator.Unattended(ctx, args[0])
			default:
				state, err = letUnattended(ctx, operator, args[0], procedure.UnattendedGrant{
					Agents: agents, Most: most, Until: time.Now().AddDate(0, 0, days),
				}, anything, exactly)
			}
			if err != nil || s.json {
				return cmp.Or(err, s.printJSON(state))
			}
			s.unattended(state)
			return nil
		}),
	}, "print it as one line of JSON")
	c.Flags().StringArrayVar(&agents, "agent", nil, "an agent that may, by its name; may be given more than once")
	c.Flags().StringArrayVar(&exactly, "value", nil, "a value that a parameter may have, as NAME=VALUE; may be given more than once")
	c.Flags().StringArrayVar(&anything, "any", nil, "a parameter that may have any value; may be given more than once")
	c.Flags().IntVar(&most, "most", 0, "runs a day, 1 to 100")
	c.Flags().IntVar(&days, "days", 0, "for how many days from now, 1 to 90")
	c.Flags().BoolVar(&off, "off", false, "switch it off")
	return c
}

// letUnattended gives the newest version of a procedure with these values.
func letUnattended(ctx context.Context, operator *client.Client, name string, g procedure.UnattendedGrant, anything, exactly []string) (procedure.UnattendedState, error) {
	shown, err := operator.Procedure(ctx, name, 0)
	if err != nil {
		return procedure.UnattendedState{}, err
	}
	g.Version, g.Digest, g.Values = shown.Version, shown.Digest, map[string]procedure.UnattendedValues{}
	for _, one := range exactly {
		name, value, is := strings.Cut(one, "=")
		if !is {
			return procedure.UnattendedState{}, human.Errorf(human.Invalid, "--value %q has no =; write it as NAME=VALUE", one)
		}
		g.Values[name] = procedure.UnattendedValues{Values: append(g.Values[name].Values, value)}
	}
	for _, name := range anything {
		g.Values[name] = procedure.UnattendedValues{Any: true, Values: g.Values[name].Values}
	}
	return operator.LetUnattended(ctx, name, g)
}

// unattended prints whether a procedure runs without an operator.
func (s *shell) unattended(state procedure.UnattendedState) {
	g := state.Given
	switch {
	case state.On:
		s.printf("On until %s, %d of %d today. Given by %s for version %d.\n", g.Until.Local().Format(time.DateTime), state.Today, g.Most, visible(g.By), g.Version)
		s.printf("Agents: %s\n", visible(strings.Join(g.Agents, ", ")))
		for _, name := range slices.Sorted(maps.Keys(g.Values)) {
			values := "any"
			if !g.Values[name].Any {
				values = strings.Join(g.Values[name].Values, ", ")
			}
			s.printf("%s: %s\n", visible(name), visible(values))
		}
	case state.Off != nil:
		s.printf("Off: %s.\n", visible(state.Off.Text))
	default:
		s.printf("Off.\n")
	}
	if !state.On && state.Needs != nil {
		s.printf("It cannot be given now: %s.\n", visible(state.Needs.Text))
	}
}

func (s *shell) procedureAgentsCommand() *cobra.Command {
	none, pictures := false, false
	var c *cobra.Command
	c = s.operatorFlags(&cobra.Command{
		Use: "agents NAME [AGENT...]", Short: "Show or say which agents can call a procedure", Args: cobra.MinimumNArgs(1),
		Long: "Show which agents can call a procedure, and which it was run for in the last 30 days; with names of agents, let only those\n" +
			"call it. In a name, * stands for any letters: '*' alone lets all. To others it is no tool, and a call is turned away.",
		Example: "  deskbell procedure agents export_invoice invoice-bot 'claude-*'\n  deskbell procedure agents export_invoice '*'",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			if none && len(args) > 1 {
				return human.Errorf(human.Invalid, "give names or --none, not both")
			}
			shown, err := operator.Procedure(ctx, args[0], 0)
			now := shown.Agents
			others, asked := none || len(args) > 1, c.Flags().Changed("pictures")
			if others {
				now.Agents = append([]string{}, args[1:]...)
			}
			if asked {
				now.Pictures = pictures
			}
			if err == nil && (others || asked) {
				now, err = operator.SetProcedureAgents(ctx, args[0], now.AgentsAllowed)
			}
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(now)
			}
			s.printf("Agents that can call it: %s\n", visible(cmp.Or(strings.Join(now.Agents, ", "), "none")))
			if now.Pictures {
				s.printf("They get a picture of each output.\n")
			}
			for _, a := range now.Callers {
				s.printf("%s: %d runs in 30 days, the last on %s\n", visible(a.Agent), a.Runs, a.Last.Local().Format(time.DateTime))
			}
			return nil
		}),
	}, "print them as one line of JSON")
	c.Flags().BoolVar(&none, "none", false, "let no agent call it")
	c.Flags().BoolVar(&pictures, "pictures", false, "give them a picture of each output; --pictures=false: no more")
	return c
}

func (s *shell) procedureRemoveCommand() *cobra.Command {
	yes := false
	c := s.operatorFlags(&cobra.Command{
		Use: "remove NAME", Short: "Delete a procedure with all its versions", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			if is, err := s.confirmed(yes, fmt.Sprintf("Delete %s with all its versions?", visible(args[0])), "Nothing was deleted."); err != nil || !is {
				return err
			}
			return operator.RemoveProcedure(ctx, args[0])
		}),
	}, "print nothing")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (s *shell) procedureSecretCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "secret", Short: "Store a secret that procedures type, by its name, in the keychain",
		Long: "Procedures name the secrets that they type; their values are in the system's keychain, or in the environment of the server as\n" +
			"DESKBELL_SECRET_NAME. A secret is typed into pages of the site alone that it was taught for.",
	}
	c.AddCommand(
		&cobra.Command{
			Use: "set NAME", Short: "Store one; it is read from standard input", Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				return s.setKey(c.Context(), "secret", args[0], s.Typed(args[0]))
			},
		},
		&cobra.Command{
			Use: "remove NAME", Short: "Delete one", Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error { return s.Typed(args[0]).Remove(c.Context()) },
		})
	return c
}
