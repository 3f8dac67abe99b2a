package inline

import (
	"path"
	"strings"
)

// golang proves a program in Go, which reaches nothing but what it imports.
func (v *prover) golang(program string) {
	if strings.Contains(program, "//go:") || strings.Contains(program, "//line") || strings.Contains(program, "/*line") {
		v.unproven("//go:") // directives may link to any function
		return
	}
	v.golangImports()
	v.golangNames()
}

func (v *prover) golangImports() {
	for i := 0; i < len(v.toks) && v.proof.Unproven == ""; i++ {
		t := v.toks[i]
		if t.kind != name || t.text != "import" {
			continue
		}
		end := i + 3
		if v.at(i + 1).is("(") {
			end = v.closing(i + 1)
		}
		for j := i + 1; j <= end && j < len(v.toks); j++ {
			m := v.toks[j]
			if m.kind != text {
				if m.is(".") {
					v.unproven("import .")
				}
				continue
			}
			as := path.Base(m.text)
			if v.at(j-1).kind == name && v.at(j-1).text != "import" {
				as = v.at(j - 1).text
			}
			if v.alias[as] = m.text; v.modules[m.text] == nil {
				v.unproven(m.text)
			}
			if end == i+3 {
				end = j
			}
		}
		i = end
	}
}

func (v *prover) golangNames() {
	for i, t := range v.toks {
		m, ok := v.alias[t.text]
		if t.kind != name || !ok || v.at(i-1).is(".") || !v.at(i+1).is(".") {
			continue
		}
		what, whole := v.at(i+2).text, m+"."+v.at(i+2).text
		switch members := v.modules[m]; {
		case v.sets["reads"][whole] && v.at(i+3).is("("):
			if args := v.args(i + 3); len(args) > 0 {
				v.reading(args[0])
			}
		case v.sets["writes"][whole] && v.at(i+3).is("("):
			if args := v.args(i + 3); len(args) > 0 {
				v.writing(whole, args[0])
			}
		case !members["*"] && !members[what] || members["-"+what]:
			v.unproven(whole)
		}
	}
}
