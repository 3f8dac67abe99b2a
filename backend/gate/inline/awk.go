package inline

import "strings"

// awk proves a program in awk, whose only ways out are system, pipes, files that it prints to, and what gawk loads.
func (v *prover) awk() {
	printing, depth := false, 0
	for i, t := range v.toks {
		switch {
		case t.kind == text && strings.Contains(t.text, "/inet"):
			v.unproven(t.text)
		case t.word("system", "extension"):
			v.unproven(t.text)
		case t.kind == name && strings.HasPrefix(t.text, "print"):
			printing, depth = true, 0
		case t.is("@"), t.is("|"), t.is("|&"):
			v.unproven(t.text)
		case t.is("("), t.is("["):
			depth++
		case t.is(")"), t.is("]"):
			depth--
		case t.is("}"), t.kind == line, t.is(";"):
			printing = false
		case (t.is(">", ">>")) && printing && depth <= 0:
			if to := v.at(i + 1); !to.is("=") && (!to.lit || !oneOf(to.text, "/dev/stderr", "/dev/stdout")) {
				v.unproven("print " + t.text)
			}
		}
	}
}
