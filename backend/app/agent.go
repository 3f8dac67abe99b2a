package app

import (
	"context"
	"errors"
	"time"

	"deskbell/backend/agent"
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

// runAgent runs the reference agent in this process to the end of its task, or continues with a run that was broken off.
func runAgent(version string) func(context.Context, cli.AgentRun) (agent.Result, error) {
	return func(ctx context.Context, r cli.AgentRun) (result agent.Result, err error) {
		c := client.Finding(r.Find, r.Key)
		defer c.Close()
		confirms, err := c.PlansConfirmed(ctx)
		if err != nil {
			return result, err
		}
		info := agent.RunInfo{ID: newID("run_"), Agent: cli.ReferenceAgent, Task: r.Task, Cwd: r.Cwd, Model: r.Model.Name, At: time.Now().UTC()}
		var journal *runs.Journal
		var records []agent.Record
		if r.Resume != "" {
			if journal, info, records, err = journals(r.Dir).Continue(r.Resume); err != nil {
				return result, err
			}
		}
		defer func() { err = errors.Join(err, journal.Close()) }()
		deps, done, err := agentDeps(ctx, version, r, info.Cwd, info.Limits)
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
		desk := remote.New(c, remote.Run{ID: info.ID, Agent: cli.ReferenceAgent, Cwd: info.Cwd, Tell: tools.Told(deps.Tools), Note: r.Note})
		defer func() { desk.Close(ctx) }()
		deps.Gate, deps.Asker, deps.Journal, deps.Mask = desk, desk, journal, masking.New().Mask
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

// chatWithAgent has messages answered by a ToolAgent in this process, while talk continues.
func chatWithAgent(version string) func(context.Context, cli.AgentRun, func(cli.Handle) error) error {
	return func(ctx context.Context, r cli.AgentRun, talk func(cli.Handle) error) error {
		c := client.Finding(r.Find, r.Key)
		defer c.Close()
		if _, err := c.PlansConfirmed(ctx); err != nil { // says what is missing
			return err
		}
		deps, done, err := agentDeps(ctx, version, r, r.Cwd, nil)
		defer done()
		if err != nil {
			return err
		}
		deps.Gate = remote.New(c, remote.Run{ID: newID("chat_"), Agent: cli.ReferenceAgent, Cwd: r.Cwd, Tell: tools.Told(deps.Tools), Note: r.Note})
		deps.About.Categories = []agent.Category{agent.Shell, agent.Files, agent.Web, agent.Remote}
		a, err := agent.NewToolAgent(deps.About, deps)
		if err != nil {
			return err
		}
		return talk(a.Handle)
	}
}

// agentDeps are what each of the reference agents stands on, in a folder; done ends what was started for it.
func agentDeps(ctx context.Context, version string, r cli.AgentRun, cwd string, kept *agent.Limits) (d agent.Deps, done func(), err error) {
	d = agent.Deps{
		Cwd: cwd, Now: time.Now, NewID: newID, Tell: r.Tell, Emit: r.Emit,
		About: agent.About{Name: cli.ReferenceAgent, Description: "Deskbell's reference agent"},
	}
	done = func() {}
	if d.Model, err = chat(r.Model); err != nil {
		return d, done, err
	}
	if d.Limits, err = r.Limits(kept); err != nil {
		return d, done, err
	}
	d.Tools, done, err = toolsOf(ctx, version, r, cwd)
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

// toolsOf are the tools of a run, with the MCP servers that it was given; done ends those.
func toolsOf(ctx context.Context, version string, r cli.AgentRun, cwd string) (box []agent.Tool, done func(), err error) {
	var servers []*tools.Connection
	done = func() {
		for _, s := range servers {
			_ = s.Close() // how it ends does not matter any more
		}
	}
	if box, err = tools.Files(cwd); err != nil {
		return nil, done, err
	}
	box = append(box, tools.Shell{Dir: cwd}, tools.Web{Private: r.PrivateHTTP, Agent: "deskbell/" + version})
	for _, p := range r.Servers {
		s, err := tools.ConnectMCP(ctx, tools.MCPServer{Name: p.Name, Command: p.Command, URL: p.URL, Dir: cwd, Version: version})
		if err != nil {
			return nil, done, err
		}
		servers = append(servers, s)
		box = append(box, s.Tools()...)
	}
	return box, done, nil
}
