package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/store/settings"
)

// rulesOf are the rules of the hard limits that a command meets, and whether it is let through at all.
func rulesOf(t *testing.T, command string) (limits []string, lets bool) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	v := gate.Judge(gate.Call{Tool: "bash", Args: args, Home: "/home/ada", Guard: "/home/ada/.local/share/deskbell"}, gate.Permissive, nil)
	for _, e := range v.Effects {
		if e.HardLimit {
			limits = append(limits, e.Rule)
		}
	}
	return limits, v.Decision == human.Allow
}

// An agent may do with this program what the gatekeeper's table says, and nothing else: whoever adds a command or a flag
// says there whose it is.
func TestTheGatekeeperKnowsEveryCommandAndFlag(t *testing.T) {
	const unknown = "floor.own_unknown"
	commands, flags, allowed := 0, 0, 0
	takes := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := c.CommandPath()
		commands++
		limits, lets := rulesOf(t, path)
		if slices.Contains(limits, unknown) {
			t.Errorf("%s: not in the gatekeeper's table", path)
		}
		if lets {
			allowed++
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			value := f.Value.Type() != "bool"
			if was, seen := takes[f.Name]; seen && was != value {
				t.Errorf("%s --%s: takes a value here and none elsewhere, so that no table can say which word is a command", path, f.Name)
			}
			takes[f.Name] = value
			for _, form := range []string{"--" + f.Name, "-" + f.Shorthand} {
				if form == "-" {
					continue
				}
				if value {
					form += " x"
				}
				limits, _ := rulesOf(t, path+" "+form)
				if slices.Contains(limits, unknown) {
					t.Errorf("%s %s: not in the gatekeeper's table", path, form)
				}
				// What follows a flag's value is a word; what follows one without a value is, too.
				if limits, _ := rulesOf(t, "deskbell "+form+" answer op_1"); len(limits) == 0 {
					t.Errorf("deskbell %s answer op_1: let through", form)
				}
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&shell{Program: Program{Hooks: Hooks{Clients: []string{"claude-code"}}}}).root())
	if commands < 60 || flags < 200 || allowed < 20 || allowed > commands-15 {
		t.Errorf("%d commands, %d flags, %d commands allowed", commands, flags, allowed)
	}
	for _, made := range []string{"deskbell new-command", "deskbell ring --new-flag x", "deskbell plan new", "deskbell-hook new", "deskbell serve --json --new"} {
		if limits, _ := rulesOf(t, made); len(limits) == 0 {
			t.Errorf("%s: let through", made)
		}
	}
}

func TestTheGatekeeperKnowsEveryVariable(t *testing.T) {
	for _, s := range settings.Table {
		for _, form := range []string{"export %=x", "%=x deskbell version", "env %=x deskbell version"} {
			if limits, _ := rulesOf(t, strings.ReplaceAll(form, "%", s.Variable())); len(limits) == 0 {
				t.Errorf("%s: let through", strings.ReplaceAll(form, "%", s.Variable()))
			}
		}
		if limits, _ := rulesOf(t, "deskbell serve --json --set "+s.Key+"=x"); len(limits) == 0 {
			t.Errorf("--set %s: let through", s.Key)
		}
	}
}

func TestTheGatekeeperKnowsTheUsualAddress(t *testing.T) {
	if limits, _ := rulesOf(t, "curl -X POST http://"+settings.DefaultAddr+"/api/human/complete"); len(limits) == 0 {
		t.Errorf("%s: let through", settings.DefaultAddr)
	}
}

// An agent's command in a box is asked about, whatever the policy, unless it has no effect; and by itself where it has more
// than the box gives.
func TestABoxIsAskedAbout(t *testing.T) {
	for command, want := range map[string]struct {
		permissive, balanced human.Ruling
	}{
		"deskbell box --discard -- make":                                                          {human.Allow, human.Ask},
		"deskbell box --discard --json --time 1m -- rm -rf src":                                   {human.Allow, human.Ask},
		"deskbell box -- make":                                                                    {human.Ask, human.Ask},
		"deskbell box --ask-operator -- rm -rf src":                                               {human.Allow, human.Ask},
		"deskbell box --ask-operator --agent a --session s --limit 590s -- bash -c 'make x && y'": {human.Allow, human.Ask},
		"deskbell box --ask-operator --keep -- true":                                              {human.Ask, human.Ask},
		"deskbell box --ask-operator --read ~/.ssh -- true":                                       {human.Ask, human.Ask},
		"deskbell box --ask-operator --url http://x -- true":                                      {human.Ask, human.Ask},
		"deskbell box --ask-operator --data /tmp/x -- true":                                       {human.Ask, human.Ask},
		"DESKBELL_DATA=/tmp/x deskbell box --ask-operator -- true":                                {human.Ask, human.Ask},
		"HOME=/tmp/x deskbell box --ask-operator -- true":                                         {human.Ask, human.Ask},
		"deskbell box make":                                                                       {human.Ask, human.Ask},
		"deskbell box --json -- make":                                                             {human.Ask, human.Ask},
		"deskbell box --keep -- true":                                                             {human.Ask, human.Ask},
		"deskbell box --keep-all -- true":                                                         {human.Ask, human.Ask},
		"deskbell box --keep -- rm -rf ~":                                                         {human.Deny, human.Deny},
		"deskbell box --discard --read ~/.ssh -- cat ~/.ssh/id_rsa":                               {human.Ask, human.Ask},
		"deskbell box --env TOKEN --discard -- env":                                               {human.Ask, human.Ask},
		"deskbell box --discard --config /tmp/x -- true":                                          {human.Ask, human.Ask},
		"script -qc 'deskbell box -- make' /dev/null":                                             {human.Ask, human.Ask},
		"deskbell box --discard -- deskbell answer op_1 --approve":                                {human.Allow, human.Ask},
		"deskbell box --keep -- deskbell answer op_1 --approve":                                   {human.Ask, human.Ask},
		"deskbell box --discard -- true && deskbell box --keep true":                              {human.Ask, human.Ask},
	} {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		for policy, ruling := range map[gate.Policy]human.Ruling{gate.Permissive: want.permissive, gate.Balanced: want.balanced} {
			v := gate.Judge(gate.Call{Tool: "bash", Args: args, Home: "/home/ada", Guard: "/home/ada/.local/share/deskbell"}, policy, nil)
			if v.Decision != ruling {
				t.Errorf("%s, %s: %s, not %s", policy, command, v.Decision, ruling)
			}
		}
	}
}
