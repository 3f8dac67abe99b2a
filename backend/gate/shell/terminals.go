package shell

import (
	"strings"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/human"
)

// multiplexer is screen, tmux and their like: what they start, or type into a terminal, is a command.
func multiplexer(w *walker, c *cmd) (stream, bool) {
	args := c.args
	switch c.name {
	case "screen":
		_, rest := parse(args, lazy.Words("-S -c -e -h -p -s -t -T -Logfile"), false, true)
		for i, a := range args {
			if a.s == "-X" {
				rest = args[i+1:]
				for j, x := range rest {
					if x.s == "stuff" || x.s == "exec" || x.s == "eval" || x.s == "screen" {
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
		_, rest := parse(args, lazy.Words("-c -f -L -S -T"), false, true)
		for len(rest) > 0 {
			sub := rest[0].s
			end := len(rest)
			for i, a := range rest {
				if a.s == ";" || a.s == `\;` {
					end = i
					break
				}
			}
			one := rest[1:end]
			rest = rest[min(end+1, len(rest)):]
			switch {
			case strings.HasPrefix("send-keys", sub) && strings.HasPrefix(sub, "send"), sub == "set-buffer", sub == "setb":
				_, keys := parse(one, lazy.Words("-t -N -b"), false, true)
				w.typed(keys)
			case strings.HasPrefix(sub, "new"), strings.HasPrefix(sub, "split"), strings.HasPrefix(sub, "respawn"), strings.HasPrefix(sub, "run"), strings.HasPrefix(sub, "if"), strings.HasPrefix(sub, "pipe"), strings.HasPrefix(sub, "popup"), strings.HasPrefix(sub, "display-popup"), strings.HasPrefix(sub, "confirm"), strings.HasPrefix(sub, "bind"), strings.HasPrefix(sub, "set-hook"):
				_, words := parse(one, lazy.Words("-t -s -n -c -x -y -e -F -l -p -w -T"), false, true)
				if len(words) == 1 || strings.HasPrefix(sub, "if") {
					for _, x := range words {
						w.script(x.s, "sh", nil, stream{})
					}
				} else if len(words) > 0 {
					w.script(joined(words).s, "sh", nil, stream{})
				}
			}
		}
	}
	return stream{}, false
}

// typed is text that is typed into a terminal, names of keys in between.
func (w *walker) typed(keys []value) {
	var b strings.Builder
	for _, k := range keys {
		switch k.s {
		case "Enter", "C-m", "C-j", "KPEnter", "Escape":
			b.WriteByte('\n')
		case "Space":
			b.WriteByte(' ')
		default:
			text := strings.NewReplacer("^M", "\n", `\n`, "\n", `\015`, "\n", `\r`, "\n").Replace(k.s)
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
		case (a.s == "-c" || a.s == "--cmd" || a.s == "--eval" || a.s == "-eval" || a.s == "--execute") && i+1 < len(c.args):
			text = c.args[i+1].s
		case strings.HasPrefix(a.s, "+") && len(a.s) > 1:
			text = a.s[1:]
		case strings.HasPrefix(a.s, "-c") && len(a.s) > 2, strings.HasPrefix(a.s, "--cmd="):
			text = a.s[2:]
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
	o, _ := parse(c.args, specOf("mongosh").values, false, false)
	var texts []value
	for i, a := range c.args {
		if a.s == "--eval" && i+1 < len(c.args) {
			texts = append(texts, c.args[i+1])
		} else if v, ok := strings.CutPrefix(a.s, "--eval="); ok {
			texts = append(texts, value{s: v, taint: a.taint})
		}
	}
	if len(texts) == 0 && c.in.open && c.in.known {
		texts = append(texts, value{s: c.in.text, taint: c.in.taint})
	}
	files := o.has("-f", "--file")
	for _, f := range o.words {
		files = files || strings.HasSuffix(f.s, ".js") || strings.HasSuffix(f.s, ".mongodb")
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
		if !t.known() {
			raise(human.HighRisk)
		}
		if mongoLoses.MatchString(t.s) {
			raise(human.HighRisk)
		}
		for _, m := range mongoCalls.FindAllStringSubmatch(t.s, 100) {
			if !mongoLooks()[m[1]] {
				raise(human.MediumRisk)
			}
		}
		if evaluatesIn("javascript", t.s) != "" || runsCommands.MatchString(t.s) || strings.Contains(t.s, "load(") {
			w.code("javascript", t)
		}
	}
	e := verbDefaults[human.DatabaseEffect]
	e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = human.DatabaseEffect, risk, "mongosh.eval", clip(joined(texts).shown()), human.Likely
	switch risk {
	case human.HighRisk:
		e.Reversibility = human.Irreversible
	case human.NoRisk:
		e.Reversibility, e.Blast = human.Reversible, human.FileBlast
	}
	w.emit(e)
	return handled(stream{taint: madeHere})
}

var (
	mongoLoses = lazy.Pattern(`(?i)\b(drop\w*|delete\w*|remove\w*|findOneAndDelete|shutdownServer|renameCollection|convertToCapped|compact|revoke\w*|resync|killOp|fsyncLock)\s*\(|["']?\b(drop|dropDatabase|delete|shutdown|dropUser|renameCollection|findAndModify)["']?\s*:|\$out\b|\$merge\b`)
	mongoCalls = lazy.Pattern(`\.\s*([A-Za-z_]\w*)\s*\(`)
	mongoLooks = lazy.Set("find findOne count countDocuments estimatedDocumentCount distinct aggregate explain limit skip sort toArray forEach pretty map getCollection getCollectionNames getCollectionInfos getSiblingDB getName getMongo getDBNames " +
		"stats serverStatus status hello isMaster version getIndexes indexStats listCommands printReplicationInfo hasNext next size itcount project hint maxTimeMS allowDiskUse collation batchSize getDB getUsers getUser getRoles getRole dataSize storageSize totalSize totalIndexSize " +
		"validate currentOp serverBuildInfo hostInfo printjson print tojson stringify log match group lookup conf config printSecondaryReplicationInfo getShardDistribution latencyStats getProfilingStatus getProfilingLevel serverCmdLineOpts join keys length parse toString valueOf filter")
)
