package agent

import (
	"strings"
	"time"

	"deskbell/backend/human"
)

// ReferenceAgent is the agent that comes with Deskbell and needs no declaration. Its tools are the shell, files and HTTP.
const ReferenceAgent = "deskbell-agent"

// ProfilesFile is the file of the data folder in which users declare agents.
const ProfilesFile = "agents.toml"

// The prefixes of the ids of runs and conversations.
const (
	RunPrefix          = "run_"
	ConversationPrefix = "chat_"
)

// A Profile is an agent as it is declared (M5).
type Profile struct {
	Name         string       `toml:"name" json:"name"`
	Description  string       `toml:"description" json:"description" doc:"What it is for, in a sentence."`
	Capabilities []string     `toml:"capabilities" json:"capabilities,omitempty"`
	Categories   []string     `toml:"categories" json:"categories" doc:"Of the tools that it may use: shell, files, web, or those that its tools are declared with."`
	System       string       `toml:"system" json:"-"`                                                                                                         // what the model gets beside the description
	Open         bool         `toml:"open" json:"open" doc:"Other agents may send it messages, too."`                                                          // its tools run with the operator's rights, so not by default
	Folder       string       `toml:"folder" json:"folder,omitempty" doc:"Where its tools run; absent: the folder that a message names, or your home folder."` // absolute, or below the home folder as ~/
	Keep         string       `toml:"keep" json:"keep,omitempty" doc:"How long a conversation waits for its next message, as 30m or 24h; absent: 24h."`
	Tools        []ToolServer `toml:"tools" json:"-"`

	Kept time.Duration `toml:"-" json:"-"` // Keep, read
}

// A ToolServer is an MCP server with tools of an agent: a command or a URL.
type ToolServer struct {
	Category string   `toml:"category"`
	Name     string   `toml:"name"` // what they are called after: mcp__NAME__TOOL
	Command  []string `toml:"command"`
	URL      string   `toml:"url"`
}

// About is what an agent says of itself.
func (a Profile) About() About {
	about := About{Name: a.Name, Description: a.Description, Capabilities: a.Capabilities, System: a.System}
	for _, c := range a.Categories {
		about.Categories = append(about.Categories, Category(c))
	}
	return about
}

// FindProfile is the agent of a name; NotFound without, with the names that there are.
func FindProfile(all []Profile, name string) (Profile, error) {
	var known []string
	for _, a := range all {
		if a.Name == name {
			return a, nil
		}
		known = append(known, a.Name)
	}
	return Profile{}, human.Errorf(human.NotFound, "there is no agent %q; there are %s", human.OneLine(name, 60), strings.Join(known, ", "))
}
