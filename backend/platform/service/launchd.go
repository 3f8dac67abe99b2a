//go:build !windows

package service

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// label names the agent to launchd.
const label = "dev.deskbell.serve"

// Agent is the launchd agent that runs a program with arguments.
func Agent(program string, args []string) string {
	var words strings.Builder
	for _, word := range append([]string{program}, args...) {
		var text bytes.Buffer
		_ = xml.EscapeText(&text, []byte(word)) // a Buffer takes all
		fmt.Fprintf(&words, "\n\t\t<string>%s</string>", text.String())
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>` + words.String() + `
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`
}

type launchd struct{ file }

func (s *Service) launchd(home, program string, args []string) {
	s.Manager, s.Where, s.Text, s.manager = "launchd", filepath.Join(home, "Library", "LaunchAgents", label+".plist"), Agent(program, args), launchd{}
}

func domain() string { return "gui/" + strconv.Itoa(os.Getuid()) }

func (launchd) state(ctx context.Context, s *Service, st *State) {
	st.Running = s.run(ctx, "launchctl", "print", domain()+"/"+label) == nil
	st.Enabled = st.Written
}

func (launchd) enable(ctx context.Context, s *Service, start bool) error {
	if !start {
		return nil // launchd loads the file when the user logs in
	}
	_ = s.run(ctx, "launchctl", "bootout", domain()+"/"+label) // it may not be loaded
	if err := s.run(ctx, "launchctl", "bootstrap", domain(), s.Where); err != nil {
		return human.Wrap(human.Unavailable, err, "launchd says: %v", err)
	}
	return nil
}

func (launchd) disable(ctx context.Context, s *Service) error {
	_ = s.run(ctx, "launchctl", "bootout", domain()+"/"+label) // it may not be loaded
	return nil
}
