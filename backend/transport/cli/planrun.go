package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/transport/client"
)

func (s *shell) planOrderCommand(kind human.OrderKind, short string, ofTask bool) *cobra.Command {
	var text string
	use, n := string(kind)+" SESSION", 1
	if ofTask {
		use, n = use+" TASK", 2
	}
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(n),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			o := human.Order{Kind: kind, Text: text}
			if ofTask {
				o.Task = args[1]
			}
			st, err := operator.Order(ctx, args[0], o)
			if err != nil {
				return err
			}
			return s.planStands(st)
		}),
	}
	c.Flags().StringVar(&text, "text", "", "a message for the agent")
	return s.operatorFlags(c, jsonStatus)
}

func (s *shell) planChangeCommand() *cobra.Command {
	var text, file string
	c := &cobra.Command{
		Use: "change SESSION", Short: "Change the tasks of a running plan that have not started", Args: cobra.ExactArgs(1),
		Long: "Change the tasks of a running plan that have not started: in VISUAL or EDITOR, or by --tasks. Tasks that have started stay.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			return s.changeRun(ctx, operator, args[0], file, text)
		}),
	}
	c.Flags().StringVar(&file, "tasks", "", "a `FILE` with all tasks that are still to run: TOML or JSON; - is standard input")
	c.Flags().StringVar(&text, "text", "", "a message for the agent")
	return s.operatorFlags(c, jsonStatus)
}

func (s *shell) changeRun(ctx context.Context, operator *client.Client, session, file, text string) error {
	st, err := operator.PlanStatus(ctx, session, 0, 0)
	if err != nil {
		return err
	}
	if st.Run == nil {
		return human.Errorf(human.Conflict, "the plan is %s; only one that runs can be changed this way", st.Status)
	}
	var waiting, now []human.Task
	for _, t := range st.Run.Tasks {
		if t.State == human.TaskWaiting {
			waiting = append(waiting, t.Task)
		}
	}
	read := func(text []byte) error {
		_, sub, err := readPlan(text, waiting)
		now = sub.Tasks
		return err
	}
	var sheet *sheet
	if file != "" {
		data, err := s.readFile(file)
		if err == nil {
			err = read(data)
		}
		if err != nil {
			return err
		}
	} else {
		var b strings.Builder
		b.WriteString("# These tasks have not started. Change them, move them, remove some or add some; then save the file and close it.\n")
		writeTasks(&b, waiting, "", func(int) []string { return nil })
		if sheet, err = newSheet(b.String()); err != nil {
			return err
		}
		changed, err := s.edit(ctx, sheet, func(text string) error { return read([]byte(text)) })
		if err != nil {
			s.note("What you wrote is kept in %s", visible(sheet.file))
			return err
		}
		if !changed {
			sheet.drop()
			s.note("You changed nothing.")
			return nil
		}
	}
	if !s.json {
		s.showChanges(plan.Compare(waiting, now))
	}
	if st, err = operator.Order(ctx, session, human.Order{Kind: human.Change, Tasks: now, Text: text}); err != nil {
		if sheet != nil {
			s.note("What you wrote is kept in %s; continue with: deskbell plan change %s --tasks %[1]s", visible(sheet.file), oneLine(session, 200))
		}
		return err
	}
	if sheet != nil {
		sheet.drop()
	}
	if st.Run != nil && len(st.Run.Orders) > 0 && !s.json {
		st.Run.Orders[len(st.Run.Orders)-1].Changes = nil // they were shown before they were sent
	}
	return s.planStands(st)
}

// readFile reads a file that is named on the command line; - is standard input.
func (s *shell) readFile(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(s.in)
	}
	data, err := os.ReadFile(file) //nolint:gosec // named by the user
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "%s cannot be read: %v; check the path, or give - for standard input", file, errors.Unwrap(err))
	}
	return data, nil
}

func (s *shell) planPresetsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "presets", Short: "List, add and remove presets: tasks to put into plans", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			all, err := operator.Presets(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(all)
			}
			if len(all) == 0 {
				s.note("There is no preset; add one with: deskbell plan presets add FILE --name NAME")
			}
			for _, p := range all {
				s.printf("%s  %s", visible(p.ID), oneLine(p.Name, 80))
				if p.About != "" {
					s.printf(": %s", oneLine(p.About, 160))
				}
				s.printf("\n")
				for i, t := range p.Tasks {
					s.printf("  %2d. %s\n", i+1, oneLine(t.Description, 160))
				}
			}
			return nil
		}),
	}
	c.AddCommand(s.presetAddCommand(), s.presetRemoveCommand())
	return s.operatorFlags(c, "print the presets as one line of JSON")
}

func (s *shell) presetAddCommand() *cobra.Command {
	var p plan.Preset
	c := &cobra.Command{
		Use: "add FILE", Short: "Save the tasks in a file as a preset", Args: cobra.ExactArgs(1),
		Long: "Save the tasks in a file, TOML or JSON, as a preset. The file may also have name and about; - is standard input.",
		RunE: func(c *cobra.Command, args []string) error {
			data, err := s.readFile(args[0])
			if err != nil {
				return err
			}
			f, sub, err := readPlan(data, nil)
			if err != nil {
				return human.Wrap(human.Invalid, err, "%s: %s", args[0], human.SafeText(err))
			}
			p.Tasks, p.Name, p.About = sub.Tasks, cmp.Or(p.Name, f.Name), cmp.Or(p.About, f.About)
			operator, err := s.operator(c.Context())
			if err != nil {
				return err
			}
			kept, err := operator.PutPreset(c.Context(), p)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(kept)
			}
			s.printf("%s %s\n", visible(kept.ID), oneLine(kept.Name, 80))
			return nil
		},
	}
	c.Flags().StringVar(&p.Name, "name", "", "its name")
	c.Flags().StringVar(&p.About, "about", "", "when to use it")
	c.Flags().StringVar(&p.ID, "replace", "", "the id of the preset to replace")
	return s.operatorFlags(c, "print the preset as one line of JSON")
}

func (s *shell) presetRemoveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "remove ID", Short: "Delete a preset", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			return operator.DropPreset(ctx, args[0])
		}),
	}
	s.urlFlag(c)
	c.Flags().StringVar(&s.oneTime, "code", "", oneTimeHelp)
	return c
}

func (s *shell) planStatsCommand() *cobra.Command {
	var days int
	c := &cobra.Command{
		Use: "stats", Short: "How plans were answered, how fast, and what people change", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			st, err := operator.PlanStatistics(ctx, days)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(st)
			}
			return s.showStatistics(st)
		}),
	}
	c.Flags().IntVar(&days, "days", 30, "the number of days")
	return s.operatorFlags(c, "print the figures as one line of JSON")
}

func (s *shell) showStatistics(st plan.Statistics) error {
	o := st.Outcomes
	plans := "plans"
	if st.Plans == 1 {
		plans = "plan"
	}
	s.printf("%d %s in %d days\n", st.Plans, plans, st.Days)
	w := s.columns()
	for _, line := range []struct {
		name string
		n    int
	}{{"confirmed", o.Confirmed}, {"  of these automatically", o.Auto}, {"changed", o.Modified}, {"sent back", o.SentBack}, {"cancelled", o.Cancelled}, {"timed out", o.Timeout}} {
		share := ""
		if st.Plans > 0 {
			share = fmt.Sprintf("%.0f %%", 100*float64(line.n)/float64(st.Plans))
		}
		w.row("%s\t%d\t%s\n", line.name, line.n, share)
	}
	if err := w.flush(); err != nil {
		return err
	}
	if st.Median > 0 {
		s.printf("Half were answered within %s, 9 of 10 within %s\n", span(seconds(st.Median)), span(seconds(st.P90)))
	}
	if len(st.Changes) > 0 {
		s.printf("\nWhat people change most\n")
	}
	for _, u := range st.Changes {
		s.printf("  %s: %s (%s)\n", visible(string(u.Change)), oneLine(u.Text, 160), times(u.Times))
	}
	if len(st.Tools) == 0 {
		return nil
	}
	s.printf("\nHow long tasks take\n")
	w = s.columns()
	for _, t := range st.Tools {
		w.row("  %s\t%s\t%s\t%d failed\n", cmp.Or(oneLine(t.Tool, 40), "(no tool)"), span(seconds(t.Median)), runs(t.Runs), t.Failed)
	}
	return w.flush()
}
