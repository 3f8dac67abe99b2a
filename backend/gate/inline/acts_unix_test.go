//go:build unix

package inline_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/gate/inline"
)

// A way of a language to act: what comes before, and an expression for a function, or a statement. C stands for the text of a
// command that leaves a mark, F for a function, S for a statement.
type tongue struct {
	program   []string // the interpreter and its options, before the code
	functions []string
	calls     []string // of a function
	acts      []string // statements of their own
	around    []string // a statement
	line      string   // ends a statement
}

var tongues = map[string]tongue{
	"python": {
		program: []string{"python3", "-c"}, line: "\n",
		functions: []string{
			"import os|os.system", "from os import system as s|s", "import subprocess|subprocess.getoutput", "|__import__('os').system", "import importlib|importlib.import_module('os').system",
			"import sys, os|sys.modules['os'].system", "import os|getattr(os, 'sys'+'tem')", "import os|getattr(os, 'system')", "import os|vars(os)['system']", "import os|os.__dict__['system']", "import posix|posix.system",
			"import json|json.codecs.builtins.__import__('os').system", "import shutil|shutil.os.system", "import glob|glob.os.system", "import random|random._os.system", "import pathlib|pathlib.os.system",
			"import operator, os|operator.attrgetter('system')(os)", "import os|os.popen", "import os as json|json.system", "import os.path as p, os|os.system", "from shutil import os|os.system", "|(lambda c: exec('import os; os.system(c)'))",
			"|(lambda c: eval(\"__import__('os').system(c)\"))", "import os; m = os|m.system", "import os; d = {'a': os}|d['a'].system", "import functools, os|functools.partial(os.system)", "|(lambda c: [x for x in ().__class__.__base__.__subclasses__() if x.__name__ == '_wrap_close'][0].__init__.__globals__['system'](c))",
			"import os; b = __builtins__|os.system", "from os import *|system", "import ctypes|(lambda c: ctypes.CDLL(None).system(c.encode()))", "import logging|logging.os.system", "import typing|typing.sys.modules['os'].system", "import inspect|inspect.os.system",
			"import dataclasses|dataclasses.sys.modules['os'].system", "import enum|enum.sys.modules['os'].system", "import ast|(lambda c: eval(compile(ast.parse('__import__(\"os\").system(c)', mode='eval'), '', 'eval')))", "from os import path; import os as o|o.system",
			"import os; path = 'x'|os.system", "import timeit|(lambda c: timeit.timeit('__import__(\"os\").system(%r)' % c, number=1))", "import string|string._re.enum.sys.modules['os'].system", "import collections|collections._sys.modules['os'].system",
		},
		calls: []string{
			"F(C)", "list(map(F, [C]))", "(lambda g: g(C))(F)", "x = F\nx(C)", "[g(C) for g in [F]]", "import functools\nfunctools.partial(F, C)()", "class A:\n  __call__ = staticmethod(F)\nA()(C)", "sorted([C], key=F)", "max([C, C], key=F)",
			"f'{F(C)}'", "f'{[F(C) for _ in \"a\"]!r:>{4}}'", "d = dict(a=F)\nd['a'](C)", "def deco(h): return F(C)\n@deco\ndef z(): pass", "try:\n  raise KeyError\nexcept KeyError:\n  F(C)", "def f(x=F): return x(C)\nf()", "(y := F)(C)", "a, b = F, 1\na(C)",
			"import re\nre.sub('a', lambda m: str(F(C)), 'a')", "import re\nre.compile('.*')\nF(C)", "class P:\n  def __getattr__(self, n): return F\nP().q(C)", "import json\njson.dumps({1, 2}, default=lambda o: F(C))", "next(filter(F, [C]), 0)", "any(F(C) for _ in [1])",
			"from functools import reduce\nreduce(lambda a, b: F(C), [1, 2])", "match 1:\n  case 1: F(C)", "print(*[F(C)])", "{**{'a': F(C)}}", "import threading\nt = threading.Thread(target=F, args=(C,))\nt.start()\nt.join()",
		},
		acts: []string{
			"open(MARK, 'w')", "p = MARK\nopen(p + '', 'w')", "import pathlib\npathlib.Path(MARK).touch()", "from pathlib import Path\np = Path('a')\np = Path(MARK)\np.write_text('x')", "import pathlib\nfor p in [pathlib.Path(MARK)]: p.write_text('')",
			"import os\nos.mkdir(str(MARK))", "m = 'r'\nm = 'w'\nopen(MARK, m)", "import io\nio.open(MARK, mode='a')", "o = open\no(MARK, 'w')", "open(file=MARK, mode='x')", "open(*[MARK, 'w'])", "import os\nos.close(os.open(MARK, os.O_CREAT))", "import shutil\nshutil.copy('/etc/hostname', MARK)",
			"import sqlite3\nsqlite3.connect(MARK).execute('create table a(b)')", "import logging\nlogging.basicConfig(filename=MARK)\nlogging.error('x')", "import tempfile\ntempfile.mkstemp(dir='.', prefix='mark')", "import zipfile\nzipfile.ZipFile(MARK, 'w').close()",
			"import gzip\ngzip.open(MARK, 'wb').close()", "import pickle\npickle.dump(1, open(MARK, 'wb'))", "import fileinput, os\nopen(MARK, 'w')", "import pathlib\nq = pathlib.Path(MARK)\n(q).open('w')", "import pathlib\nvars(pathlib.Path)['touch'](pathlib.Path(MARK))", "exec(\"open(MARK, 'w')\")",
		},
		around: []string{
			"S", "if True:\n  S1", "for _ in [1]:\n  S1", "'''a''' ; x = 1\nS", "x = '\\''\nS #'", "x = r'\\' '\nS #'", "x = \"\"\"\n'''\"\"\"\nS #'''", "# it's\nS", "y = f'{1:{2}}'\nS", "z = 'a' 'b' \"c\"\nS", "x = b'\\'' + b\"'\"\nS", "def g():\n  S1\ng()", "x = [\n1,\n]\nS",
			"w = f\"{'a'}\"\nS", "v = f'{{' + \"}}'\"\nS", "u = '\\\\'\nS", "t = '''\\''''\nS", "class K:\n  S1",
		},
	},
	"javascript": {
		program: []string{"node", "-e"}, line: ";",
		functions: []string{
			"|require('child_process').execSync", "const {execSync: e} = require('child_process')|e", "|process.getBuiltinModule('child_process').execSync", "|globalThis.process.getBuiltinModule('child_process').execSync", "|process['getBuiltin'+'Module']('child_process').execSync",
			"|(c => [].constructor.constructor('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')(c))", "|(c => (()=>{})['constr'+'uctor']('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')(c))", "|(c => eval('process').getBuiltinModule('child_process').execSync(c))",
			"|Reflect.get(process, 'getBuiltinModule')('child_process').execSync", "|new Function('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')", "|require('child_'+'process').execSync", "|require('module')._load('child_process').execSync", "const r = require|r('child_process').execSync",
			"const cp = [require('child_process')]|cp[0].execSync", "|child_process.execSync", "const k = 'constructor'|(c => (() => {})[k]('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')(c))", "const p = process|p.getBuiltinModule('child_process').execSync", "|(0, eval)('c => process.getBuiltinModule(\"child_process\").execSync(c)')",
			"const {getBuiltinModule: g} = process|g('child_process').execSync", "const vm = require('vm')|(c => vm.runInThisContext('c => process.getBuiltinModule(\"child_process\").execSync(c)')(c))", "let fs = require('fs'); fs = require('child_process')|fs.execSync", "|(c => Object.getPrototypeOf(() => {}).constructor('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')(c))",
			"const util = require('util')|util.promisify(require('child_process').exec)", "|this.process.getBuiltinModule('child_process').execSync", "|(function () { return this })().process.getBuiltinModule('child_process').execSync", "const {constructor: F} = () => {}|F('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')",
			"const [k, l] = ['con', 'structor']; const q = 'a'[k + l][k + l]|q('c', 'process.getBuiltinModule(\"child_process\").execSync(c)')", "const path = (x => x)(require('child_process'))|path.execSync", "|pro\\u0063ess.getBuiltinModule('child_process').execSync", "const o = {a: process}|o.a.getBuiltinModule('child_process').execSync",
			"const {a = process} = {}|a.getBuiltinModule('child_process').execSync", "const f = (a = require) => a('child_process')|f().execSync",
		},
		calls: []string{
			"(F)(C)", "[C].map(F)", "[C].forEach(x => (F)(x))", "((g) => g(C))(F)", "const g = F; g(C)", "Promise.resolve(C).then(F)", "`${(F)(C)}`", "({toString: () => (F)(C)}) + ''", "(F)?.(C)", "(F).call(null, C)", "[F][0](C)", "({a: F}).a(C)", "({a: F})['a'](C)", "class A { static x = (F)(C) }",
			"C.replace(/.+/, F)", "label: (F)(C)", "JSON.stringify({toJSON() { return (F)(C) }})", "const h = {f: F}; const m = 'f'; h[m](C)", "[1].map(() => (F)(C))", "new (class { constructor() { (F)(C) } })()", "({get a() { return (F)(C) }}).a", "const {b = (F)(C)} = {}", "setTimeout(F, 0, C)", "setTimeout(() => (F)(C), 0)",
			"for (const i of [1]) (F)(C)", "(async () => { await (F)(C) })()", "const g2 = function* () { yield (F)(C) }; [...g2()]", "Array.from([C], F)", "if (1) { (F)(C) }", "switch (1) { default: (F)(C) }", "[C].reduce((a, x) => (F)(x), 0)", "({[Symbol.toPrimitive]: () => (F)(C)}) + 1", "[C, C].sort(F)",
		},
		acts: []string{
			"require('fs').writeFileSync(MARK, '')", "const fs = require('fs'); fs.mkdirSync(MARK)", "fs.appendFileSync(MARK, '')", "import('fs').then(f => f.writeFileSync(MARK, ''))", "const {writeFileSync: w} = require('fs'); w(MARK, '')", "let p = 'a'; p = MARK; require('fs').writeFileSync(p, '')",
			"require('fs').promises.writeFile(MARK, '')", "require('fs').createWriteStream(MARK)", "const w = require('fs').writeFileSync; w(MARK, '')", "require('fs').cpSync('/etc/hostname', MARK)", "const o = require('fs'); o['writeFile' + 'Sync'](MARK, '')", "require('fs').openSync(MARK, 'w')", "[MARK].forEach(fs.mkdirSync)",
			"(function (p) { const q = 'a'; fs.writeFileSync(p, '') })(MARK)", "const q = 'a'; { const q = MARK; fs.writeFileSync(q, '') }", "for (const f of [MARK]) fs.writeFileSync(f, '')", "process.report.writeReport(MARK)", "const {promises: pr} = fs; pr.writeFile(MARK, '')",
		},
		around: []string{
			"S", "/'/.test(''); S //'", "let a = 4 / 2; S; let b = 3 / 4", "if (1) /'/.exec(''); S //'", "`${`${1}`}`; S", "/[/']/.test(''); S //'", "let c = {}\n/'/g; S //'", "'\\\\'; S", "// '\nS", "/* ' */ S /* ' */", "let d = x => {}\n/'/g; S //'", "let e = '\\'' + \"'\"; S", "let f = a => a / 2; S; '/'", "{ S }",
			"let i = 1; i++ / 2; S; '/'", "let g = [1]\n/2/1; S", "`'${'`'}'`; S", "let r = typeof /'/; S //'", "try { S } catch {}", "let t = `\n//`; S", "function z() { S } z()",
		},
	},
	"perl": {
		program: []string{"perl", "-e"}, line: ";",
		functions: []string{"|system", "|CORE::system", "use POSIX|POSIX::system"},
		calls:     []string{"F(C)", "F C", "F((C))", "my @a = (C); F(@a)", "F { 'sh' } 'sh', '-c', C"},
		acts: []string{
			"exec C", "my $x = `${\\ C}`", "my $x = qx{sh -c @{[C]}}", "open(my $p, '-|', C); my $l = <$p>", "open(F, C . ' |'); my $l = <F>; close F", "open(F, '| ' . C); close F", "eval 'system(' . \"C\" . ')'", "'x' =~ /(?{system(C)})/", "my $y = 'x'; $y =~ s/x/system(C)/e",
			"my $y = 'x'; $y =~ s/x/'system(C)'/ee", "my $z = \"@{[system(C)]}\"", "my $z = \"${\\ scalar system(C)}\"", "my $f = \\&CORE::system; &$f(C)", "*g = sub { system(C) }; g()", "my $s = sub { system(C) }; $s->()", "@ARGV = (C . ' |'); my $l = <>", "@ARGV = ('> ' . MARK); my $l = <>",
			"open(F, '>', MARK)", "open(F, '> ' . MARK)", "open F, '>' . MARK", "mkdir MARK", "my $m = '>'; open(F, $m, MARK)", "use IO::File; IO::File->new(MARK, 'w')", "require File::Path; File::Path::mkpath(MARK)", "symlink 'a', MARK", "sub AUTOLOAD { system(C) } foo()", "package A; sub DESTROY { system(C) } package main; { my $o = bless {}, 'A' }",
			"tie my $t, 'B'; package B; sub TIESCALAR { system(C); bless [] }", "use constant X => system(C)", "my %h = (a => sub { system(C) }); $h{a}->()", "my %h = (a => sub { system(C) }); $h{a}()", "sort { system(C); 0 } 1, 2", "print STDOUT '' if do { system(C) }", "local $SIG{__WARN__} = sub { system(C) }; warn 1", "sysopen(F, MARK, 65)",
			"my $g = 'system'; &{\"CORE::$g\"}(C)", "main->can('sys')", "syscall(83, MARK, 0777)", "dbmopen(my %d, MARK, 0666)", "my $r = 'a' . qx'sh -c \"touch $ENV{MARK}\"'", "readpipe(C)",
		},
		around: []string{
			"S", "sub f { S } f()", "BEGIN { S }", "my @m = map { S } 1", "if (1) { S }", "for (1) { S }", "# '\nS", "my $q = q('); S; #')", "my $x = 1 / 2; S; my $y = 3 / 4", "my $r = 'a' =~ m'b'; S", "my $t = 'a' =~ /'/; S; #'", "my $u = q{a{b}'}; S; #'", "my %v = (q => 1, s => 2, y => 3); S", "my $w = \"\\\"\"; S", "my @z = (1, 2); $#z = 1; S",
			"my $k = {s => 1}; $k->{s}; S", "my $n = 'a' x 3; S", "my $o = sub { 1 }; S", "split /'/, 'a'; S; #'", "(my $p = 'a') =~ tr/'/x/; S; #'", "(my $p = 'a') =~ s{a}{'}; S; #'", "$y = 5; $y /2; S; #/",
		},
	},
	"awk": {
		program: []string{"awk"}, line: ";",
		functions: []string{"|system"}, calls: []string{"F(C)", "x = F(C)", "if (F(C)) y = 1", "print F (C)", "F(C \"\")"},
		acts:   []string{"print \"\" > MARK", "print \"\" >> MARK", "print \"\" | C", "C | getline", "C | getline x", "printf \"\" > MARK", "print(1) > MARK", "print 1, (2) > MARK"},
		around: []string{"BEGIN { S }", "BEGIN { x = 4 / 2; S; y = 2 / 1 }", "BEGIN { if (\"a\" ~ /\"/) z = 1; S # \"\n}", "# \"\nBEGIN { S }", "function f() { S }\nBEGIN { f() }", "BEGIN { a[\"/\"] = 1; S; b = \"/\" }", "END { S }", "BEGIN { x = \"\\\"\"; S # \"\n}", "BEGIN { $0 = \"a/b\"; split($0, q, /[/]/); S; w = \"/\" }"},
	},
}

// Programs are put together from ways to act, to call and to hide, and truly run. One that left its mark is never proved (G1).
func TestWhatActsIsNotProved(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		for name, value := range map[string]string{"rapid.checks": "60", "rapid.seed": "18"} {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = flag.Set(name, flag.Lookup(name).DefValue) }()
		}
	}
	for language, of := range tongues {
		t.Run(language, func(t *testing.T) {
			acted, proved := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				dir, err := os.MkdirTemp("", "acts")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = os.RemoveAll(dir) }()
				program := of.draw(t)
				p := inline.Prove(language, program, nil)
				isProved := p.Unproven == "" && len(p.Queries) == 0 // which are judged as what they are
				if isProved {
					proved++
				}
				if of.leaves(t, dir, program) {
					if acted++; isProved {
						t.Errorf("it acts, and is proved:\n%s", program)
					}
				}
			})
			t.Logf("%d acted, %d were proved", acted, proved)
			if acted < 10 {
				t.Errorf("only %d acted: the test tries nothing", acted)
			}
		})
	}
}

// draw puts a program together.
func (g tongue) draw(t *rapid.T) string {
	pick := func(list []string) string { return rapid.SampledFrom(list).Draw(t, "part") }
	command, path := `'touch mark'`, `'mark' + ''`
	switch g.program[0] {
	case "awk":
		command, path = `"touch mark"`, `("ma" "rk")`
	case "perl":
		path = `'ma' . 'rk'`
	case "python3":
		path = `('ma' + 'rk')`
	}
	s := ""
	if len(g.acts) > 0 && rapid.Bool().Draw(t, "act") {
		s = pick(g.acts)
	} else {
		before, f, _ := strings.Cut(pick(g.functions), "|")
		s = strings.ReplaceAll(pick(g.calls), "F", f)
		if before != "" {
			s = before + g.line + s
		}
	}
	s = strings.NewReplacer("MARK", path, "C)", command+")", "C]", command+"]", "C,", command+",", "C ", command+" ", "C.", command+".", "[C", "["+command).Replace(s)
	if strings.HasSuffix(s, " C") {
		s = s[:len(s)-1] + command
	}
	around := pick(g.around)
	return strings.NewReplacer("S1", strings.ReplaceAll(s, "\n", "\n  "), "S", s).Replace(around)
}

// leaves runs a program, and says whether the mark is there afterwards.
func (g tongue) leaves(t *rapid.T, dir, program string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program[0], append(append([]string{}, g.program[1:]...), program)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MARK=mark"}
	if _, err := exec.LookPath(g.program[0]); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Run() // many are not even programs
	left, err := filepath.Glob(filepath.Join(dir, "mark*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(left) > 0
}
