// Package sql says what SQL statements do. It lexes a script as its dialect does, puts what stands in brackets into a tree,
// and reads each statement by the grammar of its verb, down to what its common table expressions, subqueries, explained
// statements, anonymous blocks and dynamic texts do. What it cannot read it calls Unknown.
//
// Where the dialect is not known, a script is read in all of those in which it means something, and the most severe counts:
// the same bytes may be a comment to one database and a command to another.
package sql

import (
	"strings"

	"deskbell/backend/gate/lazy"
)

// Kind is what a statement does.
type Kind uint8

// What statements do, the least first.
const (
	Reads    Kind = iota
	Session       // changes only the session: SET, BEGIN
	Writes        // adds or changes rows that it names
	Changes       // changes tables, rights or settings
	Unknown       // not known
	RunsCode      // runs programs, reads or writes files on the server
	Destroys      // drops or empties, or changes every row
)

// A Statement is one statement of a script.
type Statement struct {
	Kind   Kind
	Verb   string // its first word, in upper case
	Object string // what it is done to, where the statement names it, as it is written but for quotes
	Text   string // as it is written
}

// Dialect is whose SQL it is.
type Dialect uint8

// The dialects. Others are read as Any.
const (
	Any Dialect = iota
	Postgres
	MySQL
	SQLite
	TSQL
	Oracle
)

// DialectOf is the dialect of a client or server by its name; Any where it has none of its own here.
func DialectOf(name string) Dialect {
	name = strings.ToLower(name)
	for _, d := range []struct {
		mark string
		d    Dialect
	}{
		{"psql", Postgres}, {"postgres", Postgres}, {"pgcli", Postgres}, {"supabase", Postgres}, {"neon", Postgres}, {"cockroach", Postgres}, {"redshift", Postgres}, {"mysql", MySQL},
		{"mariadb", MySQL}, {"mycli", MySQL}, {"planetscale", MySQL}, {"sqlite", SQLite}, {"sqlcmd", TSQL}, {"mssql", TSQL}, {"sqlserver", TSQL}, {"sqlplus", Oracle}, {"oracle", Oracle},
	} {
		if strings.Contains(name, d.mark) {
			return d.d
		}
	}
	return Any
}

// Split returns the statements of a script in a dialect that is not known; none for a script without any.
func Split(script string) []Statement { return Read(script, Any) }

// Read returns the statements of a script; none for a script without any. It takes time in proportion to the script.
func Read(script string, d Dialect) []Statement {
	if d != Any {
		out, _ := read(script, d)
		return out
	}
	// The dialects differ only in what these characters mean.
	if !strings.ContainsAny(script, "\\$#`[\"") && !strings.Contains(script, "/*") && !strings.Contains(script, "--") && !strings.Contains(script, "q'") && !strings.Contains(script, "Q'") {
		out, _ := read(script, Any)
		return out
	}
	var best []Statement
	some, whole := false, false
	for _, d := range []Dialect{Postgres, MySQL, SQLite, TSQL, Oracle} {
		out, ok := read(script, d)
		if !ok && mostSevere(out) <= Unknown {
			continue // an error in this dialect
		}
		whole = whole || ok
		if !some || mostSevere(out) > mostSevere(best) {
			best, some = out, true
		}
	}
	if !whole {
		best = append(best, Statement{Kind: Unknown})
	}
	return best
}

func mostSevere(list []Statement) Kind {
	k := Reads
	for _, s := range list {
		k = max(k, s.Kind)
	}
	return k
}

var tablesOfFiles = lazy.Pattern(`(?i)\b(?:read_\w+|\w+_scan|scan_\w+|readfile|file|glob|from|load_file)\s*\(?\s*\[?\s*'([^']+)'`)

// Files are the paths that a script names as tables or reads by a function, as far as the script names them.
func Files(script string) []string {
	var out []string
	for _, m := range tablesOfFiles.FindAllStringSubmatch(script, 20) {
		if strings.ContainsAny(m[1], "./~") {
			out = append(out, m[1])
		}
	}
	return out
}

// maxTokens is how many tokens of a script are read; what is longer counts as the most severe there is.
const maxTokens = 8000

// read returns the statements of a script, and whether all of it could be read: if not, one of them is at least Unknown, the
// last where it is a quote or a comment that does not end.
func read(script string, d Dialect) ([]Statement, bool) {
	tokens, closed := lex(script, d)
	many := len(tokens) > maxTokens
	r := &reader{dialect: d, steps: 60*len(script) + 1000}
	var out []Statement
	for len(tokens) > 0 {
		n := 0
		for n < len(tokens) && !tokens[n].is(";") {
			n++
		}
		if n > 0 {
			st := r.script(tokens[:n])
			st.Text = script[tokens[0].at:tokens[n-1].end]
			out = append(out, st)
		}
		tokens = tokens[min(n+1, len(tokens)):]
	}
	if len(out) == 0 && (many || !closed) {
		out = []Statement{{}}
	}
	switch last := len(out) - 1; {
	case many:
		out[last].Kind = Destroys
	case !closed:
		out[last].Kind = max(out[last].Kind, Unknown)
	}
	return out, many || closed && !r.broken
}

// Count returns a query that counts the rows that a statement would delete, change or drop; empty where it does not know
// one.
func Count(script string, d Dialect) string {
	tokens, closed := lex(script, d)
	for len(tokens) > 0 && tokens[len(tokens)-1].is(";") {
		tokens = tokens[:len(tokens)-1]
	}
	if !closed || len(tokens) < 2 {
		return ""
	}
	where := ""
	for i, t := range tokens {
		switch {
		case t.is(";"):
			return ""
		case t.word("WHERE") && where == "":
			end := tokens[len(tokens)-1]
			where = " " + script[t.at:end.end]
		case t.word("JOIN", "USING", "RETURNING", "LIMIT", "FROM") && i > 1 && !tokens[0].word("DROP"), t.word("ORDER", "OUTPUT", "TOP"):
			return ""
		}
	}
	at := tableAt(tokens)
	if at == 0 || at >= len(tokens) || tokens[at].kind != wordToken && tokens[at].kind != nameToken {
		return ""
	}
	end := at
	for end+2 < len(tokens) && tokens[end+1].is(".") && (tokens[end+2].kind == wordToken || tokens[end+2].kind == nameToken) {
		end += 2
	}
	if end+1 < len(tokens) && !tokens[end+1].word("WHERE", "SET", "CASCADE", "RESTRICT") {
		return ""
	}
	return "SELECT count(*) FROM " + script[tokens[at].at:tokens[end].end] + where
}

// tableAt is where the table of a statement that deletes, changes or drops stands; 0 where that is not known.
func tableAt(tokens []token) int {
	for _, start := range []string{"DROP TABLE IF EXISTS", "DROP TABLE", "DELETE FROM", "TRUNCATE TABLE", "TRUNCATE", "UPDATE"} {
		at := 0
		for word := range strings.FieldsSeq(start) {
			if at == len(tokens) || !tokens[at].word(word) {
				at = -1
				break
			}
			at++
		}
		if at > 0 {
			return at
		}
	}
	return 0
}
