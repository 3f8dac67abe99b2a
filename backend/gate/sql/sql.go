// Package sql says what SQL statements do. It is a lexer that knows how the databases' dialects quote and comment, and a
// reading of the statements' own words; what it does not know it calls Unknown.
package sql

import "strings"

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
	Object string // what it is done to, where that is told
}

type token struct {
	text   string // in upper case where it is a word
	word   bool
	quoted bool
}

// Split returns the statements of a script; none for a script without any.
//
// MySQL takes a backslash in a text for an escape, the others do not: a script that reads differently in the two is taken
// for the graver of them.
func Split(script string) []Statement {
	out := split(script, true)
	if strings.Contains(script, `\'`) {
		if other := split(script, false); gravest(other) > gravest(out) {
			return other
		}
	}
	return out
}

func gravest(list []Statement) Kind {
	k := Reads
	for _, s := range list {
		k = max(k, s.Kind)
	}
	return k
}

func split(script string, escapes bool) []Statement {
	var out []Statement
	var cur []token
	flush := func() {
		if len(cur) > 0 {
			out = append(out, classify(cur))
		}
		cur = nil
	}
	for t := range lex(script, escapes) {
		if t.text == ";" && !t.quoted {
			flush()
			continue
		}
		cur = append(cur, t)
	}
	flush()
	return out
}

func lex(s string, escapes bool) func(func(token) bool) {
	return func(yield func(token) bool) {
		for i := 0; i < len(s); {
			c := s[i]
			switch {
			case c == ' ' || c == '\t' || c == '\n' || c == '\r':
				i++
			case strings.HasPrefix(s[i:], "--") || c == '#' && (i == 0 || s[i-1] == '\n' || s[i-1] == ' '):
				for i < len(s) && s[i] != '\n' {
					i++
				}
			case strings.HasPrefix(s[i:], "/*!"):
				// MySQL runs what stands in such a comment.
				i += 3
				for i < len(s) && s[i] >= '0' && s[i] <= '9' {
					i++
				}
			case strings.HasPrefix(s[i:], "*/"):
				i += 2
			case strings.HasPrefix(s[i:], "/*"):
				end := strings.Index(s[i+2:], "*/")
				if end < 0 {
					return
				}
				i += end + 4
			case c == '\'' || c == '"' || c == '`':
				j := i + 1
				for j < len(s) {
					if s[j] == '\\' && c == '\'' && escapes && j+1 < len(s) {
						j += 2
						continue
					}
					if s[j] == c {
						if j+1 < len(s) && s[j+1] == c {
							j += 2
							continue
						}
						break
					}
					j++
				}
				if !yield(token{text: s[i+1 : min(j, len(s))], quoted: true, word: c != '\''}) {
					return
				}
				i = min(j, len(s)) + 1
			case c == '[':
				end := strings.IndexByte(s[i:], ']')
				if end < 0 {
					end = len(s) - i - 1
				}
				if !yield(token{text: s[i+1 : i+end], quoted: true, word: true}) {
					return
				}
				i += end + 1
			case c == '$' && i+1 < len(s):
				end := strings.IndexByte(s[i+1:], '$')
				if end >= 0 && strings.Trim(s[i+1:i+1+end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" {
					tag := s[i : i+end+2]
					if stop := strings.Index(s[i+len(tag):], tag); stop >= 0 {
						if !yield(token{text: s[i+len(tag) : i+len(tag)+stop], quoted: true}) {
							return
						}
						i += 2*len(tag) + stop
						continue
					}
				}
				i++
			case isWord(c):
				j := i
				for j < len(s) && isWord(s[j]) {
					j++
				}
				if !yield(token{text: strings.ToUpper(s[i:j]), word: true}) {
					return
				}
				i = j
			default:
				if !yield(token{text: s[i : i+1]}) {
					return
				}
				i++
			}
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '@' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

var (
	reading = words("SELECT SHOW DESCRIBE DESC VALUES TABLE FROM HELP LIST SUMMARIZE PIVOT")
	session = words("BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE END SET RESET USE DISCARD LISTEN UNLISTEN DECLARE FETCH CLOSE PREPARE DEALLOCATE GO PRINT")
	writing = words("INSERT UPSERT MERGE REPLACE LOCK NOTIFY")
	changes = words("CREATE ALTER GRANT REVOKE COMMENT ANALYZE ANALYSE VACUUM REINDEX CLUSTER REFRESH RENAME OPTIMIZE REPAIR FLUSH KILL ATTACH DETACH CHECKPOINT " +
		"INSTALL LOAD SECURITY REASSIGN PRAGMA MSCK UNLOAD CALL EXECUTE EXEC UNDROP CACHE UNCACHE")
	lifts = words("XP_CMDSHELL LOAD_FILE PG_READ_FILE PG_READ_BINARY_FILE LO_IMPORT LO_EXPORT SYS_EXEC SYS_EVAL OUTFILE DUMPFILE PG_EXECUTE_SERVER_PROGRAM LOAD_EXTENSION PG_TERMINATE_BACKEND " +
		"SP_OACREATE OPENROWSET WRITEFILE READFILE EDIT PG_LS_DIR DBLINK_EXEC")
)

func classify(t []token) Statement {
	at := 0
	for at < len(t) && (t[at].text == "(" || t[at].text == ".") {
		at++
	}
	if at >= len(t) {
		return Statement{Kind: Reads}
	}
	st := Statement{Verb: t[at].text}
	has := func(w string) bool {
		for _, x := range t[at:] {
			if x.word && !x.quoted && x.text == w {
				return true
			}
		}
		return false
	}
	next := func(i int) string {
		if at+i < len(t) {
			return t[at+i].text
		}
		return ""
	}
	for _, x := range t {
		if x.word && lifts[strings.ToUpper(x.text)] {
			st.Kind = RunsCode
			return st
		}
	}
	verb := st.Verb
	if verb == "EXPLAIN" {
		// ANALYZE runs the statement that it explains.
		if !has("ANALYZE") && !has("ANALYSE") {
			st.Kind = Reads
			return st
		}
		verb = ""
	}
	if verb == "WITH" || verb == "" {
		// What a common table expression leads to stands after it, or in it.
		st.Kind = Reads
		for i, x := range t[at+1:] {
			if x.quoted || !x.word {
				continue
			}
			switch x.text {
			case "DELETE", "UPDATE", "INSERT", "MERGE", "TRUNCATE", "DROP":
				if prev := t[at+i].text; prev == "FOR" || prev == "ON" {
					continue
				}
				inner := classify(t[at+1+i:])
				st.Kind = max(st.Kind, inner.Kind)
			}
		}
		return st
	}
	switch {
	case verb == "SELECT":
		st.Kind = Reads
		for i, x := range t {
			if x.word && !x.quoted && x.text == "INTO" && i > 0 {
				st.Kind = Changes // makes a table, or a file
			}
		}
		if has("SETVAL") || has("NEXTVAL") {
			st.Kind = max(st.Kind, Writes)
		}
	case verb == "PRAGMA":
		st.Kind = Reads
		for i, x := range t {
			if x.text == "=" || x.text == "(" && i+1 < len(t) && (strings.HasSuffix(t[at+1].text, "WRITABLE_SCHEMA") || strings.HasSuffix(t[at+1].text, "JOURNAL_MODE")) {
				st.Kind = Changes
			}
		}
	case reading[verb]:
		st.Kind = Reads
	case verb == "SET" && (next(1) == "GLOBAL" || next(1) == "PERSIST" || next(1) == "PASSWORD"):
		st.Kind = Changes
	case session[verb]:
		st.Kind = Session
	case verb == "DROP" || verb == "TRUNCATE" || verb == "PURGE":
		st.Kind, st.Object = Destroys, next(2)
	case verb == "DELETE" || verb == "UPDATE":
		st.Kind = Writes
		if verb == "DELETE" {
			st.Object = next(2)
		} else {
			st.Object = next(1)
		}
		// No WHERE, or one that is always true, is every row.
		where := -1
		for i, x := range t[at:] {
			if x.word && !x.quoted && x.text == "WHERE" {
				where = at + i
			}
		}
		if where < 0 && !has("USING") && !has("LIMIT") {
			st.Kind = Destroys
		} else if where >= 0 {
			rest := t[where+1:]
			if len(rest) == 1 && (rest[0].text == "TRUE" || rest[0].text == "1") {
				st.Kind = Destroys
			}
			for i := 0; i+2 < len(rest); i++ {
				if rest[i+1].text == "=" && rest[i].text == rest[i+2].text && (i == 0 || rest[i-1].text == "OR") {
					st.Kind = Destroys
				}
			}
		}
	case verb == "COPY":
		st.Kind = Writes
		if has("PROGRAM") {
			st.Kind = RunsCode
		} else if has("STDOUT") {
			st.Kind = Reads
		}
	case verb == "DO":
		st.Kind = Unknown
	case writing[verb]:
		st.Kind = Writes
		st.Object = next(2)
	case verb == "GRANT" && has("ALL"):
		st.Kind = Destroys // every right there is
		for _, x := range t[at:] {
			// ALL on one schema or table is a change like any other.
			if x.word && strings.Contains(x.text, ".") && !strings.HasPrefix(x.text, ".") {
				st.Kind = Changes
			}
		}
	case verb == "ALTER":
		st.Kind = Changes
		if has("DROP") || has("DISABLE") || has("SUPERUSER") {
			st.Kind = Destroys
		}
	case verb == "CREATE" && has("REPLACE") && has("TABLE"):
		st.Kind = Destroys
	case verb == "LOAD" && next(1) == "DATA":
		st.Kind = RunsCode
	case changes[verb]:
		st.Kind = Changes
		if verb == "CREATE" && (has("EXTENSION") || has("FUNCTION") || has("PROCEDURE") || has("TRIGGER")) {
			st.Kind = Changes
		}
	default:
		st.Kind = Unknown
	}
	return st
}
