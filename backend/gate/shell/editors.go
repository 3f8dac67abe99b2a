package shell

import (
	"strings"

	"deskbell/backend/gate/inline"
	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

// sed runs and writes by its script: e, w, s///e, s///w; and edits with -i.
func sed(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-e -f --expression --file -l --line-length"), false, false)
	var scripts []arg.Word
	files := o.Words
	for i, a := range c.args {
		switch {
		case (a.Text == "-e" || a.Text == "--expression") && i+1 < len(c.args):
			scripts = append(scripts, c.args[i+1])
		case strings.HasPrefix(a.Text, "--expression="):
			scripts = append(scripts, arg.Word{Text: a.Text[len("--expression="):]})
		case len(a.Text) > 2 && a.Text[0] == '-' && a.Text[1] != '-' && strings.HasSuffix(a.Text, "e") && i+1 < len(c.args) && !strings.ContainsAny(a.Text, "i"):
			scripts = append(scripts, c.args[i+1])
		}
	}
	if o.Has("-f", "--file") {
		w.simple(c, human.LangExec, human.LowRisk, "script_file")
	} else if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		w.sedScript(c, s.Text)
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "sed.reads"})
	inPlace := false
	for _, a := range c.args {
		if strings.HasPrefix(a.Text, "-i") || strings.HasPrefix(a.Text, "--in-place") || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.ContainsRune(a.Text, 'i') && !strings.HasPrefix(a.Text, "-e") && !strings.HasPrefix(a.Text, "-f") {
			inPlace = true
		}
		if suffix := strings.TrimPrefix(strings.TrimPrefix(a.Text, "--in-place="), "-i"); suffix != a.Text && (strings.Contains(suffix, "*") || strings.HasPrefix(suffix, "/") || strings.HasPrefix(suffix, "../")) {
			w.simple(c, human.FilesystemWrite, human.MediumRisk, "elsewhere") // what was there becomes a file of that name
		}
	}
	emptied := inPlace && len(scripts) == 1 && (scripts[0].Text == "d" || strings.ReplaceAll(scripts[0].Text, " ", "") == "1,$d" || strings.ReplaceAll(scripts[0].Text, " ", "") == "0,$d")
	for _, f := range files {
		if emptied {
			w.emptying(f, "sed.empties")
		}
		if inPlace {
			w.writing(f, "sed.edits")
			w.edited(f, arg.Joined(scripts))
		} else {
			w.reading(f, "sed.reads")
		}
	}
	if inPlace && len(files) == 0 {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "edits")
	}
	return handled(stream{taint: c.in.taint | arg.MadeHere})
}

func (w *walker) sedScript(c *cmd, s string) {
	// Commands stand at the beginning, after a semicolon, a brace or an address.
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == ' ' || ch == ';' || ch == '\n' || ch == '{' || ch == '}' || ch == '!' || ch == ',' || ch == '$' || ch >= '0' && ch <= '9' || ch == '~' || ch == '+':
		case ch == '/' || ch == '\\': // an address
			d := ch
			if ch == '\\' && i+1 < len(s) {
				i++
				d = s[i]
			}
			i = skipTo(s, i+1, d)
			for i+1 < len(s) && (s[i+1] == 'I' || s[i+1] == 'M') {
				i++
			}
		case ch == 's' || ch == 'y':
			if i+1 >= len(s) {
				return
			}
			d := s[i+1]
			j := skipTo(s, i+2, d)
			repl := j + 1
			j = skipTo(s, j+1, d)
			k := j + 1
			for k < len(s) && strings.IndexByte("gpiIeMm0123456789", s[k]) >= 0 {
				if s[k] == 'e' && ch == 's' {
					w.simple(c, human.LangExec, human.HighRisk, "runs")
					if repl < j && j <= len(s) {
						w.script(s[repl:j], "sh", nil, stream{})
					}
				}
				k++
			}
			if k < len(s) && s[k] == 'w' && ch == 's' {
				name, _, _ := strings.Cut(strings.TrimSpace(s[k+1:]), "\n")
				w.writing(arg.Known(name), "sed.writes")
				return
			}
			i = k - 1
		case ch == 'e':
			line, _, _ := strings.Cut(s[i+1:], "\n")
			line = strings.TrimSpace(line)
			if line == "" {
				w.simple(c, human.LangExec, human.HighRisk, "runs")
			} else {
				w.simple(c, human.LangExec, human.MediumRisk, "runs")
				w.script(s[i+1:], "sh", nil, stream{}) // lines that follow may be the command's as well
			}
			i += 1 + len(line)
		case ch == 'w' || ch == 'W':
			name, _, _ := strings.Cut(strings.TrimSpace(s[i+1:]), "\n")
			w.writing(arg.Known(name), "sed.writes")
			return
		case ch == 'a' || ch == 'i' || ch == 'c' || ch == 'b' || ch == 't' || ch == 'T' || ch == ':' || ch == 'r' || ch == 'R' || ch == '#':
			if ch == 'r' || ch == 'R' {
				name, _, _ := strings.Cut(strings.TrimSpace(s[i+1:]), "\n")
				w.reading(arg.Known(name), "sed.reads")
			}
			labelled := strings.IndexByte("btT:", ch) >= 0 // a label ends where text continues
			for i < len(s) && s[i] != '\n' && (!labelled || s[i] != ';' && s[i] != '}') {
				i++
			}
		}
	}
}

func skipTo(s string, i int, d byte) int {
	for ; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] == d {
			return i
		}
	}
	return len(s)
}

func awk(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-F -v -f -e -i -l --field-separator --assign --file --source --include --load"), false, false)
	var program *arg.Word
	words := o.Words
	for _, n := range []string{"-e", "--source"} {
		if v, ok := o.Flags[n]; ok {
			program = &v
		}
	}
	if o.Has("-f", "--file", "-E", "--exec") || o.Has("-W") && len(words) > 0 && words[0].Text == "exec" {
		w.simple(c, human.LangExec, human.MediumRisk, "script_file")
	} else if program == nil {
		if len(words) == 0 {
			if o.Has("-V", "--version", "-W", "--help", "-h") {
				w.harmless(c)
			} else {
				w.simple(c, human.UnknownEffect, human.MediumRisk, "nothing")
			}
			return handled(stream{})
		}
		program, words = &words[0], words[1:]
	}
	for _, n := range []string{"-d", "-o", "-p", "--dump-variables", "--pretty-print", "--profile"} {
		if v, ok := o.Flags[n]; ok && c.name != "mawk" {
			if v.Text == "" {
				v = arg.Known("awkvars.out")
			}
			w.writing(v, "awk.writes")
		}
	}
	if o.Has("-i", "--include", "-l", "--load") {
		w.simple(c, human.FilesystemWrite, human.LowRisk, "extension")
		for _, n := range []string{"-i", "--include", "-l", "--load"} {
			w.loads("load", o.Flags[n], "awk.loads")
		}
	}
	w.emit(human.Effect{Verb: human.FilesystemRead, Resource: w.shown(c), Risk: human.NoRisk, Rule: "awk.reads"})
	if program != nil {
		w.awkProgram(c, *program)
	}
	edits := program != nil && o.Flags["-i"].Text == "inplace" || program != nil && o.Flags["--include"].Text == "inplace"
	for _, f := range words {
		if edits {
			w.writing(f, "awk.edits")
			w.edited(f, *program)
		}
		w.reading(f, "awk.reads")
	}
	return handled(stream{taint: c.in.taint | arg.MadeHere})
}

// awkPatterns takes out of /patterns/ what elsewhere begins a text, a comment or a pipe: /"/ begins none.
func awkPatterns(s string) string {
	out := []byte(s)
	last := byte(';') // before it: a slash after a name or a number divides
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t':
			continue
		case c == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			last = '"'
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
			last = ';'
		case c == '/' && strings.IndexByte("(,~!{};&|\n", last) >= 0:
			class := false
			for i++; i < len(s) && s[i] != '\n' && (s[i] != '/' || class); i++ {
				switch s[i] {
				case '\\':
					i++
				case '[':
					class = true
				case ']':
					class = false
				}
				if i < len(s) && strings.IndexByte(`"#|>`, s[i]) >= 0 {
					out[i] = '.'
				}
			}
			last = '/'
		default:
			last = c
		}
	}
	return string(out)
}

// awkCommand is the command beside the pipe at bare[i], where it is one literal and nothing else: print | "sort", or
// "date" | getline.
func awkCommand(bare string, i int, literals []string) (string, bool) {
	if strings.Count(bare, blank) != len(literals) {
		return "", false
	}
	n := strings.Count(bare[:i], blank)
	before, after := strings.TrimRight(bare[:i], " \t"), strings.TrimLeft(bare[i+1:], " \t")
	if end, ok := strings.CutPrefix(after, blank); ok {
		if end = strings.TrimLeft(end, " \t"); end != "" && !strings.ContainsAny(end[:1], ";}\n") {
			return "", false
		}
		return literals[n], true
	}
	if begin, ok := strings.CutSuffix(before, blank); ok && strings.HasPrefix(after, "getline") {
		if begin = strings.TrimRight(begin, " \t"); begin != "" && !strings.ContainsAny(begin[len(begin)-1:], ";{(\n") {
			return "", false
		}
		return literals[n-1], true
	}
	return "", false
}

func (w *walker) awkProgram(c *cmd, v arg.Word) {
	p := inline.Prove("awk", v.Text, nil)
	if p.Unproven == "" {
		return
	}
	before := len(w.effects)
	w.awkActs(c, v)
	if p.Unread || len(w.effects) == before {
		w.simple(c, human.LangExec, human.MediumRisk, "unproven")
	}
}

// blank is a literal of awk once its text was taken out.
const blank = `""`

// awkActs looks for what a program in awk runs and writes.
func (w *walker) awkActs(c *cmd, v arg.Word) {
	bare, literals := strip(awkPatterns(v.Text), "awk")
	if strings.Contains(bare, "system(") || strings.Contains(bare, "system (") {
		w.simple(c, human.LangExec, human.MediumRisk, "runs")
		found := false
		for _, l := range literals {
			if strings.TrimSpace(l) != "" {
				w.script(l, "sh", nil, stream{})
				found = true
			}
		}
		w.rest(v.Text, "system")
		if !found || !strings.Contains(strings.ReplaceAll(bare, " ", ""), "system(\"\")") {
			w.unseen(arg.Word{Text: arg.Unknown}, "awk.runs")
		}
	}
	if strings.Contains(bare, "@load") || strings.Contains(bare, "@include") {
		w.simple(c, human.LangExec, human.MediumRisk, "loads")
	}
	// print > "file", print | "command", "command" | getline
	flat := strings.ReplaceAll(bare, "||", "  ")
	for i := 0; i < len(flat); i++ {
		switch flat[i] {
		case '|':
			if l, ok := awkCommand(flat, i, literals); ok {
				w.simple(c, human.LangExec, human.LowRisk, "pipes")
				w.script(l, "sh", nil, fed(arg.FromFile))
				continue
			}
			w.simple(c, human.LangExec, human.MediumRisk, "pipes")
			for _, l := range literals {
				if strings.TrimSpace(l) != "" {
					w.script(l, "sh", nil, fed(arg.FromFile))
				}
			}
		case '>':
			before := flat[:i]
			if k := strings.LastIndexAny(before, "{};\n"); k >= 0 {
				before = before[k:]
			}
			if strings.Contains(before, "print") && (i+1 >= len(flat) || flat[i+1] != '=') && strings.Count(before, "(") == strings.Count(before, ")") {
				named := false
				spelled := strings.HasPrefix(strings.TrimLeft(flat[i+1:], "> "), blank)
				for _, l := range literals {
					if spelled && (couldBePath(l) || len(literals) == 1) {
						w.writing(arg.Known(l), "awk.writes")
						named = true
					}
				}
				if !named {
					w.simple(c, human.FilesystemWrite, human.MediumRisk, "writes")
				}
			}
		}
	}
}
