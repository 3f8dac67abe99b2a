package sql_test

import (
	"strings"
	"testing"

	"deskbell/backend/gate/sql"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]sql.Kind{
		"":         nil,
		"SELECT 1": {sql.Reads},
		"select * from t where a = 'x; drop table t'":                {sql.Reads},
		"SELECT 1; -- DROP TABLE t\n SELECT 2":                       {sql.Reads, sql.Reads},
		"SELECT $$ ; DROP TABLE t $$":                                {sql.Reads},
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

func FuzzSplit(f *testing.F) {
	f.Add("SELECT 1; DROP TABLE t")
	f.Fuzz(func(t *testing.T, s string) {
		n := len(sql.Split(s))
		if n > strings.Count(s, ";")+1 {
			t.Fatalf("%q: %d statements", s, n)
		}
	})
}
