package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
)

// partSize is how many rows a part of a search index takes. A smaller one makes common prefixes
// cheaper, a larger one rare words.
const partSize = 32768

// parts is the writer's side of a full-text index: which parts there are, and statements for them. What
// it remembers is of one connection and its last commit; forget starts over.
type parts struct {
	name   string // of the index's tables: name_parts, name_1, name_2, ...
	used   string // counts what the last part has, from its first on
	size   int    // rows in a part
	loaded bool
	firsts []uint64 // of part 1, 2, ...
	room   int      // of the last part
	last   partStatements
}

// A partStatements writes one part.
type partStatements struct {
	part           int // 0 for none
	insert, delete *sql.Stmt
}

func (p *partStatements) close() error {
	var errs []error
	for _, s := range []*sql.Stmt{p.insert, p.delete} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	*p = partStatements{}
	return errors.Join(errs...)
}

func (p *parts) forget() error {
	err := p.last.close()
	*p = parts{name: p.name, used: p.used, size: p.size}
	return err
}

// load must come before add, replace and drop, in their transaction: it counts what is there.
func (p *parts) load(ctx context.Context, conn *sql.Conn) error {
	if p.loaded {
		return nil
	}
	rows, err := conn.QueryContext(ctx, `SELECT first FROM `+p.name+`_parts ORDER BY part`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var first uint64
		if err := rows.Scan(&first); err != nil {
			return err
		}
		p.firsts = append(p.firsts, first)
	}
	if err := rows.Err(); err != nil || len(p.firsts) == 0 {
		p.loaded = err == nil
		return err
	}
	var used int
	if err := conn.QueryRowContext(ctx, p.used, p.firsts[len(p.firsts)-1]).Scan(&used); err != nil {
		return err
	}
	p.room, p.loaded = p.size-used, true
	return nil
}

// drop removes every part.
func (p *parts) drop(ctx context.Context, conn *sql.Conn) error {
	n := len(p.firsts)
	if err := p.forget(); err != nil {
		return err
	}
	p.loaded = true
	for part := 1; part <= n; part++ {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(`DROP TABLE %s_%d`, p.name, part)); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, `DELETE FROM `+p.name+`_parts`)
	return err
}

// add indexes a new row, the one with the highest n so far.
func (p *parts) add(ctx context.Context, conn *sql.Conn, n uint64, body string) error {
	if p.room <= 0 {
		if err := p.grow(ctx, conn, n); err != nil {
			return err
		}
	}
	st, err := p.statements(ctx, conn, len(p.firsts))
	if err != nil {
		return err
	}
	p.room--
	_, err = st.insert.ExecContext(ctx, n, body)
	return err
}

// grow begins a new part with row n.
func (p *parts) grow(ctx context.Context, conn *sql.Conn, n uint64) error {
	part := len(p.firsts) + 1
	table := fmt.Sprintf("%s_%d", p.name, part)
	for _, text := range []string{
		createIndex(table),
		// Every commit adds a segment. Merging more of them at a time rewrites each word less often.
		fmt.Sprintf(`INSERT INTO %s (%[1]s, rank) VALUES ('automerge', 16)`, table),
		fmt.Sprintf(`INSERT INTO %s (%[1]s, rank) VALUES ('crisismerge', 32)`, table),
		fmt.Sprintf(`INSERT INTO %s_parts (part, first) VALUES (%d, %d)`, p.name, part, n),
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	p.firsts, p.room = append(p.firsts, n), p.size
	return nil
}

// createIndex makes a full-text index. It is contentless: the text stands in the journal already, and here its words are enough.
func createIndex(name string) string {
	return `CREATE VIRTUAL TABLE ` + name + ` USING fts5 (body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')`
}

// replace indexes an operation again, with other text.
func (p *parts) replace(ctx context.Context, conn *sql.Conn, n uint64, body string) error {
	if err := p.remove(ctx, conn, n); err != nil {
		return err
	}
	_, err := p.last.insert.ExecContext(ctx, n, body)
	return err
}

// remove takes a row out of the index. Its words stay in the file until the next optimize.
func (p *parts) remove(ctx context.Context, conn *sql.Conn, n uint64) error {
	st, err := p.statements(ctx, conn, sort.Search(len(p.firsts), func(i int) bool { return p.firsts[i] > n }))
	if err != nil {
		return err
	}
	_, err = st.delete.ExecContext(ctx, n)
	return err
}

// optimize writes a part anew that has words of removed rows, or is not in one piece.
func (p *parts) optimize(ctx context.Context, conn *sql.Conn, part int) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s_%d (%[1]s_%[2]d) VALUES ('optimize')`, p.name, part))
	return err
}

// statements returns those of a part; they are kept until another part's are asked for.
func (p *parts) statements(ctx context.Context, conn *sql.Conn, part int) (*partStatements, error) {
	if p.last.part == part {
		return &p.last, nil
	}
	if err := p.last.close(); err != nil {
		return nil, err
	}
	var err error
	if p.last.insert, err = conn.PrepareContext(ctx, fmt.Sprintf(`INSERT INTO %s_%d (rowid, body) VALUES (?, ?)`, p.name, part)); err != nil {
		return nil, err
	}
	if p.last.delete, err = conn.PrepareContext(ctx, fmt.Sprintf(`DELETE FROM %s_%d WHERE rowid = ?`, p.name, part)); err != nil {
		return nil, err
	}
	p.last.part = part
	return &p.last, nil
}
