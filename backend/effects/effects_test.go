package effects

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

const hidden = "s3cret-of-the-portal"

func secrets(name string) (string, error) {
	if name == "portal" {
		return hidden, nil
	}
	return "", human.Errorf(human.NotFound, "there is no %s", name)
}

// look looks at an effect and makes sure that nothing that is said has the secret.
func look(t *testing.T, e human.ProcedureEffect) (procedure.Seen, error) {
	t.Helper()
	seen, err := Looker{}.Look(t.Context(), e, secrets)
	said := seen.Said.Text + fmt.Sprint(seen.Said.Params)
	for at := err; at != nil; at = errors.Unwrap(at) {
		said += at.Error()
	}
	if strings.Contains(said, hidden) {
		t.Errorf("the secret is in %q", said)
	}
	if err == nil && seen.Said.Text == "" {
		t.Error("nothing is said")
	}
	return seen, err
}

func counts(t *testing.T, e human.ProcedureEffect, want int) {
	t.Helper()
	if seen, err := look(t, e); err != nil || len(seen.Items) != want {
		t.Errorf("%+v: %d, not %d, %v", e, len(seen.Items), want, err)
	}
}

func fails(t *testing.T, e human.ProcedureEffect, kind human.ErrorKind) {
	t.Helper()
	var known *human.Error
	if seen, err := look(t, e); !errors.As(err, &known) || known.Kind != kind || len(seen.Items) != 0 {
		t.Errorf("%+v: %+v, %v", e, seen, err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out", "bill-1.txt"), "Acme owes 12")
	write(t, filepath.Join(dir, "out", "bill-2.txt"), "North owes 12")
	write(t, filepath.Join(dir, "out", "deep", "bill-3.txt"), "Acme owes 13")
	write(t, filepath.Join(dir, "[out]", "a.txt"), "in brackets")
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	counts(t, human.ProcedureEffect{Is: "file", Path: at("out", "bill-1.txt")}, 1)
	counts(t, human.ProcedureEffect{Is: "file", Path: at("out", "bill-9.txt")}, 0)
	counts(t, human.ProcedureEffect{Is: "file", Path: at("gone", "*")}, 0)
	counts(t, human.ProcedureEffect{Is: "file", Path: at("out", "bill-*.txt"), Has: []string{"owes 12"}}, 2)
	counts(t, human.ProcedureEffect{Is: "file", Path: at("*", "*", "*.txt"), Has: []string{"Acme", "13"}}, 1)
	counts(t, human.ProcedureEffect{Is: "file", Path: at("out", "*"), Has: []string{"Acme", "North"}}, 0)
	counts(t, human.ProcedureEffect{Is: "file", Path: at("[out]", "*.txt")}, 1) // only * stands for anything
	fails(t, human.ProcedureEffect{Is: "file", Path: "out/bill-1.txt"}, human.Invalid)

	huge := write(t, at("huge", "log"), "begins")
	if err := os.Truncate(huge, maxFile+1); err != nil {
		t.Fatal(err)
	}
	counts(t, human.ProcedureEffect{Is: "file", Path: huge}, 1)
	fails(t, human.ProcedureEffect{Is: "file", Path: huge, Has: []string{"begins"}}, human.Exhausted)
}

// What was there before is known again, and what came is not taken for it.
func TestItemsAreKnownAgain(t *testing.T) {
	dir := t.TempDir()
	e := human.ProcedureEffect{Is: "mail", Path: dir}
	write(t, filepath.Join(dir, "new", "1"), "Subject: one\n\n7")
	first, err := look(t, e)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "cur"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "new", "1"), filepath.Join(dir, "cur", "1:2,S")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "new", "2"), "Subject: two\n\n7")
	then, err := look(t, e)
	if err != nil || len(first.Items) != 1 || len(then.Items) != 2 || !slices.Contains(then.Items, first.Items[0]) || then.Items[0] == then.Items[1] {
		t.Errorf("%q, then %q, %v", first.Items, then.Items, err)
	}
}

// What is not as an effect says is known, too: that nothing else has changed can be told from it.
func TestAllThereIs(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "new", "1.eml"), "Subject: one\n\n7")
	write(t, filepath.Join(dir, "new", "2.eml"), "Subject: two\n\n8")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "a.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE a AS SELECT 'one' UNION SELECT 'two'`); err != nil {
		t.Fatal(err)
	}
	for _, e := range []human.ProcedureEffect{{Is: "mail", Path: dir}, {Is: "file", Path: filepath.Join(dir, "new", "*")}, {Is: "sql", Path: filepath.Join(dir, "a.db"), Query: "SELECT * FROM a"}} {
		e.Has = []string{"two"}
		seen, err := look(t, e)
		if err != nil || len(seen.Items) != 1 || len(seen.All) != 2 || !slices.Contains(seen.All, seen.Items[0]) {
			t.Errorf("%s: %+v, %v", e.Is, seen, err)
		}
	}
}

func TestAnswersOfServers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/invoices", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s", r.Method)
		}
		fmt.Fprint(w, "no. 7 for Acme, 12.50")
	})
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != hidden {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprint(w, "for you, with ", r.Header.Get("Authorization"))
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/private", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/?q="+r.Header.Get("Authorization"), http.StatusFound)
	})
	mux.HandleFunc("/around", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/around", http.StatusFound) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		block := strings.Repeat("x", 1<<16)
		for range 3 * maxAnswer >> 16 {
			if _, err := fmt.Fprint(w, block); err != nil {
				return
			}
		}
		fmt.Fprint(w, "the end")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	header := map[string]string{"Authorization": "SECRET:portal"}

	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/invoices", Has: []string{"Acme", "12.50"}}, 1)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/invoices", Has: []string{"Acme", "13"}}, 0)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/none"}, 0)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/none", Status: 404}, 1)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/private"}, 0)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/private", Headers: header, Has: []string{"for you"}}, 1)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/moved", Headers: header, Has: []string{"for you"}}, 1)
	counts(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/long", Has: []string{"the end"}}, 0)
	fails(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/private", Headers: map[string]string{"X": "SECRET:other"}}, human.NotFound)
	fails(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/away", Headers: header}, human.Conflict)
	fails(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/around"}, human.Conflict)
	fails(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/private", Headers: map[string]string{"X": "SECRET:portal", "a b": hidden}}, human.Unavailable)
	fails(t, human.ProcedureEffect{Is: "http", URL: "http://portal.example/"}, human.Invalid)
	fails(t, human.ProcedureEffect{Is: "http", URL: "http://user:" + hidden + "@127.0.0.1/"}, human.Invalid)
	fails(t, human.ProcedureEffect{Is: "http", URL: "file:///etc/passwd"}, human.Invalid)
	server.Close()
	fails(t, human.ProcedureEffect{Is: "http", URL: server.URL + "/private", Headers: header}, human.Unavailable)
}

func TestRowsOfADatabase(t *testing.T) {
	name := filepath.Join(t.TempDir(), "shop #1.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(filepath.ToSlash(name), "#", "%23")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(query string, values ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, values...); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE bills (customer TEXT, amount INTEGER, note BLOB)`)
	run(`INSERT INTO bills VALUES ('Acme', 12, ?), ('North', 12, NULL)`, []byte("by hand"))
	query := func(query string, values ...string) human.ProcedureEffect {
		return human.ProcedureEffect{Is: "sql", Path: name, Query: query, Values: values}
	}
	with := func(e human.ProcedureEffect, has ...string) human.ProcedureEffect { e.Has = has; return e }
	all := query(`SELECT * FROM bills WHERE customer = ?`, "Acme")
	counts(t, all, 1)
	run(`INSERT INTO bills VALUES ('Acme', 13, '')`) // the other connection, after the first look
	counts(t, all, 2)
	counts(t, with(all, "Acme", "12", "by hand"), 1)
	counts(t, with(query(`SELECT * FROM bills`), "North", "13"), 0) // not in one row
	counts(t, query(`SELECT * FROM bills WHERE customer = ?`, "x' OR '1'='1"), 0)
	counts(t, query(`WITH b AS (SELECT * FROM bills) SELECT ';' FROM b WHERE customer = 'North' -- ; one`), 1)

	for _, attack := range []string{
		`DELETE FROM bills`, `UPDATE bills SET amount = 0`, `SELECT 1; DELETE FROM bills`, `SELECT 1;;`, `PRAGMA query_only = OFF`,
		`WITH b AS (SELECT 1) DELETE FROM bills`, `ATTACH 'x' AS y`, `VACUUM INTO 'copy'`, ``, `-- SELECT`, `SELECT /* ; */ 1 ; DROP TABLE bills`,
		`SELECT load_extension('x')`, `SELECT * FROM nothing`,
	} {
		fails(t, query(attack), human.Invalid)
	}
	counts(t, query(`SELECT * FROM bills`), 3)
	fails(t, human.ProcedureEffect{Is: "sql", Path: "shop.db", Query: "SELECT 1"}, human.Invalid)
	fails(t, human.ProcedureEffect{Is: "sql", Path: filepath.Join(t.TempDir(), "none.db"), Query: "SELECT 1"}, human.NotFound)
	fails(t, human.ProcedureEffect{Is: "sql", Path: write(t, filepath.Join(t.TempDir(), "text.db"), strings.Repeat("no database ", 100)), Query: "SELECT * FROM sqlite_schema"}, human.Invalid)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Looker{}).Look(ctx, query(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n`), secrets); err == nil {
		t.Error("a query without an end is not interrupted")
	}
}

func TestMail(t *testing.T) {
	dir := t.TempDir()
	plain := "From: Ada <ada@mail.example>\r\nSubject: Your bill\r\n\r\nAcme owes 12.\r\n"
	coded := "From: =?utf-8?q?J=C3=BCrgen?= <j@mail.example>\r\nSubject: =?utf-8?B?5Y+R56Wo?= 7\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nTcO8bGxlciBvd2VzIDEz\r\n" +
		"--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>S=F6hne &amp; <b>Co</b></p>\r\n--c--\r\n" +
		"--b\r\nContent-Type: application/pdf\r\n\r\nin the file\r\n--b--\r\n"
	write(t, filepath.Join(dir, "box", "new", "1.host"), plain)
	write(t, filepath.Join(dir, "box", "cur", "2.host,S=1"), coded)
	write(t, filepath.Join(dir, "box", "tmp", "3.host"), plain)
	write(t, filepath.Join(dir, "box", "index.txt"), plain)
	write(t, filepath.Join(dir, "box", "new", "4.host"), "no message")
	write(t, filepath.Join(dir, "saved", "a.eml"), plain)
	box := func(has ...string) human.ProcedureEffect {
		return human.ProcedureEffect{Is: "mail", Path: filepath.Join(dir, "box"), Has: has}
	}
	counts(t, box("Your bill", "Acme owes 12", "ada@mail.example"), 1)
	counts(t, box("发票 7", "Müller owes 13", "Jürgen", "Söhne & Co"), 1)
	write(t, filepath.Join(dir, "sent", "new", "1.host"), "From: a@mail.example\r\nTo: Bo <b@mail.example>\r\nCc: c@mail.example\r\nReply-To: d@mail.example\r\nX-Other: x@mail.example\r\n\r\nHello\r\n")
	sent := human.ProcedureEffect{Is: "mail", Path: filepath.Join(dir, "sent"), Has: []string{"Bo", "b@mail.example", "c@mail.example", "d@mail.example"}}
	counts(t, sent, 1)
	sent.Has = []string{"x@mail.example"}
	counts(t, sent, 0)
	counts(t, box("in the file"), 0)
	counts(t, box("Your bill", "Müller"), 0)
	counts(t, human.ProcedureEffect{Is: "mail", Path: filepath.Join(dir, "*"), Has: []string{"Your bill"}}, 2)
	fails(t, human.ProcedureEffect{Is: "mail", Path: filepath.Join(dir, "none"), Has: []string{"x"}}, human.NotFound)

	nested := "Subject: deep\r\n"
	for i := range 200 {
		nested += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	write(t, filepath.Join(dir, "deep", "a.eml"), nested+"\r\nthe bottom")
	counts(t, human.ProcedureEffect{Is: "mail", Path: filepath.Join(dir, "deep"), Has: []string{"deep"}}, 1)
	counts(t, human.ProcedureEffect{Is: "mail", Path: filepath.Join(dir, "deep"), Has: []string{"the bottom"}}, 0) // parts within parts have an end
}

func TestWhatIsNotLookedAtHere(t *testing.T) {
	fails(t, human.ProcedureEffect{Is: "row", URL: "https://portal.example", Has: []string{"Acme"}}, human.Invalid)
	fails(t, human.ProcedureEffect{Is: "weather"}, human.Invalid)
}
