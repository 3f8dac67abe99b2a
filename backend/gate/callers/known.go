package callers

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// An agent is a process that is known to be one's.
type agent struct {
	human.ProcessID
	Boot  string          `json:"boot,omitempty"`
	Name  string          `json:"agent_id"`
	How   human.AgentMark `json:"how"`
	Since time.Time       `json:"since"`
}

// mostKnown is when those that have ended are looked for, and how many are kept at most.
const mostKnown = 512

// ancestry is how far up a known agent is looked for before a caller is looked at closely.
const ancestry = 6

// Used notes that the agent of a name used its key on the caller's connection. It costs nothing but the first time: a few looks at
// the caller's parents, which it leaves to Run where they take milliseconds (over TCP, except on Windows).
func (s *Service) Used(c *Caller, name string, how human.AgentMark) {
	if s == nil || c == nil || s.deps.Off || c.used.Load() || c.used.Swap(true) {
		return
	}
	c.name, c.way = name, how
	pid, err := s.deps.Processes.PeerID(c.conn)
	if err == nil {
		if !s.isKnown(pid) {
			s.remember(c)
		}
		return
	}
	select {
	case s.calls <- c:
	default:
		c.used.Store(false)
	}
}

// Started makes a process known that this one started for an agent: below it, everything is the agent's.
func (s *Service) Started(pid int, name string) {
	if s == nil || s.deps.Off {
		return
	}
	if p, err := s.deps.Processes.Find(pid); err == nil { // else it has ended
		s.know(agent{ProcessID: p.ID(), Boot: s.boot, Name: name, How: human.MarkKey, Since: s.deps.Now().UTC()})
	}
}

// isKnown says whether a process or one near above it is known.
func (s *Service) isKnown(pid int) bool {
	for range ancestry {
		p, err := s.deps.Processes.Glance(pid)
		if err != nil || pid == s.deps.Self {
			return false
		}
		s.mu.RLock()
		_, is := s.known[p.ID()]
		s.mu.RUnlock()
		if is {
			return true
		}
		pid = p.Parent
	}
	return false
}

// remember makes the processes behind a connection known that used an agent's key.
func (s *Service) remember(c *Caller) {
	line, err := c.Line()
	if err != nil || len(line) == 0 {
		return
	}
	if _, is := s.agentIn(line); is {
		return
	}
	how := c.way
	if how == human.MarkKey && s.isOurs(line[0]) && slices.ContainsFunc(line[0].Args, func(word string) bool { return word == "mcp" || word == "mcp-proxy" }) {
		how = human.MarkMCP
	}
	for _, p := range s.agents(line) {
		s.know(agent{ProcessID: p.ID(), Boot: s.boot, Name: c.name, How: how, Since: s.deps.Now().UTC()})
	}
}

func (s *Service) know(a agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.known[a.ProcessID]; is {
		return
	}
	if len(s.known) >= mostKnown {
		s.forgetEnded()
	}
	s.known[a.ProcessID] = a
	s.unsaved = true
	s.tell()
}

// forgetEnded makes room. The caller holds mu.
func (s *Service) forgetEnded() {
	var oldest *agent
	for id, a := range s.known {
		if !s.lives(id) {
			delete(s.known, id)
		} else if oldest == nil || a.Since.Before(oldest.Since) {
			oldest = &a
		}
	}
	if len(s.known) >= mostKnown {
		delete(s.known, oldest.ProcessID)
	}
}

func (s *Service) lives(id human.ProcessID) bool {
	p, err := s.deps.Processes.Glance(id.PID)
	return err == nil && p.ID() == id
}

// load reads those that were known before and still run.
func (s *Service) load() {
	text, err := s.deps.Load()
	if err != nil || len(text) == 0 {
		return
	}
	var all []agent
	if err := json.Unmarshal(text, &all); err != nil {
		s.deps.Log.Warn("the file of known agents cannot be read", "err", err)
		return
	}
	for _, a := range all {
		if a.Boot == s.boot && s.lives(a.ProcessID) {
			s.known[a.ProcessID] = a
		}
	}
}

// save writes them down.
func (s *Service) save() error {
	s.mu.Lock()
	all := make([]agent, 0, len(s.known))
	for _, a := range s.known {
		all = append(all, a)
	}
	save := s.unsaved
	s.unsaved = false
	s.mu.Unlock()
	if !save {
		return nil
	}
	slices.SortFunc(all, func(a, b agent) int { return a.Since.Compare(b.Since) })
	text, err := json.Marshal(all)
	if err == nil {
		err = s.deps.Save(append(text, '\n'))
	}
	return err
}

var (
	// What makes one call and ends: the agent is who started it.
	brief = []string{"curl", "wget", "http", "https", "xh", "websocat"}
	// What only starts another program.
	wrappers = []string{"env", "timeout", "nice", "nohup", "setsid", "stdbuf", "xargs", "time"}
	shells   = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "cmd", "powershell", "pwsh"}
	// What starts everything: a call of theirs says nothing about who asked for it.
	launchers = []string{
		"systemd", "init", "launchd", "sshd", "login", "tmux", "screen", "cron", "crond", "atd", "at-spi-bus-launcher", "dbus-daemon", "dbus-broker",
		"gnome-shell", "plasmashell", "kwin_wayland", "xfce4-session", "explorer", "svchost", "services", "windowsterminal", "conhost", "openconsole", "finder",
	}
)

// agents are those of a line that used a key which are an agent's: the process itself and, where that only makes a call, who
// started it. A shell that a person types into is no agent, nor is what starts all programs.
func (s *Service) agents(line []human.Process) []human.Process {
	found := line[:1:1]
	switch {
	case s.isOurs(line[0]):
	case slices.Contains(brief, base(line[0].Program)):
		found = nil // nothing descends from it
	default:
		return found
	}
	for _, p := range line[1:] {
		name := base(p.Program)
		switch {
		case slices.Contains(wrappers, name) || slices.Contains(shells, name) && purposeOf(p.Args) == toRunText:
			found = append(found, p) // it ends soon, but until then it is the nearest
			continue
		case p.PID == 1 || slices.ContainsFunc(launchers, func(l string) bool { return name == l || strings.HasPrefix(name, l+":") }):
		case slices.Contains(shells, name) && purposeOf(p.Args) == toType:
		default:
			found = append(found, p)
		}
		return found
	}
	return found
}

// IsShell says whether a program runs what is typed, or scripts of that.
func IsShell(program string) bool { return slices.Contains(shells, base(program)) }

// isOurs says whether a process is the command line, an app or a hook of ours.
func (s *Service) isOurs(p human.Process) bool {
	return p.Program == s.self || strings.HasPrefix(base(p.Program), "deskbell")
}

// What a shell was started for.
type purpose int

const (
	toType    purpose = iota // a person types
	toRunText                // it was given what to run as an argument
	toRunFile
)

// withValue are flags of shells that a value follows which is no script: terminals in editors begin shells with them.
var withValue = []string{"--init-file", "--rcfile", "--init-command", "-C", "-o", "-O", "+O"}

func purposeOf(args []string) purpose {
	if slices.ContainsFunc(args, func(arg string) bool { return strings.EqualFold(arg, "-noexit") }) {
		return toType
	}
	for i := 1; i < len(args); i++ {
		switch arg := strings.ToLower(args[i]); {
		case slices.Contains(withValue, args[i]):
			i++
		case arg == "/c" || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c"):
			return toRunText
		case arg == "" || arg[0] == '-' || arg[0] == '/' && len(arg) <= 3: // of cmd: /k
		default:
			return toRunFile
		}
	}
	return toType
}
