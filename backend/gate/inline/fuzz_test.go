package inline

import (
	"strings"
	"testing"
)

var languages = []string{"python", "javascript", "ruby", "perl", "php", "lua", "go", "awk"}

// Whatever a program is, it is judged in time that grows with its length, and what follows it is never hidden by it (G1).
func FuzzProve(f *testing.F) {
	for _, seed := range []string{
		"print(1)", "import os\nos.system('x')", "f'{1:{2}}'", "/'/.test(1)", "`${`${1}`}`", "my %v = (q => 1); s/a/b/e", "puts \"#{1}\"", "$x->{y}", "print 1, 2 > \"f\"", "\"\\", "'''", "((((", "))))", "{[(", "<<E\nE\n", "=pod\n", "é", "\x00",
		"package main\nimport f \"fmt\"\nfunc main() { f.Println(1) }", "-- x\nprint(1)", "<?php echo \"{$a['b']}\";",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, program string) {
		for _, language := range languages {
			_ = Prove(language, program, nil)
		}
	})
}

// Hostile programs of the greatest length are judged too: repeated, no part costs more than a pass over the whole.
func TestLongProgramsEnd(t *testing.T) {
	for _, part := range []string{"(", "[", "{", "a.", "a,", "f'{", "`${", "x = 1\n", "import a\n", "const a = b;", "resolve(", "p = 'a'\n", "@{[", "f(p, ", "import{", "class A{", "sub x{", "\"#{"} {
		program := strings.Repeat(part, MaxProgram/len(part))
		for _, language := range languages {
			_ = Prove(language, program, nil)
		}
	}
}

func BenchmarkProve(b *testing.B) {
	for _, of := range []struct{ language, program string }{
		{"python", "import json, sys\nfor k, v in json.load(sys.stdin).items():\n    print(f'{k}: {v[\"a\"]}')\n"},
		{"javascript", "const p = require('./package.json'); console.log(Object.entries(p.dependencies).map(([k, v]) => `${k}@${v}`).join('\\n'))"},
	} {
		b.Run(of.language, func(b *testing.B) {
			for b.Loop() {
				_ = Prove(of.language, of.program, nil)
			}
		})
	}
}
