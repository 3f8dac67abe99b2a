package cli

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

func (s *shell) historyCommand() *cobra.Command {
	c := &cobra.Command{Use: "history", Short: "Export what agents asked for, and how it ended", Args: cobra.NoArgs}
	c.AddCommand(s.historyExportCommand())
	return c
}

func (s *shell) historyExportCommand() *cobra.Command {
	var f client.Filter
	var days int
	var kind, format, to string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write requests and their answers to a file, the newest first",
		Long: "Write requests and their answers to a file, the newest first: JSON Lines, or a table for spreadsheets.\n" +
			"Without --output the file is written into this folder, under a new name.",
		Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			if to == "-" && format == "csv" && isTerminal(s.out) {
				return human.Errorf(human.Invalid, "standard output is a terminal; say where to with --output")
			}
			if days < 0 {
				return human.Errorf(human.Invalid, "--days is %d; it must be 0 or more", days)
			}
			f.Kind = human.Kind(kind)
			from, err := operator.ExportHistory(ctx, f, days, format)
			if err != nil {
				return err
			}
			defer from.Close() //nolint:errcheck // it was read
			if to == "-" {
				return s.passLines(from, format)
			}
			return s.saved(save(from, to))
		}),
	}
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().StringVarP(&to, "output", "o", "", "the `FILE` to write, also over an existing one; - is standard output")
	c.Flags().IntVar(&days, "days", 0, "only requests of the last so many days, today included")
	c.Flags().StringVar(&f.AgentID, "agent", "", "only those of this agent")
	c.Flags().StringVarP(&kind, "type", "t", "", "only those of this type")
	c.Flags().StringVar(&f.Text, "text", "", "only those with all these words")
	return s.operatorFlags(c, "print the file's name and size as one line of JSON")
}

// passLines writes an export to standard output as it arrives. JSON, which a terminal may show, is spelled so that it does nothing
// to one.
func (s *shell) passLines(from io.Reader, format string) error {
	if format == "csv" {
		_, err := io.Copy(s.out, from)
		return cutShort(err)
	}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return cutShort(err)
		}
		if _, err := s.out.Write(append(escapeJSON(line[:len(line)-1]), '\n')); err != nil {
			return err
		}
	}
}

func cutShort(err error) error {
	if err == nil {
		return nil
	}
	return human.Wrap(human.Unavailable, err, "the export arrived incomplete: %v", err)
}
