package shell

import (
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

// multiplexer is screen, tmux and their like: what they start, or type into a terminal, is a command.
func multiplexer(w *walker, c *cmd) (stream, bool) {
	args := c.args
	switch c.name {
	case "screen":
		_, rest := commands.Parse(args, lazy.Words("-S -c -e -h -p -s -t -T -Logfile"), false, true)
		for i, a := range args {
			if a.Text == "-X" {
				rest = args[i+1:]
				for j, x := range rest {
					if x.Text == "stuff" || x.Text == "exec" || x.Text == "eval" || x.Text == "screen" {
						w.typed(rest[j+1:])
					}
				}
				return stream{}, false
			}
		}
		if len(rest) > 0 {
			w.run(rest, stream{})
		}
	default: // tmux, byobu
		_, rest := commands.Parse(args, lazy.Words("-c -f -L -S -T"), false, true)
		for len(rest) > 0 {
			sub := rest[0].Text
			end := len(rest)
			for i, a := range rest {
				if a.Text == ";" || a.Text == `\;` {
					end = i
					break
				}
			}
			one := rest[1:end]
			rest = rest[min(end+1, len(rest)):]
			switch {
			case strings.HasPrefix("send-keys", sub) && strings.HasPrefix(sub, "send"), sub == "set-buffer", sub == "setb":
				_, keys := commands.Parse(one, lazy.Words("-t -N -b"), false, true)
				w.typed(keys)
			case strings.HasPrefix(sub, "new"), strings.HasPrefix(sub, "split"), strings.HasPrefix(sub, "respawn"), strings.HasPrefix(sub, "run"), strings.HasPrefix(sub, "if"), strings.HasPrefix(sub, "pipe"), strings.HasPrefix(sub, "popup"), strings.HasPrefix(sub, "display-popup"), strings.HasPrefix(sub, "confirm"), strings.HasPrefix(sub, "bind"), strings.HasPrefix(sub, "set-hook"):
				_, words := commands.Parse(one, lazy.Words("-t -s -n -c -x -y -e -F -l -p -w -T"), false, true)
				if len(words) == 1 || strings.HasPrefix(sub, "if") {
					for _, x := range words {
						w.script(x.Text, "sh", nil, stream{})
					}
				} else if len(words) > 0 {
					w.script(arg.Joined(words).Text, "sh", nil, stream{})
				}
			}
		}
	}
	return stream{}, false
}

// typed is text that is typed into a terminal, names of keys in between.
func (w *walker) typed(keys []arg.Word) {
	var b strings.Builder
	for _, k := range keys {
		switch k.Text {
		case "Enter", "C-m", "C-j", "KPEnter", "Escape":
			b.WriteByte('\n')
		case "Space":
			b.WriteByte(' ')
		default:
			text := strings.NewReplacer("^M", "\n", `\n`, "\n", `\015`, "\n", `\r`, "\n").Replace(k.Text)
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") && strings.ContainsAny(text, " -") {
				b.WriteByte(' ')
			}
			b.WriteString(text)
		}
	}
	if strings.TrimSpace(b.String()) != "" {
		w.script(b.String(), "sh", nil, stream{})
	}
}

// editor is vim and its like, which run commands given by option.
func editor(w *walker, c *cmd) (stream, bool) {
	for i, a := range c.args {
		text := ""
		switch {
		case (a.Text == "-c" || a.Text == "--cmd" || a.Text == "--eval" || a.Text == "-eval" || a.Text == "--execute") && i+1 < len(c.args):
			text = c.args[i+1].Text
		case strings.HasPrefix(a.Text, "+") && len(a.Text) > 1:
			text = a.Text[1:]
		case strings.HasPrefix(a.Text, "-c") && len(a.Text) > 2, strings.HasPrefix(a.Text, "--cmd="):
			text = a.Text[2:]
		default:
			continue
		}
		if strings.Trim(text, "0123456789") == "" || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?") {
			continue // where to begin
		}
		for _, mark := range []string{"!", "system(", "term ", "terminal ", "shell-command ", "call-process"} {
			if _, run, ok := strings.Cut(text, mark); ok {
				w.script(strings.Trim(run, "\"'() "), "sh", nil, stream{})
			}
		}
		if strings.ContainsAny(text, "!") || !quietVim()[strings.TrimLeft(text, ": ")] {
			w.simple(c, human.LangExec, human.HighRisk, "runs")
		}
	}
	return stream{}, false
}

// quietVim are commands of an editor that only show.
var quietVim = lazy.Set("q q! qa qa! quit set version messages normal nohl syntax number help h q\\! only G gg $")

// mongo judges the JavaScript that a client of MongoDB is given.
func mongo(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, commands.Of("mongosh").Values, false, false)
	var texts []arg.Word
	for i, a := range c.args {
		if a.Text == "--eval" && i+1 < len(c.args) {
			texts = append(texts, c.args[i+1])
		} else if v, ok := strings.CutPrefix(a.Text, "--eval="); ok {
			texts = append(texts, arg.Word{Text: v, Taint: a.Taint})
		}
	}
	if len(texts) == 0 && c.in.open && c.in.known {
		texts = append(texts, arg.Word{Text: c.in.text, Taint: c.in.taint})
	}
	files := o.Has("-f", "--file")
	for _, f := range o.Words {
		files = files || strings.HasSuffix(f.Text, ".js") || strings.HasSuffix(f.Text, ".mongodb")
	}
	if len(texts) == 0 || files {
		return stream{}, false
	}
	risk := human.NoRisk
	raise := func(to human.Risk) {
		if to.Level() > risk.Level() {
			risk = to
		}
	}
	for _, t := range texts {
		if !t.Known() {
			raise(human.HighRisk)
		}
		if mongoLoses.MatchString(t.Text) {
			raise(human.HighRisk)
		}
		for _, m := range mongoCalls.FindAllStringSubmatch(t.Text, 100) {
			if !mongoLooks()[m[1]] {
				raise(human.MediumRisk)
			}
		}
		if evaluatesIn("javascript", t.Text) != "" || runsCommands.MatchString(t.Text) || strings.Contains(t.Text, "load(") {
			w.code("javascript", t)
		}
	}
	e := commands.Defaults[human.DatabaseEffect]
	e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = human.DatabaseEffect, risk, "mongosh.eval", clip(arg.Joined(texts).Shown()), human.Likely
	switch risk {
	case human.HighRisk:
		e.Reversibility = human.Irreversible
	case human.NoRisk:
		e.Reversibility, e.Blast = human.Reversible, human.FileBlast
	}
	w.emit(e)
	return handled(stream{taint: arg.MadeHere})
}

var (
	mongoLoses = lazy.Pattern(`(?i)\b(drop\w*|delete\w*|remove\w*|findOneAndDelete|shutdownServer|renameCollection|convertToCapped|compact|revoke\w*|resync|killOp|fsyncLock)\s*\(|["']?\b(drop|dropDatabase|delete|shutdown|dropUser|renameCollection|findAndModify)["']?\s*:|\$out\b|\$merge\b`)
	mongoCalls = lazy.Pattern(`\.\s*([A-Za-z_]\w*)\s*\(`)
	mongoLooks = lazy.Set("find findOne count countDocuments estimatedDocumentCount distinct aggregate explain limit skip sort toArray forEach pretty map getCollection getCollectionNames getCollectionInfos getSiblingDB getName getMongo getDBNames " +
		"stats serverStatus status hello isMaster version getIndexes indexStats listCommands printReplicationInfo hasNext next size itcount project hint maxTimeMS allowDiskUse collation batchSize getDB getUsers getUser getRoles getRole dataSize storageSize totalSize totalIndexSize " +
		"validate currentOp serverBuildInfo hostInfo printjson print tojson stringify log match group lookup conf config printSecondaryReplicationInfo getShardDistribution latencyStats getProfilingStatus getProfilingLevel serverCmdLineOpts join keys length parse toString valueOf filter")
)
