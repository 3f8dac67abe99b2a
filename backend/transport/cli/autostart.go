package cli

import (
	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

func (s *shell) autostartCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "autostart [on | off]",
		Short: "Start Deskbell when you log in, hidden in the tray, or say whether it does",
		Long: "Start Deskbell when you log in, hidden in the tray. Without an argument it says whether it does. It is the setting\n" +
			"ui.start_with_session, and an entry of this program's path where the desktop looks for what it starts.",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"on", "off"},
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := s.dir()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				on := args[0] == "on"
				if err := s.changeSetting(c.Context(), "ui.start_with_session", on); err != nil {
					return err
				}
				if _, err := s.Autostart.Set(on, dir); err != nil {
					return human.Wrap(human.Unavailable, err, "the entry could not be changed: %v", err)
				}
			}
			on, where, err := s.Autostart.On(dir)
			if err != nil {
				return human.Wrap(human.Unavailable, err, "the entry cannot be read: %v", err)
			}
			if s.json {
				return s.printJSON(map[string]any{"on": on, "entry": where})
			}
			if on {
				s.printf("on: %s\n", visible(where))
			} else {
				s.printf("off\n")
			}
			return nil
		},
	}
	return s.operatorFlags(c, "print whether it does as one line of JSON")
}
