//go:build window

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// toggleButton is a button that is pressed or not.
const toggleButton desktoptest.Role = 62

// A person works in the terminal of the real window with the pointer and the keyboard: inserts what the agent suggests, runs it,
// types a password that no file of Deskbell's gets, and sends the answer to the agent, which asked over MCP.
func TestATerminalInTheWindow(t *testing.T) {
	t.Parallel()
	const password = "Tr0ub4dor-and-more"
	d := newFixture(t, desktoptest.Options{Notifications: true})
	d.Env = append(d.Env, "SHELL=/bin/bash")
	folder := filepath.Join(d.Home, "state")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	holds := func(name, want string) {
		t.Helper()
		d.Wait(name+" to hold "+want, func() bool {
			text, err := os.ReadFile(filepath.Join(folder, name))
			return err == nil && strings.TrimSpace(string(text)) == want
		})
	}
	d.Start(d.bin)
	d.tray.WaitItem()
	d.press("Skip setup")
	d.see(desktoptest.Title, "Inbox")
	d.WaitActive("Deskbell")
	agent := d.rings("ops-bot", "bash", "Unlock the state", map[string]any{"details": map[string]any{
		"required_action": "Unlock the state", "command": []string{"echo unlocked >unlocked"}, "folder": folder,
	}})
	d.clickOn(desktoptest.Link, "Unlock the state")
	d.press("Claim and open terminal")
	d.press("Insert")
	d.Wait("the terminal to have the keyboard", func() bool { return d.focused() == "Terminal input" })
	if _, err := os.Stat(filepath.Join(folder, "unlocked")); err == nil {
		t.Error("what was inserted has run")
	}
	d.Wait("the command to run", func() bool { // Enter counts for nothing right after the button
		d.Key("Return")
		_, err := os.Stat(filepath.Join(folder, "unlocked"))
		return err == nil
	})
	holds("unlocked", "unlocked")
	types := func(text string) {
		t.Helper()
		d.Type(text)
		d.Key("Return")
	}
	says := func(words string) {
		t.Helper()
		d.look(words, func(all []desktoptest.Element) bool {
			return slices.ContainsFunc(all, func(e desktoptest.Element) bool {
				return strings.Contains(e.Name, words) || strings.Contains(d.Text(e), words)
			})
		})
	}
	types("(exit 7)")
	says("exit 7")
	types("read -s pw; echo ${#pw} >length")
	says("masked, not recorded")
	types(password)
	holds("length", "18")
	d.Screenshot(os.Getenv("E2E_SHOT"))

	d.Key("ctrl+shift+Escape")
	d.Wait("the answer to have the keyboard", func() bool { return d.focused() == "Your answer" })
	d.Type("It is unlocked.")
	d.Key("ctrl+Return")
	d.clickOn(toggleButton, "Done")
	d.press("Send to ops-bot")
	r := d.printed(agent)
	if r.HumanInput != "It is unlocked." || !strings.Contains(agent.Out(), "(exit 7)") {
		t.Errorf("the agent was told %s", agent.Out())
	}
	d.absent(password)
}
