package sqlite

import (
	"context"
	"database/sql"
	"time"

	fast "github.com/go-json-experiment/json"

	"deskbell/backend/human"
)

// mostAnswered bounds how many requests are read to count who answered them.
const mostAnswered = 10_000

// Answered counts the requests that each operator answered, by project and name: of those that changed since then, as an answer does,
// the latest 10,000 that have an answer. Those without a project do not count.
func (s *Store) Answered(ctx context.Context, since time.Time) (map[string]map[string]int, error) {
	all := map[string]map[string]int{}
	err := s.rows(ctx, `SELECT data FROM operations INDEXED BY operations_recent WHERE updated >= ? AND state = 'completed' ORDER BY updated DESC LIMIT ?`,
		[]any{micro(since), mostAnswered}, func(rows *sql.Rows) error {
			var data sql.RawBytes
			if err := rows.Scan(&data); err != nil {
				return err
			}
			var op struct {
				Project string `json:"project"`
				Result  struct {
					By human.Actor `json:"by"`
				} `json:"result"`
			}
			if err := fast.Unmarshal(data, &op); err != nil {
				return s.damaged(err)
			}
			by := op.Result.By
			if op.Project == "" || by.Role != human.Operator {
				return nil
			}
			if all[op.Project] == nil {
				all[op.Project] = map[string]int{}
			}
			all[op.Project][by.Name]++
			return nil
		})
	return all, s.fail(ctx, err)
}
