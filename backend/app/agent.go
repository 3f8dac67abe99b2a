package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/agent/host"
	"deskbell/backend/agent/remote"
	"deskbell/backend/agent/runs"
	"deskbell/backend/agent/tools"
	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/record/masking"
	"deskbell/backend/store/settings"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/client"
)

// runAgent runs an agent in this process to the end of its task, or continues with a run that was broken off.
func runAgent(version string) func(context.Context, cli.AgentRun) (agent.Result, error) {
	return func(ctx context.Context, r cli.AgentRun) (result agent.Result, err error) {
		c := client.Finding(r.Find, r.Key)
		defer c.Close()
		confirms, err := c.PlansConfirmed(ctx)
		if err != nil {
			return result, err
		}
		info := agent.RunInfo{ID: cmp.Or(r.ID, newID(agent.RunPrefix)), Agent: r.Agent, Task: r.Task, Cwd: r.Cwd, Model: r.Model.Name, At: time.Now().UTC()}
		var journal *runs.Journal
		var records []agent.Record
		if r.Resume != "" {
			if journal, info, records, err = journals(r.Dir).Continue(r.Resume); err != nil {
				return result, err
			}
		}
		defer func() { err = errors.Join(err, journal.Close()) }()
		who, err := agent.FindProfile(r.Agents, info.Agent)
		if err != nil {
			return result, err
		}
		if r.Resume == "" {
			info.Cwd = cmp.Or(who.Folder, info.Cwd)
		}
		deps, done, err := agentDeps(ctx, version, r, who, info.Cwd, info.Limits)
		defer done()
		if err != nil {
			return result, err
		}
		if r.Resume == "" {
			if journal, err = journals(r.Dir).Create(info.ID); err != nil {
				return result, err
			}
		}
		r.Began(info.ID)
		watching, end := context.WithCancel(ctx)
		var watch sync.WaitGroup
		watch.Go(func() {
			if journal.Stopped(watching) {
				r.Stop()
			}
		})
		defer watch.Wait()
		defer end()
		desk := remote.New(c, remote.Run{ID: info.ID, Agent: info.Agent, Cwd: info.Cwd, Task: info.Task, Tell: tools.Told(deps.Tools), Note: r.Note})
		defer func() { desk.Close(ctx) }()
		deps.Gate, deps.Asker, deps.Journal = desk, typed{desk, r.Answers}, journal
		if confirms {
			deps.Plans = desk
		}
		engine, err := agent.NewEngine(deps)
		if err != nil {
			return result, err
		}
		if r.Resume != "" {
			return engine.Resume(ctx, records)
		}
		return engine.Run(ctx, info)
	}
}

// typed has questions answered by operators, or by who sits at the terminal of the run: whoever is first.
type typed struct {
	agent.Asker
	lines func(ctx context.Context, question string) (answer string, err error) // nil: no one sits there
}

// Ask implements agent.Asker.
func (t typed) Ask(ctx context.Context, question string, asked func(string) string) (string, error) {
	if t.lines == nil {
		return t.Asker.Ask(ctx, question, asked)
	}
	both, stop := context.WithCancel(ctx)
	defer stop()
	var line string
	var reading sync.WaitGroup
	reading.Go(func() {
		if text, err := t.lines(both, question); err == nil {
			line = text
			stop()
		}
	})
	answer, err := t.Asker.Ask(both, question, asked)
	stop()
	reading.Wait()
	if err != nil && ctx.Err() == nil && line != "" {
		return line, nil
	}
	return answer, err
}

// chatWithAgent has messages answered by a ToolAgent in this process, while talk continues.
func chatWithAgent(version string) func(context.Context, cli.AgentRun, func(cli.Handle) error) error {
	return func(ctx context.Context, r cli.AgentRun, talk func(cli.Handle) error) error {
		c := client.Finding(r.Find, r.Key)
		defer c.Close()
		if _, err := c.PlansConfirmed(ctx); err != nil { // says what is missing
			return err
		}
		who, err := agent.FindProfile(r.Agents, r.Agent)
		if err != nil {
			return err
		}
		cwd := cmp.Or(who.Folder, r.Cwd)
		deps, done, err := agentDeps(ctx, version, r, who, cwd, nil)
		defer done()
		if err != nil {
			return err
		}
		deps.Gate = gatekeepers{c, remote.Run{Agent: who.Name, Cwd: cwd, Tell: tools.Told(deps.Tools), Note: r.Note}}
		deps.Store, deps.TTL = journals(r.Dir).Sessions(), who.Kept
		a, err := agent.NewToolAgent(deps.About, deps)
		if err != nil {
			return err
		}
		return talk(a.Answer)
	}
}

// gatekeepers have the calls of several conversations judged at the same time.
type gatekeepers struct {
	to  *client.Client
	run remote.Run
}

// Check implements agent.Gatekeeper.
func (d gatekeepers) Check(ctx context.Context, call human.ToolCall) (human.Judgement, error) {
	d.run.ID = call.SessionID
	return remote.New(d.to, d.run).Check(ctx, call)
}

// agentDeps are what each agent stands on, in a folder; done ends what was started for it.
func agentDeps(ctx context.Context, version string, r cli.AgentRun, who agent.Profile, cwd string, kept *agent.Limits) (d agent.Deps, done func(), err error) {
	d = agent.Deps{Cwd: cwd, Now: time.Now, NewID: newID, Tell: r.Tell, Emit: r.Emit, About: who.About(), Mask: masking.New().Mask}
	done = func() {}
	if d.Model, err = chat(r.Model); err != nil {
		return d, done, err
	}
	if d.Limits, err = r.Limits(kept); err != nil {
		return d, done, err
	}
	d.Tools, done, err = toolsOf(ctx, version, r, who, cwd)
	return d, done, err
}

// leastOutput is how many tokens an answer may have, where the settings' limit, which is meant for summaries, is less: enough
// to write a file.
const leastOutput = 8192

// chat is the model that the settings name.
func chat(s settings.Model) (agent.Model, error) {
	if s.Provider == "none" {
		return nil, human.Errorf(human.Unavailable, "there is no model: set model.provider and model.name, or give --provider and --model")
	}
	c := modelOf(s)
	c.MaxOutput = max(c.MaxOutput, leastOutput)
	return llm.NewChat(c)
}

// toolsOf are the tools that an agent may have, with the MCP servers that it was given and declares; done ends those.
func toolsOf(ctx context.Context, version string, r cli.AgentRun, who agent.Profile, cwd string) (box []agent.Tool, done func(), err error) {
	var servers []*tools.Connection
	done = func() {
		for _, s := range servers {
			_ = s.Close() // how it ends does not matter any more
		}
	}
	if slices.Contains(who.Categories, string(agent.Files)) {
		if box, err = tools.Files(cwd); err != nil {
			return nil, done, err
		}
	}
	box = append(box, tools.Shell{Dir: cwd}, tools.Web{Private: r.PrivateHTTP, Agent: "deskbell/" + version})
	var all []tools.MCPServer
	for _, p := range r.Servers {
		all = append(all, tools.MCPServer{Name: p.Name, Command: p.Command, URL: p.URL})
	}
	for _, t := range who.Tools {
		if slices.Contains(who.Categories, t.Category) {
			all = append(all, tools.MCPServer{Name: t.Name, Command: t.Command, URL: t.URL, Category: agent.Category(t.Category)})
		}
	}
	for _, server := range all {
		server.Dir, server.Version = cwd, version
		s, err := tools.ConnectMCP(ctx, server)
		if err != nil {
			return nil, done, err
		}
		servers = append(servers, s)
		box = append(box, s.Tools()...)
	}
	return box, done, nil
}

// messenger is what agents may have other agents do.
type messenger struct{ of *host.Host }

// OpenAgents implements mcp.Messenger.
func (m messenger) OpenAgents(context.Context, human.Actor) ([]agent.Profile, error) {
	all, err := m.of.Agents()
	return slices.DeleteFunc(all, func(a agent.Profile) bool { return !a.Open }), err
}

// Message implements mcp.Messenger.
func (m messenger) Message(ctx context.Context, by human.Actor, name string, sent agent.Sent, wait time.Duration) (agent.Response, error) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	return m.of.Message(ctx, by, name, sent)
}
