package sqlite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base32"
	"errors"
	"regexp"
	"strings"
	"time"

	"deskbell/backend/human"
)

// A key is dbk_, its id and its secret in one word: 40 bits to find it by, 160 to prove it.
const (
	keyPrefix   = "dbk_"
	keyIDBytes  = 5
	keyBytes    = 25
	keyIDLength = 8
	keyLength   = 40
)

var keyAlphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// AddKey makes a key for an agent and returns it; only its hash is stored. Several keys may bear one name.
// An ephemeral key is one that its maker means to drop when it stops; for a name whose keys were all revoked there is none, and the
// error is Unauthorized. It may be called while another process has the file open.
func (s *Store) AddKey(ctx context.Context, name string, ephemeral bool) (key string, err error) {
	if !keyName.MatchString(name) {
		return "", human.BadField("name", "%q is not a valid name; use 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first", name)
	}
	var secret [keyBytes]byte
	rand.Read(secret[:])
	text := keyAlphabet.EncodeToString(secret[:])
	key = keyPrefix + text
	sum := sha256.Sum256([]byte(key))
	err = s.do(ctx, func(ctx context.Context, w *writer) error {
		if ephemeral {
			var barred bool
			row := w.conn.QueryRowContext(ctx, `SELECT count(*) > 0 AND count(revoked_at) = count(*) FROM keys WHERE name = ?`, name)
			if err := row.Scan(&barred); err != nil {
				return err
			}
			if barred {
				return human.RevokedAgent(name)
			}
		}
		_, err := w.conn.ExecContext(ctx, `INSERT INTO keys (id, name, hash, ephemeral, created_at) VALUES (?,?,?,?,?)`,
			text[:keyIDLength], name, sum[:], ephemeral, micro(s.now()))
		if err == nil {
			err = w.mirrors(ctx)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

// Keys returns every key ever made, by name and then by age.
func (s *Store) Keys(ctx context.Context) ([]human.Key, error) {
	keys := []human.Key{}
	err := s.rows(ctx, `SELECT id, name, ephemeral, created_at, last_seen, revoked_at FROM keys ORDER BY name, created_at, id`, nil, func(rows *sql.Rows) error {
		var k human.Key
		var created int64
		var seen, revoked sql.NullInt64
		if err := rows.Scan(&k.ID, &k.Name, &k.Ephemeral, &created, &seen, &revoked); err != nil {
			return err
		}
		k.CreatedAt, k.LastSeen, k.RevokedAt = time.UnixMicro(created).UTC(), moment(seen), moment(revoked)
		keys = append(keys, k)
		return nil
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return keys, nil
}

func moment(micros sql.NullInt64) *time.Time {
	if !micros.Valid {
		return nil
	}
	t := time.UnixMicro(micros.Int64).UTC()
	return &t
}

// RevokeKey makes every key of that name useless from now on, in every process, and returns how many it
// revoked: none when all were revoked already or none bears the name.
func (s *Store) RevokeKey(ctx context.Context, name string) (n int, err error) {
	err = s.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `UPDATE keys SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL`, micro(s.now()), name)
		if err != nil {
			return err
		}
		affected, err := done.RowsAffected()
		if n = int(affected); err == nil && n > 0 {
			err = w.mirrors(ctx)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// RevokedAgents returns the names that have keys, all of them revoked, by whatever process.
func (s *Store) RevokedAgents(ctx context.Context) ([]string, error) {
	var names []string
	err := s.rows(ctx, `SELECT name FROM keys GROUP BY name HAVING count(revoked_at) = count(*)`, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, s.fail(ctx, err)
}

// DropKey makes this one key useless, in every process, and forgets it, unless it was revoked: that stays known. A key that is not
// there is no error.
func (s *Store) DropKey(ctx context.Context, key string) error {
	sum := sha256.Sum256([]byte(key))
	return s.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `DELETE FROM keys WHERE hash = ? AND revoked_at IS NULL`, sum[:])
		if err == nil {
			err = w.mirrors(ctx)
		}
		return err
	})
}

// Authenticate returns the name of the agent that bears the key. An unknown or revoked one gives an
// Unauthorized error that says what to do. It asks the file each time, by primary key, so that a
// revocation by any process counts from the next request on; that costs some ten microseconds.
func (s *Store) Authenticate(ctx context.Context, key string) (name string, err error) {
	text, isKey := strings.CutPrefix(key, keyPrefix)
	if !isKey || len(text) != keyLength {
		return "", human.Errorf(human.Unauthorized, "this is not a Deskbell key; make one with: deskbell keys add NAME")
	}
	var hash []byte
	var revoked sql.NullInt64
	stmt, err := s.query(ctx, `SELECT name, hash, revoked_at FROM keys WHERE id = ?`)
	if err == nil {
		err = stmt.QueryRowContext(context.WithoutCancel(ctx), text[:keyIDLength]).Scan(&name, &hash, &revoked)
	}
	sum := sha256.Sum256([]byte(key))
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return "", s.fail(ctx, err)
	case err != nil || subtle.ConstantTimeCompare(sum[:], hash) != 1:
		return "", human.Errorf(human.Unauthorized, "no such key here; check that all of it was copied, or make one with: deskbell keys add NAME")
	case revoked.Valid:
		return "", human.Errorf(human.Unauthorized, "this key of %s was revoked at %s; ask the operator for a new one (deskbell keys add %s)",
			name, time.UnixMicro(revoked.Int64).UTC().Format(time.RFC3339), name)
	}
	return name, nil
}

// TouchKeys notes when the agents of these names were last seen, for all keys of each name, in one
// transaction. It never moves a time back.
func (s *Store) TouchKeys(ctx context.Context, seen map[string]time.Time) error {
	if len(seen) == 0 {
		return nil
	}
	return s.do(ctx, func(ctx context.Context, w *writer) error {
		for name, at := range seen {
			if _, err := w.conn.ExecContext(ctx, `UPDATE keys SET last_seen = ?1 WHERE name = ?2 AND revoked_at IS NULL AND coalesce(last_seen, ?1 - 1) < ?1`,
				micro(at), name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Setting returns a small value that SetSetting stored, or "" when there is none.
func (s *Store) Setting(ctx context.Context, key string) (value string, err error) {
	stmt, err := s.query(ctx, `SELECT value FROM meta WHERE key = ?`)
	if err == nil {
		err = stmt.QueryRowContext(context.WithoutCancel(ctx), key).Scan(&value)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, s.fail(ctx, err)
}

// SetSetting stores a small value under a key, durable when it returns.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
}
