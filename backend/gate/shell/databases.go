package shell

import (
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/gate/sql"
	"deskbell/backend/human"
)

// psqlPrints is the query of a \copy that only prints what it finds; empty for any other line.
func psqlPrints(line string) string {
	query, ok := strings.CutPrefix(line, `\copy (`)
	if !ok {
		return ""
	}
	query, to, ok := cutLast(query, ")")
	to = strings.ToLower(strings.TrimSpace(to))
	if !ok || !strings.HasPrefix(to, "to stdout") || strings.Contains(to, "program") {
		return ""
	}
	return query
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// query judges SQL, and what the clients themselves take for commands.
func (w *walker) query(c *cmd, v arg.Word, readonly bool) {
	text := v.Text
	effect := func(risk human.Risk, rule string, lost bool) {
		e := commands.Defaults[human.DatabaseEffect]
		e.Verb, e.Risk, e.Rule, e.Resource, e.Certainty = human.DatabaseEffect, risk, c.name+"."+rule, clip(v.Shown()), human.Certain
		if lost {
			e.Reversibility = human.Irreversible
		}
		if risk == human.NoRisk {
			e.Reversibility, e.Blast = human.Reversible, human.FileBlast
		}
		w.emit(e)
	}
	var plain []string
	for _, line := range strings.Split(text, "\n") {
		t := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(t, ".") && (c.name == "sqlite3" || c.name == "duckdb"):
			word, rest, _ := strings.Cut(t[1:], " ")
			w.metaOutput(rest)
			switch word {
			case "shell", "system":
				w.script(rest, "sh", nil, stream{})
			case "output", "once", "backup", "save", "log", "excel":
				effect(human.LowRisk, "writes_file", false)
			case "import", "restore", "read", "load", "open", "clone", "archive", "dump2":
				effect(human.MediumRisk, "loads", false)
			default:
				effect(human.NoRisk, "reads", false)
			}
		case strings.HasPrefix(t, `\`) && (c.name == "psql" || c.name == "mysql" || c.name == "mariadb"):
			if _, rest, ok := strings.Cut(t, " "); ok && !strings.HasPrefix(t, `\!`) {
				w.metaOutput(rest)
			}
			switch {
			case strings.HasPrefix(t, `\!`):
				w.script(strings.TrimSpace(t[2:]), "sh", nil, stream{})
			case psqlPrints(t) != "":
				plain = append(plain, psqlPrints(t)+";")
			case strings.Contains(strings.ToLower(t), "program") || strings.HasPrefix(t, `\copy`) || strings.HasPrefix(t, `\i`) || strings.HasPrefix(t, `\o`) || strings.HasPrefix(t, `\g`) || strings.HasPrefix(t, `\w`):
				effect(human.MediumRisk, "files", false)
				if i := strings.Index(strings.ToLower(t), "program"); i >= 0 {
					w.script(strings.Trim(t[i+len("program"):], " '"), "sh", nil, stream{})
				}
			default:
				effect(human.NoRisk, "reads", false)
			}
		case (c.name == "mysql" || c.name == "mariadb") && (strings.HasPrefix(t, "system ") || strings.HasPrefix(t, "pager ")):
			_, program, _ := strings.Cut(t, " ")
			w.script(program, "sh", nil, fed(arg.FromFile))
		default:
			plain = append(plain, line)
		}
	}
	for _, f := range sql.Files(text) {
		w.reading(arg.Known(f), c.name+".reads")
	}
	if strings.Contains(text, `\gexec`) {
		effect(human.HighRisk, "runs_results", true)
	}
	statements := sql.Read(strings.ReplaceAll(strings.Join(plain, "\n"), arg.Unknown, " ? "), sql.DialectOf(c.name))
	if !v.Known() && len(statements) == 0 || strings.HasPrefix(strings.TrimSpace(text), arg.Unknown) {
		effect(human.HighRisk, "unknown", true)
		return
	}
	if len(statements) > 1 {
		effect(human.LowRisk, "several", false)
	}
	for _, s := range statements {
		switch {
		case s.Kind == sql.RunsCode:
			effect(human.HighRisk, "runs_code", true)
		case readonly || s.Kind == sql.Reads:
			effect(human.NoRisk, "reads", false)
		case s.Kind == sql.Session:
			effect(human.LowRisk, "session", false)
		case s.Kind == sql.Writes:
			effect(human.MediumRisk, "writes", false)
		case s.Kind == sql.Destroys:
			effect(human.HighRisk, "destroys", true)
		case s.Kind == sql.Changes:
			effect(human.MediumRisk, "changes", false)
		default:
			effect(human.MediumRisk, "unknown", false)
		}
	}
	if !v.Known() {
		effect(human.MediumRisk, "built", false)
	}
	if len(statements) == 0 && strings.TrimSpace(strings.Join(plain, "")) != "" {
		effect(human.NoRisk, "reads", false)
	}
}

// metaOutput is where a client's own command writes to: a program behind a bar, or a file.
func (w *walker) metaOutput(rest string) {
	if before, program, ok := strings.Cut(rest, "|"); ok && strings.Trim(before, " \"'") == "" {
		w.script(strings.Trim(program, " \"'"), "sh", nil, fed(arg.FromFile))
		return
	}
	if _, program, ok := strings.Cut(rest, "program "); ok { // \copy t to program 'sh'
		w.script(strings.Trim(program, " \"';"), "sh", nil, fed(arg.FromFile))
	}
	if words := strings.Fields(rest); len(words) > 0 {
		w.outside(arg.Known(strings.Trim(words[len(words)-1], `"'`)), "database.output")
	}
}

// redis takes commands from its input, a line each, where it is given none.
func redis(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, commands.Of("redis-cli").Values, false, false)
	if len(o.Words) > 0 || !c.in.open || !c.in.known {
		return stream{}, false
	}
	for i, line := range strings.Split(strings.TrimSpace(c.in.text), "\n") {
		if i > 100 {
			return stream{}, false
		}
		args := []arg.Word{arg.Known("redis-cli")}
		for _, word := range strings.Fields(line) {
			args = append(args, arg.Known(word))
		}
		if len(args) > 1 {
			w.run(args, stream{})
		}
	}
	return handled(stream{taint: arg.MadeHere})
}
