package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deskbell/backend/store/settings"
)

func (s *shell) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "List the settings, their values and their sources",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 { // set and get are what others have
				return errors.New("this only lists the settings and names their file; change them there or in the window")
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			p, err := s.place()
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(struct {
					File     string           `json:"file"`
					Data     string           `json:"data"`
					Settings []settings.Value `json:"settings"`
				}{p.Config.File(), p.Dir, p.Config.Values()})
			}
			s.printf("# data folder %s\n# settings file %s\n# in the data folder, deskbell.db, deskbell.db-wal and deskbell.db-shm belong together\n\n", visible(p.Dir), visible(p.Config.File()))
			w := s.columns()
			for _, v := range p.Config.Values() {
				from := v.Source
				if v.From != "" {
					from += " (" + v.From + ")"
				}
				unit := ""
				if v.Unit != "" {
					unit = " " + v.Unit
				}
				w.row("%s\t%s%s\t%s\n", v.Key, visible(shown(v.Value)), unit, visible(from))
			}
			return w.flush()
		},
	}
	s.settingFlags(c)
	s.jsonFlag(c, "print everything about each setting as one line of JSON")
	return c
}

// shown is a setting's value as it is printed.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case []string:
		quoted := make([]string, len(v))
		for i, item := range v {
			quoted[i] = fmt.Sprintf("%q", item)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(v)
}
