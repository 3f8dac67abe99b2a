package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"deskbell/backend/human"
	"deskbell/backend/queue/observe"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func server(alike ...observe.Alike) Server {
	return Server{
		Version: "1.2.3", Agents: true, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Alike: func(context.Context) ([]observe.Alike, error) { return alike, nil },
		Head:  func(context.Context) (uint64, error) { return 7, nil }, Bytes: func() (int64, error) { return 4096, nil },
		Ready: func(context.Context) error { return nil }, Healthy: func() bool { return true },
	}
}

func TestMetricsFollowTheRulesOfPrometheus(t *testing.T) {
	m := NewMetrics(server(observe.Alike{Kind: human.Approve, State: human.Pending, Count: 1, Oldest: now}))
	m.requests.WithLabelValues("approve", "low", "bot").Inc()
	m.ended.WithLabelValues("approved", "approve", "low", "bot").Inc()
	m.answer.WithLabelValues("approve", "approved").Observe(1)
	m.Decided(human.Allow)
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestGauges(t *testing.T) {
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	s := server(
		observe.Alike{Kind: human.Approve, State: human.Pending, Risk: human.CriticalRisk, Count: 2, Oldest: ago(400)},
		observe.Alike{Kind: human.Approve, State: human.Pending, Risk: human.CriticalRisk, Seen: true, Overdue: true, Count: 3, Oldest: ago(900)},
		observe.Alike{Kind: human.Feedback, State: human.Claimed, Seen: true, Count: 1, Oldest: ago(-5)}, // its clock is ahead
	)
	s.Behind = func() uint64 { return 12 }
	s.Ready = func(context.Context) error { return errors.New("no") }
	const want = `
# HELP deskbell_behind_team_entries Entries of the team's journal that are not here yet; 0 in no team.
# TYPE deskbell_behind_team_entries gauge
deskbell_behind_team_entries 12
# HELP deskbell_oldest_open_seconds How long ago the oldest open operation was requested; 0 for none.
# TYPE deskbell_oldest_open_seconds gauge
deskbell_oldest_open_seconds 900
# HELP deskbell_oldest_unseen_seconds How long ago the oldest open operation that no operator has looked at was requested, by its risk; 0 for none.
# TYPE deskbell_oldest_unseen_seconds gauge
deskbell_oldest_unseen_seconds{risk=""} 0
deskbell_oldest_unseen_seconds{risk="critical"} 400
deskbell_oldest_unseen_seconds{risk="high"} 0
deskbell_oldest_unseen_seconds{risk="low"} 0
deskbell_oldest_unseen_seconds{risk="medium"} 0
# HELP deskbell_operations_open Operations that have not ended.
# TYPE deskbell_operations_open gauge
deskbell_operations_open{kind="approve",state="pending"} 5
deskbell_operations_open{kind="feedback",state="claimed"} 1
# HELP deskbell_operations_overdue Open operations whose time limit has passed.
# TYPE deskbell_operations_overdue gauge
deskbell_operations_overdue 3
# HELP deskbell_ready 1 while requests can be stored, else 0.
# TYPE deskbell_ready gauge
deskbell_ready 0
`
	if err := testutil.GatherAndCompare(NewMetrics(s).registry, strings.NewReader(want), "deskbell_behind_team_entries", "deskbell_oldest_open_seconds", "deskbell_oldest_unseen_seconds",
		"deskbell_operations_open", "deskbell_operations_overdue", "deskbell_ready"); err != nil {
		t.Error(err)
	}
}

// What cannot be read is absent, and the rest is there.
func TestAScrapeWithoutStorage(t *testing.T) {
	s := server()
	s.Alike = func(context.Context) ([]observe.Alike, error) { return nil, errors.New("/home/me is gone") }
	s.Bytes = func() (int64, error) { return 0, errors.New("gone") }
	s.Healthy = func() bool { return false }
	answer := httptest.NewRecorder()
	NewMetrics(s).Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	text := answer.Body.String()
	if answer.Code != 200 || !strings.Contains(text, "\ndeskbell_healthy 0\n") || !strings.Contains(text, "\ndeskbell_journal_seq 7\n") || strings.Contains(text, "\ndeskbell_operations_o") || strings.Contains(text, "/home/me") {
		t.Errorf("%d: %s", answer.Code, text)
	}
}
