package shell

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"deskbell/backend/gate/lazy"
	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/gate/shell/commands"
)

func echo(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	args := c.args
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		args = args[1:]
	}
	v := arg.Joined(args)
	text := v.Text
	if strings.Contains(text, `\`) {
		if t, _, err := expand.Format(nil, strings.ReplaceAll(text, "%", "%%"), nil); err == nil && len(args) < len(c.args) && strings.Contains(c.args[0].Text, "e") {
			text = t
		}
	}
	return handled(stream{text: text + "\n", known: v.Known(), taint: v.Taint})
}

func printf(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	args := c.args
	if len(args) > 1 && args[0].Text == "-v" {
		w.arithText(args[1].Text)
		out, _ := printf(w, &cmd{name: c.name, args: args[2:], in: c.in})
		a := textAssign(arg.Word{Text: args[1].Text})
		if a.naked, a.v = false, (arg.Word{Text: arg.Unknown, Taint: out.taint}); out.known {
			a.v.Text = out.text
		}
		w.give(a)
		return handled(stream{known: true})
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return handled(stream{known: true})
	}
	if strings.ContainsAny(args[0].Text, "dioxXu") {
		for _, a := range args[1:] {
			if strings.ContainsRune(a.Text, '[') { // a number may be an array's element, by an index that runs
				w.arithText(a.Text)
			}
		}
	}
	all := arg.Joined(args)
	if !all.Known() {
		return handled(stream{text: all.Text, taint: all.Taint})
	}
	text, n, err := expand.Format(nil, args[0].Text, arg.Texts(args[1:]))
	if err != nil || strings.Contains(text, arg.Unknown) {
		return handled(stream{text: all.Text, taint: all.Taint | arg.MadeHere})
	}
	if n > 0 && len(args)-1 > n { // the format is used again for what is left
		for rest := args[1+n:]; len(rest) > 0 && len(text) < maxValue; rest = rest[min(n, len(rest)):] {
			t, _, err := expand.Format(nil, args[0].Text, arg.Texts(rest))
			if err != nil {
				break
			}
			text += t
		}
	}
	return handled(stream{text: text, known: true, taint: all.Taint})
}

func cat(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, nil, false, false)
	w.harmless(c)
	out := stream{known: len(o.Words) > 0}
	if len(o.Words) == 0 {
		out = c.in
	}
	for _, v := range o.Words {
		if v.Text == "/dev/null" {
			continue
		}
		if v.Text == "-" || v.Text == "/dev/stdin" {
			out = join(out, c.in, true)
			continue
		}
		if f, ok := w.file(v); ok {
			out = join(out, f, true)
			continue
		}
		out.known = false
		out.taint |= w.reading(v, "cat.reads")
	}
	return handled(out)
}

// madeTemp is where mktemp made something, whatever it is called.
const madeTemp = "/tmp/mktemp.made"

func mktemp(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, lazy.Words("-p --tmpdir --suffix"), false, false)
	if len(o.Words) > 0 || o.Has("-p", "--tmpdir", "-u", "--dry-run", "--suffix") {
		return stream{}, false
	}
	w.apply(c)
	return handled(stream{text: madeTemp + "\n", known: true})
}

func decode(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, nil, c.name == "openssl", false)
	s := commands.Of(c.name)
	if s != nil {
		oo, _ := commands.Parse(c.args, s.Values, s.Long, false)
		w.rules(s, &oo, c, true)
	} else {
		w.harmless(c)
	}
	decoding := o.Has("-d", "-D", "--decode", "-r", "-dc") || c.name == "uudecode" || c.name == "gunzip" || c.name == "zcat"
	if !decoding {
		return handled(stream{taint: c.in.taint})
	}
	out := stream{taint: c.in.taint | arg.FromDecoder}
	if c.in.known {
		text := strings.Join(strings.Fields(c.in.text), "")
		var raw []byte
		var err error
		switch c.name {
		case "base64", "openssl":
			if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
				raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
			}
		case "xxd":
			raw, err = hex.DecodeString(text)
		default:
			return handled(out)
		}
		if err == nil && !strings.Contains(string(raw), arg.Unknown) {
			out.text, out.known = string(raw), true
		}
	}
	return handled(out)
}

func reverse(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	if !c.in.known || len(c.args) > 0 {
		for _, a := range c.args {
			if !strings.HasPrefix(a.Text, "-") {
				w.reading(a, "rev.reads")
			}
		}
		return handled(stream{taint: c.in.taint | arg.FromDecoder})
	}
	lines := strings.Split(c.in.text, "\n")
	for i, l := range lines {
		r := []rune(l)
		for a, b := 0, len(r)-1; a < b; a, b = a+1, b-1 {
			r[a], r[b] = r[b], r[a]
		}
		lines[i] = string(r)
	}
	return handled(stream{text: strings.Join(lines, "\n"), known: true, taint: c.in.taint | arg.FromDecoder})
}

func translate(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	return handled(stream{taint: c.in.taint | arg.FromDecoder})
}

func tee(w *walker, c *cmd) (stream, bool) {
	o, _ := commands.Parse(c.args, nil, false, false)
	w.harmless(c)
	for _, v := range o.Words {
		in := c.in
		switch {
		case o.Has("-a", "--append"):
			w.writing(v, "tee.writes")
			in = w.appended(v, in)
		case in.open && in.known && strings.TrimSpace(in.text) == "":
			w.emptying(v, "tee.empties")
		default:
			w.replacing(v, "tee.writes")
		}
		if in.taint&(arg.FromNetwork|arg.FromSecret|arg.FromDecoder) != 0 || in.known {
			w.given(v.Text, in)
		}
		w.keep(v, in)
	}
	return handled(c.in)
}

func printenv(w *walker, c *cmd) (stream, bool) {
	w.harmless(c)
	var t arg.Taint
	if len(c.args) == 0 || c.args[0].Text == "-p" {
		t = arg.FromSecret
	}
	for _, a := range c.args {
		w.ownToken(a.Text)
		if secretVar(a.Text) {
			t = arg.FromSecret
		}
	}
	return handled(stream{taint: t})
}
