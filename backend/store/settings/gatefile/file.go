package gatefile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// A File is a gate.toml that is read again only when it changed. It is safe for concurrent use.
type File struct {
	path string

	mu       sync.Mutex
	stamp    stamp
	state    State
	good     *rules.Config // as it last was without mistakes
	projects map[string]ofProject
}

// A State is a gate.toml as it is read.
type State struct {
	Config  rules.Config
	Rules   *rules.Set
	Problem string // why what is written there does not count
}

// stamp tells whether a file changed since it was read.
type stamp struct {
	there bool
	size  int64
	mtime time.Time
	fresh bool // it was changed so shortly before that another change need not show
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	// Some file systems count whole seconds, FAT two.
	return stamp{true, info.Size(), info.ModTime(), time.Since(info.ModTime()).Abs() < 3*time.Second}
}

func (s stamp) same(as stamp) bool {
	return s.there == as.there && s.size == as.size && s.mtime.Equal(as.mtime) && !as.fresh
}

// ofProject are the rules with those of one project's own file.
type ofProject struct {
	own   *rules.Set // that they were made with
	stamp stamp
	set   *rules.Set
}

// maxProjects is how many projects' rules are kept ready.
const maxProjects = 64

// Open returns the File at a path, which need not exist.
func Open(path string) *File { return &File{path: path, projects: map[string]ofProject{}} }

// Path is where it is, or would be.
func (f *File) Path() string { return f.path }

// SetPolicy writes the policy into the file; see SetPolicy.
func (f *File) SetPolicy(policy gate.Policy) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return SetPolicy(f.path, policy)
}

// Read returns what the file says now. While it has mistakes, the rules that it last had without them hold but for those
// that allow, under a policy at least as strict as balanced; where it never was without mistakes, strict holds. It never
// returns without rules.
func (f *File) Read() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

func (f *File) read() State {
	now := stampOf(f.path)
	if f.state.Rules != nil && now.same(f.stamp) {
		return f.state
	}
	f.stamp = now // taken before reading: a change meanwhile shows next time
	data, err := readOwn(f.path)
	var c rules.Config
	var set *rules.Set
	if err == nil {
		c, set, err = parse(f.path, data)
	}
	if err == nil {
		f.good, f.state = &c, State{Config: c, Rules: set}
		return f.state
	}
	f.state = stricter(f.good)
	f.state.Problem = human.SafeText(err)
	return f.state
}

// stricter is what holds instead of a file with mistakes.
func stricter(good *rules.Config) State {
	c := rules.Defaults()
	if good == nil {
		c.Policy = gate.Strict
	} else {
		d := c
		c = *good
		if slices.Index(gate.Policies, d.Policy) > slices.Index(gate.Policies, c.Policy) {
			c.Policy = d.Policy
		}
		c.Thresholds.LowRiskAutoApprove = max(c.Thresholds.LowRiskAutoApprove, d.Thresholds.LowRiskAutoApprove)
		c.Thresholds.ParanoidMode = max(c.Thresholds.ParanoidMode, d.Thresholds.ParanoidMode)
		c.Model = false
		c.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r human.GateRule) bool { return r.Decision == human.Allow })
		tools := map[string]rules.Tool{}
		for name, t := range c.Tools {
			t.SafeCommands = nil
			tools[name] = t
		}
		c.Tools = tools
		important := map[string]rules.Importance{}
		for root, i := range c.Projects {
			if i != rules.Low {
				important[root] = i
			}
		}
		c.Projects = important
	}
	set, err := rules.Compile(c, nil)
	if err != nil {
		// Rules that were right are right without some of them; ids may have been counted.
		c = rules.Defaults()
		c.Policy = gate.Strict
		set, _ = rules.Compile(c, nil)
	}
	return State{Config: c, Rules: set}
}

// With returns the rules that hold in the project in a folder: those of the file with those of the project's own.
func (f *File) With(root string) *rules.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.read()
	if root == "" {
		return own.Rules
	}
	now := stampOf(filepath.Join(root, filepath.FromSlash(ProjectName)))
	if p, ok := f.projects[root]; ok && p.own == own.Rules && now.same(p.stamp) {
		return p.set
	}
	set := own.Rules
	if project := Project(root); project != nil {
		// The error is in every verdict of the set.
		if made, _ := rules.Compile(own.Config, project); made != nil {
			set = made
		}
	}
	if len(f.projects) >= maxProjects {
		clear(f.projects)
	}
	f.projects[strings.Clone(root)] = ofProject{own.Rules, now, set}
	return set
}
