package effects

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// skipped are the parts of a statement in which a semicolon ends nothing.
var skipped = regexp.MustCompile(`(?s)'(?:[^']|'')*'|"(?:[^"]|"")*"|` + "`[^`]*`" + `|\[[^\]]*\]|--[^\n]*|/\*.*?\*/`)

// single says whether a query is one statement that begins as those do that only read. What it does beyond that, SQLite itself denies:
// the database is opened for reading alone.
func single(query string) bool {
	query = strings.TrimSpace(skipped.ReplaceAllString(query, " "))
	query = strings.TrimSpace(strings.TrimSuffix(query, ";"))
	words := strings.Fields(strings.ToLower(query))
	return len(words) > 0 && (words[0] == "select" || words[0] == "with") && !strings.Contains(query, ";")
}

// rows asks an SQLite database.
func rows(ctx context.Context, e human.ProcedureEffect) (procedure.Seen, error) {
	if !filepath.IsAbs(e.Path) {
		return procedure.Seen{}, human.BadField("path", "%q is no absolute path: write it from the root of this computer", e.Path)
	}
	if !single(e.Query) {
		return procedure.Seen{}, human.BadField("query", "a query is one SELECT: change it")
	}
	if info, err := os.Stat(e.Path); err != nil || !info.Mode().IsRegular() {
		return procedure.Seen{}, human.Errorf(human.NotFound, "there is no database at %s: check the path", e.Path)
	}
	name := filepath.ToSlash(e.Path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // a drive letter
	}
	address := url.URL{Scheme: "file", Path: name, RawQuery: url.Values{"mode": {"ro"}, "_pragma": {"query_only(ON)", "busy_timeout(2000)", "trusted_schema(OFF)"}}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return procedure.Seen{}, human.Wrap(human.Unavailable, err, "the database at %s cannot be opened: check that it is one of SQLite", e.Path)
	}
	defer db.Close()
	values := make([]any, len(e.Values))
	for i, v := range e.Values {
		values[i] = v
	}
	seen, err := matching(ctx, db, e.Query, values, e.Has)
	if human.KindOf(err) == human.Exhausted {
		return procedure.Seen{}, err
	}
	if err != nil {
		return procedure.Seen{}, human.Wrap(human.Invalid, err, "the database at %s does not answer the query: check both", e.Path)
	}
	seen.Said = human.Sayf("%d of %d rows in %s are as expected", len(seen.Items), len(seen.All), e.Path)
	return seen, nil
}

// matching are the rows of a query that have all texts in their cells, and all of its rows, each as procedure.Cells.
func matching(ctx context.Context, db *sql.DB, query string, values []any, texts []string) (seen procedure.Seen, err error) {
	result, err := db.QueryContext(ctx, query, values...)
	if err != nil {
		return seen, err
	}
	defer result.Close()
	seen.Columns, err = result.Columns()
	if err != nil {
		return seen, err
	}
	cells, at := make([]any, len(seen.Columns)), make([]any, len(seen.Columns))
	for i := range cells {
		at[i] = &cells[i]
	}
	for result.Next() {
		if len(seen.All) == maxMatches {
			return seen, human.Errorf(human.Exhausted, "there are more than %d rows: add a condition", maxMatches)
		}
		if err := result.Scan(at...); err != nil {
			return seen, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			if b, is := c.([]byte); is {
				c = string(b)
			}
			row[i] = fmt.Sprint(c)
		}
		digest := procedure.Cells(row, texts)
		seen.All = append(seen.All, digest)
		if human.HasAll(strings.Join(row, "\n"), texts) {
			seen.Items = append(seen.Items, digest)
		}
	}
	return seen, result.Err()
}
