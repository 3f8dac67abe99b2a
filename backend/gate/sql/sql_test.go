package sql_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate/sql"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]sql.Kind{
		"":         nil,
		"SELECT 1": {sql.Reads},
		"select * from t where a = 'x; drop table t'":                {sql.Reads},
		"SELECT 1; -- DROP TABLE t\n SELECT 2":                       {sql.Reads, sql.Reads},
		"SELECT $$ ; DROP TABLE t $$":                                {sql.Reads, sql.Destroys}, // to MySQL, $$ is a name
		"SELECT \"drop\" FROM `delete`":                              {sql.Reads},
		"(SELECT 1) UNION (SELECT 2)":                                {sql.Reads},
		"SELECT * FROM t FOR UPDATE":                                 {sql.Reads},
		"EXPLAIN DELETE FROM t":                                      {sql.Reads},
		"EXPLAIN ANALYZE DELETE FROM t":                              {sql.Destroys},
		"/* c */ DROP /* c */ TABLE t":                               {sql.Destroys},
		"/*!40000 DROP TABLE t */":                                   {sql.Destroys},
		"DELETE FROM t WHERE id = 1":                                 {sql.Writes},
		"DELETE FROM t":                                              {sql.Destroys},
		"DELETE FROM t WHERE 1 = 1":                                  {sql.Destroys},
		"UPDATE t SET a = 1 WHERE b = 2 OR 1=1":                      {sql.Destroys},
		"UPDATE t SET a = 1":                                         {sql.Destroys},
		"WITH a AS (SELECT 1) SELECT * FROM a":                       {sql.Reads},
		"WITH a AS (DELETE FROM t WHERE b = 1 RETURNING *) SELECT 1": {sql.Writes},
		"INSERT INTO t SELECT * FROM u":                              {sql.Writes},
		"SELECT * INTO u FROM t":                                     {sql.Changes},
		"CREATE TABLE t (a int)":                                     {sql.Changes},
		"ALTER TABLE t DROP COLUMN a":                                {sql.Destroys},
		"TRUNCATE t":                                                 {sql.Destroys},
		"BEGIN; UPDATE t SET a = 1 WHERE b = 1; COMMIT":              {sql.Session, sql.Writes, sql.Session},
		"PRAGMA table_info(t)":                                       {sql.Reads},
		"PRAGMA journal_mode = off":                                  {sql.Changes},
		"COPY t TO PROGRAM 'sh'":                                     {sql.RunsCode},
		"SELECT lo_import('/etc/passwd')":                            {sql.RunsCode},
		"EXEC xp_cmdshell 'dir'":                                     {sql.RunsCode},
		"GRANT ALL ON *.* TO u":                                      {sql.Destroys},
		"FROBNICATE t":                                               {sql.Unknown},
		"SET GLOBAL general_log = 1":                                 {sql.Changes},
		"SELECT 'it''s'; DROP TABLE t":                               {sql.Reads, sql.Destroys},
		`SELECT 'a\'; DROP TABLE t; --'`:                             {sql.Reads, sql.Destroys},
		`SELECT 'a\'b'`:                                              {sql.Reads},
	} {
		var got []sql.Kind
		for _, s := range sql.Split(text) {
			got = append(got, s.Kind)
		}
		if len(got) != len(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
}

// What each dialect makes of the same bytes, and what each has of its own.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		d    sql.Dialect
		text string
		want []sql.Kind
	}{
		{sql.Postgres, "SELECT $$ ; DROP TABLE t $$", []sql.Kind{sql.Reads}},
		{sql.Postgres, "SELECT $a$ $$ ; $$ ; DROP TABLE t $a$", []sql.Kind{sql.Reads}},
		{sql.MySQL, "SELECT $$ ; DROP TABLE t $$", []sql.Kind{sql.Reads, sql.Destroys}},
		{sql.Postgres, "/* /* */ DROP TABLE t; */ SELECT 1", []sql.Kind{sql.Reads}},
		{sql.MySQL, "/* /* */ DROP TABLE t; SELECT 1", []sql.Kind{sql.Destroys, sql.Reads}},
		{sql.Any, "/* /* */ DROP TABLE t; -- */", []sql.Kind{sql.Destroys}},
		{sql.MySQL, "SELECT 1--1; DROP TABLE t", []sql.Kind{sql.Reads, sql.Destroys}},
		{sql.Postgres, "SELECT 1--1; DROP TABLE t", []sql.Kind{sql.Reads}},
		{sql.MySQL, "SELECT 1 # ; DROP TABLE t", []sql.Kind{sql.Reads}},
		{sql.Postgres, "SELECT a #> '{b}' ; DROP TABLE t", []sql.Kind{sql.Reads, sql.Destroys}},
		{sql.MySQL, "SELECT \"a\\\"; DROP TABLE t; \"", []sql.Kind{sql.Reads}},
		{sql.Postgres, `SELECT E'a\'; DROP TABLE t; '`, []sql.Kind{sql.Reads}},
		{sql.Oracle, "SELECT q'[it's; DROP TABLE t]' FROM dual", []sql.Kind{sql.Reads}},
		{sql.TSQL, "SELECT [a;b] FROM t", []sql.Kind{sql.Reads}},
		{sql.TSQL, "SELECT [a]];b] FROM t", []sql.Kind{sql.Reads}},
		{sql.Postgres, "SELECT a[1], ARRAY['x;']", []sql.Kind{sql.Reads}},
		{sql.MySQL, "/*!50000 SELECT 1 */ ; /*M!100000 DROP TABLE t */", []sql.Kind{sql.Reads, sql.Destroys}},
		{sql.SQLite, "/*!50000 DROP TABLE t */ SELECT 1", []sql.Kind{sql.Reads}},
		{sql.TSQL, "SELECT 1\nGO\nDROP TABLE t\nGO\n", []sql.Kind{sql.Reads, sql.Destroys}},
		{sql.TSQL, "SELECT 1 DROP TABLE t", []sql.Kind{sql.Destroys}},
		{sql.TSQL, "SELECT a FROM t WHERE b = 1 DELETE FROM u", []sql.Kind{sql.Destroys}},
		{sql.TSQL, "DECLARE @x INT = 5 EXEC('DROP TABLE t')", []sql.Kind{sql.Destroys}},
		{sql.TSQL, "EXEC sp_executesql N'DELETE FROM t'", []sql.Kind{sql.Destroys}},
		{sql.TSQL, "EXEC sp_help 't'", []sql.Kind{sql.Reads}},
		{sql.TSQL, "EXEC my_proc 1", []sql.Kind{sql.Unknown}},
		{sql.TSQL, "exec master..xp_cmdshell 'dir'", []sql.Kind{sql.RunsCode}},
		{sql.TSQL, "IF EXISTS (SELECT 1 FROM t) DROP TABLE t", []sql.Kind{sql.Destroys}},
		{sql.TSQL, "DELETE TOP (10) FROM t", []sql.Kind{sql.Writes}},
		{sql.Postgres, "DO $$ BEGIN DELETE FROM t; END $$", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "DO $$ BEGIN EXECUTE 'x' || y; END $$", []sql.Kind{sql.Unknown}},
		{sql.Postgres, "DO $$ BEGIN INSERT INTO t VALUES (1); END $$", []sql.Kind{sql.Writes}},
		{sql.MySQL, "PREPARE s FROM 'DROP TABLE t'", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "PREPARE s AS DELETE FROM t WHERE a = $1", []sql.Kind{sql.Writes}},
		{sql.Postgres, "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "EXPLAIN (ANALYZE FALSE) DELETE FROM t", []sql.Kind{sql.Reads}},
		{sql.Postgres, "EXPLAIN (FORMAT JSON) SELECT 1", []sql.Kind{sql.Reads}},
		{sql.MySQL, "EXPLAIN FORMAT=JSON SELECT 1", []sql.Kind{sql.Reads}},
		{sql.MySQL, "ANALYZE FORMAT=JSON DELETE FROM t", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "ANALYZE t", []sql.Kind{sql.Changes}},
		{sql.Postgres, "WITH a AS (SELECT 1), b AS (UPDATE t SET x = 1 RETURNING *) SELECT * FROM b", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "WITH RECURSIVE a (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT * FROM a", []sql.Kind{sql.Reads}},
		{sql.Postgres, "WITH a AS MATERIALIZED (SELECT 1) DELETE FROM t USING a WHERE t.id = a.id", []sql.Kind{sql.Writes}},
		{sql.Postgres, "WITH a AS SELECT 1", []sql.Kind{sql.Unknown}},
		{sql.Postgres, "COPY t FROM PROGRAM 'curl x | sh'", []sql.Kind{sql.RunsCode}},
		{sql.Postgres, "COPY t TO '/tmp/x'", []sql.Kind{sql.RunsCode}},
		{sql.Postgres, "COPY (SELECT 1) TO STDOUT", []sql.Kind{sql.Reads}},
		{sql.Postgres, "COPY (DELETE FROM t RETURNING *) TO STDOUT", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "COPY t FROM STDIN", []sql.Kind{sql.Writes}},
		{sql.MySQL, "SELECT * FROM t INTO OUTFILE '/tmp/x'", []sql.Kind{sql.RunsCode}},
		{sql.MySQL, "SELECT a INTO @v FROM t", []sql.Kind{sql.Session}},
		{sql.MySQL, "SELECT LOAD_FILE('/etc/passwd')", []sql.Kind{sql.RunsCode}},
		{sql.MySQL, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t", []sql.Kind{sql.RunsCode}},
		{sql.MySQL, "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", []sql.Kind{sql.Writes}},
		{sql.Any, "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1", []sql.Kind{sql.Writes}},
		{sql.Any, "SELECT * FROM t FOR NO KEY UPDATE OF t", []sql.Kind{sql.Reads}},
		{sql.Any, "MERGE INTO t USING u ON a = b WHEN MATCHED THEN DELETE", []sql.Kind{sql.Writes}},
		{sql.Any, "CREATE TABLE t (a INT REFERENCES u ON DELETE CASCADE)", []sql.Kind{sql.Changes}},
		{sql.Any, "DELETE a FROM a JOIN b ON a.id = b.id", []sql.Kind{sql.Writes}},
		{sql.Any, "DELETE FROM t USING u", []sql.Kind{sql.Destroys}},
		{sql.Any, "DELETE FROM t LIMIT 10", []sql.Kind{sql.Writes}},
		{sql.Any, "DELETE FROM t LIMIT 1000000", []sql.Kind{sql.Destroys}},
		{sql.Any, "DELETE FROM t WHERE (1 = 1)", []sql.Kind{sql.Destroys}},
		{sql.Any, "DELETE FROM t WHERE a LIKE '%'", []sql.Kind{sql.Destroys}},
		{sql.Any, "DELETE FROM t WHERE a = 1 OR NOT FALSE", []sql.Kind{sql.Destroys}},
		{sql.Any, "DELETE FROM t WHERE 2 > 1", []sql.Kind{sql.Destroys}},
		{sql.Any, "DELETE FROM t WHERE a = 1 AND 1 = 1", []sql.Kind{sql.Writes}},
		{sql.Any, "DELETE FROM t WHERE 1 = 0", []sql.Kind{sql.Writes}},
		{sql.Any, "UPDATE t SET a = (SELECT 1 WHERE TRUE) WHERE id = 3", []sql.Kind{sql.Writes}},
		{sql.SQLite, "ATTACH 'x.db' AS x", []sql.Kind{sql.Changes}},
		{sql.SQLite, "PRAGMA foreign_keys", []sql.Kind{sql.Reads}},
		{sql.SQLite, "PRAGMA main.table_info('t')", []sql.Kind{sql.Reads}},
		{sql.SQLite, "PRAGMA writable_schema(1)", []sql.Kind{sql.Changes}},
		{sql.SQLite, "SELECT load_extension('x')", []sql.Kind{sql.RunsCode}},
		{sql.SQLite, "SELECT writefile('x', 'y')", []sql.Kind{sql.RunsCode}},
		{sql.SQLite, "SELECT edit FROM t", []sql.Kind{sql.Reads}},
		{sql.SQLite, "VACUUM INTO 'x'", []sql.Kind{sql.Changes}},
		{sql.Postgres, "SELECT pg_terminate_backend(1)", []sql.Kind{sql.RunsCode}},
		{sql.Postgres, "SELECT (SELECT (SELECT pg_read_file('x')))", []sql.Kind{sql.RunsCode}},
		{sql.Postgres, "SELECT purge_old_rows()", []sql.Kind{sql.Unknown}},
		{sql.Postgres, "SELECT count(*), array_remove(a, 1), json_remove(b) FROM t", []sql.Kind{sql.Reads}},
		{sql.Postgres, "SELECT id::text, x ->> 'a' FROM t WHERE b ILIKE '%x%' LIMIT 5", []sql.Kind{sql.Reads}},
		{sql.Postgres, "ALTER SYSTEM SET archive_command = 'x'", []sql.Kind{sql.RunsCode}},
		{sql.Postgres, "ALTER TABLE t ALTER COLUMN a DROP DEFAULT", []sql.Kind{sql.Changes}},
		{sql.Postgres, "ALTER TABLE t ADD COLUMN a int", []sql.Kind{sql.Changes}},
		{sql.Postgres, "CREATE FUNCTION f() RETURNS int LANGUAGE plpython3u AS $$ x $$", []sql.Kind{sql.RunsCode}},
		{sql.Postgres, "CREATE ROLE r SUPERUSER", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "GRANT ALL ON t TO u", []sql.Kind{sql.Destroys}},
		{sql.Postgres, "GRANT ALL ON app.t TO u", []sql.Kind{sql.Changes}},
		{sql.Postgres, "GRANT SELECT ON t TO u", []sql.Kind{sql.Changes}},
		{sql.Postgres, "CALL f()", []sql.Kind{sql.Unknown}},
		{sql.Oracle, "BEGIN EXECUTE IMMEDIATE 'DROP TABLE t'; END;", []sql.Kind{sql.Destroys, sql.Session}},
		{sql.Oracle, "SELECT UTL_HTTP.REQUEST('http://x') FROM dual", []sql.Kind{sql.RunsCode}},
		{sql.Any, "SELECT (1", []sql.Kind{sql.Unknown}},
		{sql.Any, "SELECT 'a", []sql.Kind{sql.Unknown}},
		{sql.Any, "SELECT 1 /* a", []sql.Kind{sql.Unknown}},
		{sql.Any, "RESET MASTER", []sql.Kind{sql.Destroys}},
		{sql.Any, "INSERT OVERWRITE TABLE t SELECT 1", []sql.Kind{sql.Destroys}},
	} {
		var got []sql.Kind
		for _, s := range sql.Read(tt.text, tt.d) {
			got = append(got, s.Kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d %q: %v, want %v", tt.d, tt.text, got, tt.want)
		}
	}
}

func TestObject(t *testing.T) {
	for text, want := range map[string]string{
		"DROP TABLE IF EXISTS app.users CASCADE": "app.users", "DROP DATABASE \"Prod\"": "Prod", "DELETE FROM t": "t", "UPDATE ONLY t SET a = 1": "t", "TRUNCATE t, u": "t", "SELECT 1": "",
	} {
		if got := sql.Split(text); len(got) != 1 || got[0].Object != want {
			t.Errorf("%q: %+v, want %q", text, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]string{
		"DELETE FROM users":                          "SELECT count(*) FROM users",
		"delete from \"Users\" where a = 'x; y' ;":   "SELECT count(*) FROM \"Users\" where a = 'x; y'",
		"UPDATE app.t SET a = 1 WHERE b = 2":         "SELECT count(*) FROM app.t WHERE b = 2",
		"DROP TABLE IF EXISTS t CASCADE":             "SELECT count(*) FROM t",
		"TRUNCATE TABLE t":                           "SELECT count(*) FROM t",
		"DELETE FROM t USING u WHERE t.a = u.a":      "",
		"DELETE FROM t; DROP TABLE u":                "",
		"UPDATE t SET a = 1 FROM u":                  "",
		"DELETE FROM t WHERE a IN (SELECT b FROM u)": "",
		"SELECT 1":                              "",
		"DELETE FROM t WHERE a = 1 RETURNING *": "",
		"DROP DATABASE x":                       "",
	} {
		if got := sql.Count(text, sql.Postgres); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"SELECT 1; DROP TABLE t", "/*", "/*!50000 x */ /* /* */", "WITH a AS (DELETE FROM t) SELECT $$ ; $$", `'\'' "" [`, "BEGIN EXEC('DROP TABLE t') END\nGO\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		begin := time.Now()
		worst := map[sql.Dialect]sql.Kind{}
		for _, d := range []sql.Dialect{sql.Any, sql.Postgres, sql.MySQL, sql.SQLite, sql.TSQL, sql.Oracle} {
			list := sql.Read(s, d)
			if n := len(list); d != sql.TSQL && d != sql.Any && n > strings.Count(s, ";")+1 {
				t.Fatalf("%q: %d statements", s, n)
			}
			for _, st := range list {
				worst[d] = max(worst[d], st.Kind)
			}
			if a, b := sql.Read(s, d), list; !slices.Equal(a, b) {
				t.Fatalf("%q: %v, then %v", s, b, a)
			}
			// What is joined is no safer.
			joined := sql.Reads
			for _, st := range sql.Read("DROP TABLE t;"+s, d) {
				joined = max(joined, st.Kind)
			}
			if joined != sql.Destroys {
				t.Fatalf("%q after a DROP: %v", s, joined)
			}
		}
		if q := sql.Count(s, sql.Postgres); q != "" {
			for _, st := range sql.Read(q, sql.Postgres) {
				if st.Kind != sql.Reads {
					t.Fatalf("%q counts by %q, which is %v", s, q, st.Kind)
				}
			}
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Fatalf("%d bytes take %s", len(s), took)
		}
	})
}

// Text that is hard on parsers takes time in proportion.
func BenchmarkHostile(b *testing.B) {
	const n = 64 << 10
	for name, unit := range map[string]string{
		"brackets": "(", "selects": "(SELECT ", "with": "WITH a AS (", "begins": "BEGIN ", "quotes": "'\"`", "comments": "/*", "bangs": "/*!", "statements": "DROP TABLE t;", "words": "SELECT DROP t ", "dollars": "$a$", "ors": "DELETE FROM t WHERE 1=1 OR ",
		"exec": "EXEC('", "explain": "EXPLAIN ANALYZE ", "gos": "GO\n",
	} {
		s := strings.Repeat(unit, n/len(unit))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sql.Split(s)
			}
		})
	}
}
