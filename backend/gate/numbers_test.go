package gate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/gate"
)

// numbered are commands with numbers attached to options, in front of the word that says what the command does.
var numbered = []string{
	"make -j2 deploy", "make -l4 clean", "npm -c2 publish", "npm -c3 install x", "ssh -M2 box.example rm -rf src", "ssh -p22 box.example uptime", "xargs -e2 rm", "xargs -i2 rm -r src",
	"xargs -n4 rm", "xargs -P 8 rm -r", "gcc -O2 -o a a.c", "git -A2 push --force", "docker -a2 rm -f web", "tmux new -d2 'rm -rf src'", "nc -k2 box.example 80", "mysql -p2 -e 'drop table a'",
	"script -t2 -c 'rm -rf src'", "screen -L2 rm -rf src", "grep -r2 secret ~/.ssh", "awk -o2 'BEGIN { system(\"rm -rf src\") }'", "nice -n 10 rm -r src", "timeout 30 git push", "head -n 20 ~/.ssh/id_rsa",
	"tail -c 100 .env", "docker run --cpus=4 -p 8080:80 alpine", "kubectl scale --replicas=3 deployment/web", "sleep 10 && git push", "seq 20 | xargs -n 5 rm", "redis-cli -n 3 flushdb", "curl --max-time 30 https://example.com",
	"parallel -j4 rm", "ping -c 4 example.com", "git log -5", "git commit -m 'fix 12 things'", "pg_restore -j4 -d prod a.dump", "find . -mtime +30 -delete", "truncate -s 100 a.txt", "ionice -c 3 rm -r src",
}

var (
	// A number by itself, as the value of an option (-j4, -n 20, --cpus=4) or as a word. 0 and 1 are left out: --replicas=0, -maxdepth 0
	// and kill 1 say something else than any other number. So are numbers that are a part of a name, an address, a path, a version or a
	// redirection: s3, ext4, 127.0.0.1:22, 2>&1, HEAD~3.
	plainNumber = regexp.MustCompile(`(?:^|[ =]|[ ]-[A-Za-z]?)([2-9]|[1-9]\d+)(?:$|[ ;|&)])`)
	// What says something by a number: rights (chmod 777, umask 022), signals and processes (kill -9 1), runlevels, owners.
	tellsByNumber = regexp.MustCompile(`\b(chmod|umask|install|mkdir|mkfifo|setfacl|p?kill(all)?|xkill|skill|trap|init|telinit|runlevel|chown|chgrp)\b`)
)

// A number that is only an amount changes no verdict.
func TestNumbersChangeNothing(t *testing.T) {
	calls := append(everyday(), corpus(t)...)
	for _, command := range numbered {
		calls = append(calls, sample{call: bash(command)})
	}
	type place struct {
		call       gate.Call
		before     string
		after      string
		attachable bool
	}
	var places []place
	for _, c := range calls {
		var args map[string]json.RawMessage
		var command string
		if json.Unmarshal(c.call.Args, &args) != nil || json.Unmarshal(args["command"], &command) != nil || tellsByNumber.MatchString(command) {
			continue
		}
		for _, at := range plainNumber.FindAllStringSubmatchIndex(command, -1) {
			places = append(places, place{call: c.call, before: command[:at[2]], after: command[at[3]:]})
		}
		if program, rest, more := strings.Cut(command, " "); more && !strings.ContainsAny(program, "=({$\"'<>|;&!") {
			places = append(places, place{call: c.call, before: program + " -", after: " " + rest, attachable: true})
		}
	}
	if len(places) < 500 {
		t.Fatalf("%d numbers", len(places))
	}
	verdict := func(p place, letter string, n int) string {
		var args map[string]any
		if err := json.Unmarshal(p.call.Args, &args); err != nil {
			t.Fatal(err)
		}
		args["command"] = p.before + letter + strconv.Itoa(n) + p.after
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		call := p.call
		call.Args = raw
		v := gate.Judge(call, gate.Balanced, nil)
		return fmt.Sprint(v.Decision, v.Risk, v.HardLimit, v.Reversibility, v.Blast, v.Rules)
	}
	t.Run("each", func(t *testing.T) {
		for _, p := range places {
			if p.attachable {
				continue
			}
			want := verdict(p, "", 17)
			for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 64, 365, 4096} {
				if got := verdict(p, "", n); got != want {
					t.Errorf("%s[%d]%s: %s, with 17 %s", p.before, n, p.after, got, want)
					break
				}
			}
		}
	})
	t.Run("any", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			p := rapid.SampledFrom(places).Draw(rt, "call")
			letter := ""
			if p.attachable {
				letter = rapid.StringMatching(`[A-Za-z]`).Draw(rt, "option")
			}
			a, b := rapid.IntRange(2, 99).Draw(rt, "a number"), rapid.IntRange(2, 1<<20).Draw(rt, "another")
			if got, want := verdict(p, letter, a), verdict(p, letter, b); got != want {
				rt.Fatalf("%s%s[%d]%s: %s, with %d %s", p.before, letter, a, p.after, got, b, want)
			}
		})
	})
}
