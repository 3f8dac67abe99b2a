package sql

import (
	"strings"

	"deskbell/backend/gate/lazy"
)

// maxDeep is how deep brackets, and texts within texts, may be nested.
const maxDeep = 60

// An item is a token, or what stands in a pair of brackets.
type item struct {
	token
	group []item
	isIn  bool // it is a group
}

// A reader reads statements of one script.
type reader struct {
	dialect Dialect
	steps   int // that may still be taken
	deep    int
	broken  bool
}

// tree puts what stands in brackets into groups.
func tree(tokens []token) (out []item, ok bool) {
	stack := [][]item{nil}
	for _, t := range tokens {
		switch {
		case t.is("("):
			if len(stack) > maxDeep {
				return nil, false
			}
			stack = append(stack, nil)
		case t.is(")"):
			if len(stack) == 1 {
				return nil, false
			}
			in := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			stack[len(stack)-1] = append(stack[len(stack)-1], item{token: token{at: t.at, end: t.end}, group: in, isIn: true})
		default:
			stack[len(stack)-1] = append(stack[len(stack)-1], item{token: t})
		}
	}
	return stack[0], len(stack) == 1
}

// script reads what stands between two semicolons: a statement, and those that follow it where the dialect lets them.
func (r *reader) script(tokens []token) Statement {
	items, ok := tree(tokens)
	if !ok {
		r.broken = true
		return Statement{Kind: Unknown, Verb: verbOf(tokens)}
	}
	return r.statement(items)
}

func verbOf(tokens []token) string {
	for _, t := range tokens {
		if t.kind == wordToken {
			return t.text
		}
	}
	return ""
}

var (
	// Verbs whose statement is Reads, Session or Changes whatever follows, but for what stands in it.
	reading = lazy.Set("SHOW DESCRIBE DESC VALUES TABLE FROM HELP LIST SUMMARIZE PIVOT UNPIVOT HANDLER PRINT EXISTS CHECKSUM SELECT")
	session = lazy.Set("START COMMIT ROLLBACK ABORT SAVEPOINT RELEASE RESET USE DISCARD LISTEN UNLISTEN FETCH CLOSE OPEN DEALLOCATE MOVE SPOOL PROMPT WHENEVER EXIT QUIT RAISERROR THROW WAITFOR " +
		"UNLOCK XA RETURN SIGNAL RESIGNAL LEAVE ITERATE BREAK CONTINUE LABEL NULL RAISE GOTO")
	changes = lazy.Set("CREATE COMMENT VACUUM REINDEX CLUSTER REFRESH RENAME OPTIMIZE REPAIR FLUSH KILL ATTACH DETACH CHECKPOINT INSTALL SECURITY REASSIGN MSCK UNLOAD UNDROP CACHE UNCACHE " +
		"REVOKE DENY CHANGE STOP EXCHANGE CONVERT DBCC RECONFIGURE ENABLE")
	writing = lazy.Set("INSERT UPSERT MERGE REPLACE LOCK NOTIFY IMPORT EXPORT BACKUP")
	// Verbs whose statement names what it is about.
	named = lazy.Set("DELETE UPDATE DROP TRUNCATE PURGE RESTORE SHUTDOWN RESTART FLASHBACK NUKE ERASE ALTER CALL STOP INSERT UPSERT MERGE REPLACE LOCK NOTIFY IMPORT EXPORT BACKUP " +
		"CREATE COMMENT VACUUM REINDEX CLUSTER REFRESH RENAME OPTIMIZE REPAIR FLUSH KILL ATTACH DETACH CHECKPOINT SECURITY REASSIGN MSCK UNLOAD UNDROP CACHE UNCACHE " +
		"REVOKE DENY CHANGE EXCHANGE CONVERT DBCC RECONFIGURE ENABLE")
	// Words of blocks, behind which statements stand without a semicolon.
	blocks = lazy.Set("BEGIN DECLARE IF ELSE ELSIF ELSEIF WHILE LOOP FOR FOREACH END EXCEPTION WHEN THEN REPEAT UNTIL DELIMITER PERFORM TRY CATCH CASE AS IS")
	// Verbs that may follow a statement, or stand in a block.
	verbs = lazy.Set("DROP DELETE UPDATE INSERT TRUNCATE ALTER CREATE EXEC EXECUTE GRANT REVOKE MERGE SHUTDOWN RESTORE BACKUP KILL DENY CALL REPLACE COPY PERFORM")
	// Words after which a verb is none: the name of something, or part of a clause.
	inside = lazy.Set("FOR ON OF BY KEY DO AS FROM JOIN INTO SELECT WHERE AND OR NOT SET IN LIKE THEN WHEN CASE DISTINCT ALL ANY BETWEEN UNION EXCEPT INTERSECT OVER HAVING USING VALUES " +
		"RETURNING LIMIT OFFSET AFTER BEFORE INSTEAD TABLE COLUMN INDEX VIEW SHOW NO WITH GRANT REVOKE DENY TO TRIGGER PROCEDURE FUNCTION USER ROLE DATABASE SCHEMA IS EVENT ORDER GROUP")
	// Functions, procedures and clauses that reach past the data: programs, files, other servers, the server itself.
	lifts = lazy.Set("XP_CMDSHELL LOAD_FILE PG_READ_FILE PG_READ_BINARY_FILE PG_WRITE_FILE PG_FILE_WRITE PG_FILE_UNLINK PG_FILE_RENAME PG_LS_DIR PG_STAT_FILE LO_IMPORT LO_EXPORT LO_PUT LO_FROM_BYTEA SYS_EXEC " +
		"SYS_EVAL OUTFILE DUMPFILE PG_EXECUTE_SERVER_PROGRAM PG_READ_SERVER_FILES PG_WRITE_SERVER_FILES LOAD_EXTENSION PG_TERMINATE_BACKEND PG_CANCEL_BACKEND PG_RELOAD_CONF PG_ROTATE_LOGFILE " +
		"PG_PROMOTE PG_SWITCH_WAL PG_DROP_REPLICATION_SLOT SP_OACREATE SP_OAMETHOD SP_CONFIGURE SP_EXECUTE_EXTERNAL_SCRIPT SP_ADD_JOB SP_ADDEXTENDEDPROC XP_REGREAD XP_REGWRITE XP_DIRTREE " +
		"XP_FILEEXIST OPENROWSET OPENDATASOURCE OPENQUERY WRITEFILE READFILE EDIT FSDIR DBLINK DBLINK_EXEC DBLINK_CONNECT QUERY_TO_XML QUERY_TO_XMLSCHEMA TABLE_TO_XML DATABASE_TO_XML " +
		"UTL_FILE UTL_HTTP UTL_TCP UTL_SMTP UTL_INADDR DBMS_SCHEDULER DBMS_XSLPROCESSOR DBMS_LDAP DBMS_JAVA HTTPURITYPE SHELLEXEC EXECUTABLE SUBPROCESS")
	// Those that read as plain words too, and so count only where they are called.
	// Functions that stand for a table of another server.
	far        = lazy.Set("URL URLCLUSTER REMOTE REMOTESECURE S3 S3CLUSTER GCS HDFS HDFSCLUSTER JDBC ODBC MYSQL POSTGRESQL MONGODB REDIS AZUREBLOBSTORAGE DELTALAKE ICEBERG HUDI OPENROWSET OPENDATASOURCE POSTGRES_SCAN MYSQL_SCAN POSTGRES_QUERY MYSQL_QUERY")
	onlyCalled = lazy.Set("EDIT DBLINK READFILE WRITEFILE FSDIR EXECUTABLE SUBPROCESS OPENQUERY SHELLEXEC")
	// Pragmas that only look, though something stands in brackets after them.
	looking = lazy.Set("TABLE_INFO TABLE_XINFO TABLE_LIST INDEX_LIST INDEX_INFO INDEX_XINFO FOREIGN_KEY_LIST FOREIGN_KEY_CHECK INTEGRITY_CHECK QUICK_CHECK FUNCTION_LIST COLLATION_LIST MODULE_LIST " +
		"PRAGMA_LIST COMPILE_OPTIONS DATABASE_LIST SHOW_TABLES STORAGE_INFO")
	// Procedures that only look.
	lookers = lazy.Set("SP_HELP SP_HELPTEXT SP_HELPINDEX SP_HELPDB SP_HELPUSER SP_WHO SP_WHO2 SP_LOCK SP_COLUMNS SP_TABLES SP_DATABASES SP_STORED_PROCEDURES SP_SPACEUSED SP_DEPENDS SP_PKEYS SP_FKEYS " +
		"SP_STATISTICS SP_DESCRIBE_FIRST_RESULT_SET SP_SERVER_INFO")
	// First words of functions that change something by their name.
	actions = lazy.Set("DELETE DROP PURGE TRUNCATE REMOVE CLEAN CLEANUP CLEAR RESET KILL EXEC EXECUTE RUN UPDATE INSERT CREATE ALTER GRANT REVOKE DESTROY WIPE ERASE SYNC REFRESH ROTATE MIGRATE")
	noise   = lazy.Set("TABLE DATABASE SCHEMA VIEW INDEX FROM INTO ONLY IF NOT EXISTS MATERIALIZED TEMPORARY TEMP OR REPLACE UNIQUE CONCURRENTLY USER ROLE FUNCTION PROCEDURE SEQUENCE TRIGGER TYPE " +
		"EXTENSION LOW_PRIORITY QUICK IGNORE DELAYED OVERWRITE LOGIN TABLESPACE KEYSPACE COLLECTION FOREIGN EXTERNAL UNLOGGED GLOBAL LOCAL RECURSIVE ON POLICY PUBLICATION SUBSCRIPTION SERVER")
)

// object is the name that a statement's verb is about.
func object(items []item) string {
	for i := 0; i < len(items); i++ {
		it := items[i]
		if it.isIn || it.kind == markToken || it.kind == numberToken {
			return ""
		}
		if it.kind == wordToken && noise()[it.text] {
			continue
		}
		name := it.raw
		for i+2 < len(items) && items[i+1].is(".") && !items[i+2].isIn {
			name += "." + items[i+2].raw
			i += 2
		}
		if it.kind == textToken {
			return ""
		}
		return name
	}
	return ""
}

func find(items []item, list ...string) int {
	for i, it := range items {
		if !it.isIn && it.word(list...) {
			return i
		}
	}
	return -1
}

// spend takes steps; the reader gives up on a script that takes too many, or is nested too deep.
func (r *reader) spend(n int) bool {
	if r.steps -= n + 1; r.steps < 0 {
		r.broken = true
		return false
	}
	return true
}

// statement reads one statement, and what follows it without a semicolon.
func (r *reader) statement(items []item) Statement {
	if r.deep++; r.deep > maxDeep || !r.spend(len(items)) {
		r.deep--
		r.broken = true
		return Statement{Kind: Unknown}
	}
	defer func() { r.deep-- }()
	if len(items) == 0 {
		return Statement{Kind: Reads}
	}
	if items[0].isIn { // (SELECT ...) UNION (SELECT ...)
		inner := r.statement(items[0].group)
		inner.Kind = max(inner.Kind, r.scan(items[1:]))
		return inner
	}
	if items[0].is("@") || items[0].is(":") || items[0].is("{") || items[0].is("?") && len(items) == 1 {
		return Statement{Kind: Unknown}
	}
	st := Statement{Verb: items[0].text}
	if items[0].kind != wordToken {
		st.Verb, st.Kind = "", Unknown
		return st
	}
	st.Kind = r.byVerb(&st, items)
	return st
}

// A clause is a statement that is read by the grammar of its verb.
type clause struct {
	r      *reader
	items  []item
	rest   []item // behind the verb
	within Kind   // what is done in it
}

// and is a kind, or what is worse in the statement or follows it.
func (c clause) and(k Kind) Kind { return max(k, c.within, c.r.follow(c.items)) }

// word says whether a word behind the verb is one of some.
func (c clause) word(i int, list ...string) bool {
	return i < len(c.rest) && !c.rest[i].isIn && c.rest[i].word(list...)
}

// either is one kind where the verb is followed by one of some words, and another otherwise.
func (c clause) either(k, other Kind, list ...string) Kind {
	if c.word(0, list...) {
		return k
	}
	return other
}

// byVerb reads a statement by the grammar of its verb.
func (r *reader) byVerb(st *Statement, items []item) Kind {
	verb, rest := items[0].text, items[1:]
	switch verb {
	case "WITH":
		return r.with(st, rest)
	case "EXPLAIN", "DESCRIBE", "DESC", "ANALYZE", "ANALYSE":
		return r.explain(st, verb, rest)
	}
	c := clause{r, items, rest, r.scan(rest)}
	if c.within == RunsCode || c.within == Destroys {
		return c.within
	}
	if verb == "UPDATE" && c.word(0, "STATISTICS") {
		return Changes
	}
	if named()[verb] {
		st.Object = object(rest)
	}
	switch verb {
	case "SELECT":
		return c.and(c.selected())
	case "DELETE", "UPDATE":
		return c.and(r.rows(rest))
	case "DROP", "TRUNCATE", "PURGE", "RESTORE", "SHUTDOWN", "RESTART", "FLASHBACK", "NUKE", "ERASE":
		return Destroys
	case "ALTER":
		return c.and(alter(rest))
	case "CREATE":
		return max(r.create(rest), min(c.within, RunsCode))
	case "GRANT":
		return grant(rest)
	case "COPY":
		return c.and(r.copying(rest))
	case "SET":
		if c.setsMore() {
			return Changes
		}
		return c.and(Session)
	case "PRAGMA":
		return pragma(rest)
	case "INSERT", "REPLACE", "UPSERT", "MERGE":
		if c.word(0, "OVERWRITE") {
			return Destroys
		}
		return c.and(Writes)
	case "DO":
		return c.do()
	case "CALL":
		return c.and(Unknown)
	case "EXEC", "EXECUTE":
		return r.exec(st, rest)
	case "PREPARE":
		return c.prepare()
	}
	return c.byList(verb)
}

// byList reads a statement whose verb says what it does, but for a word or two behind it.
func (c clause) byList(verb string) Kind {
	switch verb {
	case "RESET":
		return c.either(Destroys, Session, "MASTER", "SLAVE", "REPLICA", "BINARY", "PERSIST")
	case "BEGIN":
		if len(c.rest) == 0 || c.word(0, "TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "CONCURRENT", "NOT", "DEFERRABLE") {
			return c.and(Session)
		}
		return max(Session, c.r.block(c.rest))
	case "END":
		return max(Session, c.r.block(c.rest))
	case "LOAD":
		if len(c.rest) > 0 && c.rest[0].kind == textToken {
			return RunsCode
		}
		return c.either(RunsCode, Changes, "DATA", "XML")
	case "INSTALL":
		return c.either(RunsCode, Changes, "PLUGIN", "COMPONENT", "SONAME")
	case "KILL", "STOP":
		return Changes
	case "SHOW":
		return Reads
	}
	switch {
	case blocks()[verb]:
		return max(Session, c.within, c.r.block(c.rest))
	case reading()[verb]:
		return c.and(Reads)
	case session()[verb]:
		return c.and(Session)
	case writing()[verb]:
		return c.and(Writes)
	case changes()[verb]:
		if find(c.rest, "CASCADE") >= 0 {
			return Destroys
		}
		return c.and(Changes)
	case len(c.rest) > 1 && c.rest[0].is(":") && c.rest[1].is("="): // name := value, of a block
		return c.and(Session)
	}
	return max(Unknown, c.r.block(c.items))
}

// selected is what a SELECT does by its INTO.
func (c clause) selected() Kind {
	i := find(c.rest, "INTO")
	switch {
	case i < 0:
		return Reads
	case i+1 < len(c.rest) && !c.rest[i+1].isIn && (c.rest[i+1].kind == wordToken && strings.HasPrefix(c.rest[i+1].text, "@") || c.rest[i+1].is(":")):
		return Session // a variable
	}
	return Changes // makes a table
}

// setsMore says whether a SET changes more than the session.
func (c clause) setsMore() bool {
	return c.word(0, "GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD", "RESOURCE") || c.word(0, "DEFAULT") && c.word(1, "ROLE") ||
		len(c.rest) > 0 && strings.HasPrefix(c.rest[0].text, "@@GLOBAL") || len(c.rest) > 2 && c.rest[0].word("@@GLOBAL", "@@PERSIST")
}

func (c clause) do() Kind {
	if body := firstText(c.rest); body != "" && c.r.dialect != MySQL {
		return max(c.r.inner(body), Writes)
	}
	if len(c.rest) == 0 {
		return Unknown
	}
	return c.and(Session)
}

func (c clause) prepare() Kind {
	i := find(c.rest, "AS", "FROM")
	if i < 0 {
		return Unknown
	}
	if c.rest[i].word("AS") {
		return max(c.r.statement(c.rest[i+1:]).Kind, Session)
	}
	if body := firstText(c.rest[i:]); body != "" {
		return max(c.r.inner(body), Session)
	}
	return Unknown
}

// scan looks through expressions and clauses for what does more than read: statements in brackets, and functions.
func (r *reader) scan(items []item) Kind {
	k := Reads
	if r.deep++; r.deep > maxDeep || !r.spend(len(items)) {
		r.deep--
		r.broken = true
		return Unknown
	}
	defer func() { r.deep-- }()
	for i, it := range items {
		switch {
		case it.isIn && len(it.group) > 1 && !it.group[0].isIn && it.group[0].word("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "DROP", "TRUNCATE", "EXEC", "EXECUTE", "CALL"):
			k = max(k, r.statement(it.group).Kind)
		case it.isIn:
			k = max(k, r.scan(it.group))
		case it.kind == wordToken || it.kind == nameToken:
			does := function(items, i)
			if does == RunsCode {
				return does
			}
			k = max(k, does)
		}
	}
	return k
}

// function is what a name among others does, where it is one of a function or a clause.
func function(items []item, i int) Kind {
	it, name := items[i], strings.ToUpper(items[i].text)
	follows := func(list ...string) bool { return i > 0 && items[i-1].word(list...) }
	called := i+1 < len(items) && (items[i+1].isIn || items[i+1].is("."))
	switch {
	case lifts()[name] && (!onlyCalled()[name] || called) && (it.kind == wordToken || called):
		return RunsCode
	case !called || items[i+1].is("."):
		return Reads
	case far()[name] && follows("FROM", "JOIN", "TABLE", "FUNCTION"):
		return Unknown // a table that is fetched from elsewhere
	case name == "SETVAL" || name == "NEXTVAL" || name == "LO_UNLINK" || name == "LO_CREATE":
		return Writes
	case name == "SET_CONFIG":
		return Session
	}
	if first, _, more := strings.Cut(name, "_"); more && actions()[first] && !follows("INTO", "TABLE", "JOIN", "INSERT", "ON", "EXISTS", "INDEX") {
		return Unknown
	}
	return Reads
}

// follow reads statements that stand behind another one with nothing between them, as T-SQL has it.
func (r *reader) follow(items []item) Kind {
	if r.dialect != TSQL && r.dialect != Any {
		return Reads
	}
	for i := 1; i+1 < len(items); i++ {
		if items[i].isIn || items[i].kind != wordToken || !verbs()[items[i].text] {
			continue
		}
		before, after := items[i-1], items[i+1]
		if before.kind == markToken && !before.isIn && !before.is("*") && !before.is("]") || before.kind == wordToken && inside()[before.text] {
			continue
		}
		if after.kind == wordToken || after.kind == nameToken || after.kind == textToken || after.isIn && items[i].word("EXEC", "EXECUTE") {
			return r.statement(items[i:]).Kind
		}
	}
	return Reads
}

// block reads the statements within a block, wherever they begin.
func (r *reader) block(items []item) Kind {
	k := Reads
	for i, it := range items {
		if it.isIn || it.kind != wordToken || !verbs()[it.text] && !it.word("SELECT", "WITH", "BEGIN") {
			continue
		}
		if i > 0 && !items[i-1].isIn && items[i-1].word("FOR", "ON", "OF", "KEY", "AFTER", "BEFORE") {
			continue
		}
		k = max(k, r.statement(items[i:]).Kind)
		if k >= RunsCode || r.broken {
			break
		}
	}
	return k
}

// with reads common table expressions and the statement that they are for.
func (r *reader) with(st *Statement, items []item) Kind {
	k := Reads
	i := 0
	if i < len(items) && items[i].word("RECURSIVE") {
		i++
	}
	for i < len(items) {
		if items[i].isIn || items[i].kind != wordToken && items[i].kind != nameToken {
			return Unknown
		}
		i++
		if i < len(items) && items[i].isIn {
			i++
		}
		if i >= len(items) || !items[i].word("AS") {
			return Unknown
		}
		i++
		for i < len(items) && items[i].word("NOT", "MATERIALIZED") {
			i++
		}
		if i >= len(items) || !items[i].isIn {
			return Unknown
		}
		k = max(k, r.statement(items[i].group).Kind)
		i++
		for i < len(items) && items[i].word("SEARCH", "CYCLE") { // of recursive ones, up to what follows
			for i < len(items) && !items[i].is(",") && !items[i].word("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE") {
				i++
			}
		}
		if i < len(items) && items[i].is(",") {
			i++
			continue
		}
		break
	}
	if i >= len(items) {
		return max(k, Unknown)
	}
	main := r.statement(items[i:])
	st.Object = main.Object
	return max(k, main.Kind)
}

// explain reads a statement that is only explained, or run to be.
func (r *reader) explain(st *Statement, verb string, items []item) Kind {
	runs := strings.HasPrefix(verb, "ANALY")
	own := runs
	i := 0
	for ; i < len(items); i++ {
		it := items[i]
		switch {
		case it.isIn && i == 0:
			if j := find(it.group, "ANALYZE", "ANALYSE"); j >= 0 {
				off := j+1 < len(it.group) && (it.group[j+1].word("FALSE", "OFF") || it.group[j+1].text == "0")
				runs = runs || !off
			}
		case it.word("ANALYZE", "ANALYSE"):
			runs, own = true, false
		case it.word("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "VALUES", "TABLE", "EXECUTE", "CREATE", "DROP", "TRUNCATE", "DECLARE", "ALTER", "CALL", "DO") || it.isIn && i > 0:
			inner := r.statement(items[i:])
			if runs {
				st.Object = inner.Object
				return inner.Kind
			}
			if inner.Kind == Unknown && r.broken {
				return Unknown
			}
			return Reads
		}
	}
	if own {
		return Changes // statistics
	}
	return Reads
}

// rows reads what UPDATE and DELETE are limited to.
func (r *reader) rows(items []item) Kind {
	if i := find(items, "WHERE"); i >= 0 {
		if always(items[i+1:]) {
			return Destroys
		}
		return Writes
	}
	if find(items, "JOIN") >= 0 && find(items, "ON", "USING") >= 0 {
		return Writes
	}
	if i := find(items, "LIMIT", "TOP"); i >= 0 && i+1 < len(items) {
		n := items[i+1]
		if n.isIn && len(n.group) == 1 {
			n = n.group[0]
		}
		if n.kind == numberToken && len(n.text) <= 4 {
			return Writes
		}
	}
	return Destroys
}

// always says whether a condition holds for every row, as far as it shows: one of its alternatives does.
func always(items []item) bool {
	if i := find(items, "RETURNING", "ORDER", "LIMIT", "OPTION"); i >= 0 {
		items = items[:i]
	}
	start := 0
	for i := 0; i <= len(items); i++ {
		if i < len(items) && !isOr(items[i:]) {
			continue
		}
		if everyRow(items[start:min(i, len(items))]) {
			return true
		}
		start = i + 1
	}
	return false
}

func isOr(items []item) bool {
	it := items[0]
	return !it.isIn && (it.word("OR") || it.is("|") && len(items) > 1 && items[1].is("|"))
}

// everyRow says whether every part of a conjunction holds always.
func everyRow(items []item) bool {
	if len(items) == 0 {
		return false
	}
	start := 0
	for i := 0; i <= len(items); i++ {
		if i < len(items) && (items[i].isIn || !items[i].word("AND")) {
			continue
		}
		if !holds(items[start:min(i, len(items))]) {
			return false
		}
		start = i + 1
	}
	return true
}

func holds(items []item) bool {
	switch {
	case len(items) == 0:
		return false
	case len(items) == 1 && items[0].isIn:
		return always(items[0].group)
	case len(items) == 1:
		return items[0].word("TRUE") || items[0].constant() && strings.Trim(items[0].text, "0.") != ""
	case len(items) == 2 && items[0].word("NOT"):
		return items[1].word("FALSE", "NULL") || items[1].kind == numberToken && strings.Trim(items[1].text, "0.") == ""
	}
	first, last := items[0], items[len(items)-1]
	same := !first.isIn && !last.isIn && first.kind == last.kind && first.text == last.text
	operator := ""
	for _, it := range items[1 : len(items)-1] {
		if it.isIn {
			return false
		}
		operator += it.text
	}
	switch operator {
	case "=", "==", "<=>", "IS":
		return same
	case "LIKE":
		return same || last.kind == textToken && strings.Trim(last.text, "%") == ""
	case "<>", "!=", "<", ">":
		return first.constant() && last.constant() && !same
	}
	return false
}

// constant says whether an item is a number or a text.
func (it item) constant() bool { return !it.isIn && (it.kind == numberToken || it.kind == textToken) }

func alter(items []item) Kind {
	if find(items, "SYSTEM") == 0 {
		for _, it := range items {
			if strings.Contains(it.text, "COMMAND") || strings.Contains(it.text, "LIBRARIES") {
				return RunsCode
			}
		}
		return Changes
	}
	for i, it := range items {
		if it.isIn {
			continue
		}
		switch {
		case it.word("DROP"):
			if i+1 < len(items) && items[i+1].word("DEFAULT", "NOT", "IDENTITY", "EXPRESSION") {
				continue
			}
			return Destroys
		case it.word("TRUNCATE", "DISABLE", "SUPERUSER", "DELETE", "PURGE", "DISCARD", "OFFLINE", "BYPASSRLS", "EXCHANGE"):
			return Destroys
		case it.word("ROLE") && i > 0 && items[i-1].word("SERVER"):
			return Destroys // the rights of an administrator
		}
	}
	return Changes
}

func (r *reader) create(items []item) Kind {
	if find(items, "REPLACE") == 1 && find(items, "TABLE") >= 0 && find(items, "TABLE") < 5 {
		return Destroys
	}
	if i := find(items, "LANGUAGE"); i >= 0 && i+1 < len(items) {
		switch l := strings.ToLower(strings.Trim(items[i+1].text, `"`)); {
		case l == "c", strings.HasPrefix(l, "plpython"), l == "plperlu", l == "pltclu", l == "java", l == "plsh", l == "plrust":
			return RunsCode
		}
	}
	if find(items, "ASSEMBLY", "SONAME") >= 0 && find(items, "TABLE", "VIEW") < 0 {
		return RunsCode
	}
	if find(items, "USER", "ROLE", "LOGIN") >= 0 && find(items, "SUPERUSER") >= 0 {
		return Destroys // who may do everything
	}
	return Changes
}

func grant(items []item) Kind {
	for _, it := range items {
		if it.word("PG_EXECUTE_SERVER_PROGRAM", "PG_READ_SERVER_FILES", "PG_WRITE_SERVER_FILES", "FILE", "SUPER", "SYSDBA", "DBA", "ACCOUNTADMIN") {
			return Destroys
		}
	}
	if find(items, "ALL") != 0 {
		return Changes
	}
	// ALL on one schema or table is a change like any other; on all there is, it is not.
	on := find(items, "ON")
	to := find(items, "TO")
	if on < 0 || to < on {
		return Destroys
	}
	named := 0
	for i := on + 1; i < to; i++ {
		if (items[i].kind == wordToken || items[i].kind == nameToken) && i+1 < to && items[i+1].is(".") {
			named++
		}
	}
	if named == 0 {
		return Destroys
	}
	return Changes
}

func (r *reader) copying(items []item) Kind {
	for i, it := range items {
		if it.isIn || !it.word("TO", "FROM") || i+1 >= len(items) {
			continue
		}
		next := items[i+1]
		k := Writes
		if len(items) > 0 && items[0].isIn {
			k = r.statement(items[0].group).Kind
		}
		switch {
		case next.word("PROGRAM"):
			return RunsCode
		case next.word("STDOUT"):
			if items[0].isIn {
				return k
			}
			return Reads
		case next.word("STDIN"):
			return Writes
		case r.dialect == Postgres && next.kind == textToken:
			return RunsCode // a file of the server
		}
		return max(k, Writes)
	}
	return Writes
}

func pragma(items []item) Kind {
	name := ""
	for _, it := range items {
		switch {
		case it.isIn:
			if looking()[name] {
				return Reads
			}
			return Changes
		case it.is("="):
			return Changes
		case it.kind == wordToken:
			name = it.text
		}
	}
	switch name {
	case "INCREMENTAL_VACUUM", "OPTIMIZE", "WAL_CHECKPOINT", "SHRINK_MEMORY":
		return Writes
	}
	return Reads
}

// exec reads EXEC and EXECUTE: of a procedure, of a prepared statement, of a text.
func (r *reader) exec(st *Statement, items []item) Kind {
	if len(items) == 0 {
		return Unknown
	}
	text := ""
	switch {
	case items[0].isIn:
		if len(items[0].group) != 1 || items[0].group[0].kind != textToken {
			return max(Unknown, r.scan(items[0].group))
		}
		text = items[0].group[0].text
	case items[0].word("IMMEDIATE") || items[0].kind == textToken:
		text = firstText(items)
		if text == "" {
			return Unknown
		}
	default:
		st.Object = object(items)
		name := strings.ToUpper(st.Object)
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name = name[i+1:]
		}
		switch {
		case lookers()[name]:
			return Reads
		case name == "SP_EXECUTESQL":
			if text = firstText(items); text == "" {
				return Unknown
			}
		default:
			return max(Unknown, r.follow(items))
		}
	}
	return max(r.inner(text), Session)
}

func firstText(items []item) string {
	for _, it := range items {
		if !it.isIn && it.kind == textToken {
			return it.text
		}
	}
	return ""
}

// inner reads a text that is run as a script.
func (r *reader) inner(text string) Kind {
	if r.deep++; r.deep > maxDeep || !r.spend(len(text)) {
		r.deep--
		return Unknown
	}
	defer func() { r.deep-- }()
	tokens, closed := lex(text, r.dialect)
	k := Reads
	if !closed {
		k = Unknown
	}
	for len(tokens) > 0 {
		n := 0
		for n < len(tokens) && !tokens[n].is(";") {
			n++
		}
		items, ok := tree(tokens[:n])
		if !ok {
			k = max(k, Unknown)
		} else {
			k = max(k, r.statement(items).Kind)
		}
		tokens = tokens[min(n+1, len(tokens)):]
	}
	return k
}
