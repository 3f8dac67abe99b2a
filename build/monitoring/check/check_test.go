// Package check reads the alerts and the dashboard with Prometheus' own packages. It is a module of its own: they bring two hundred
// packages that Deskbell does not need.
package check

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

func TestAlerts(t *testing.T) {
	groups, errs := rulefmt.ParseFile("../alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) < 5 {
		t.Fatalf("the rules are %+v", groups)
	}
	for _, r := range groups.Groups[0].Rules {
		if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("%+v has no name, severity or summary", r)
		}
	}
}

// Each rule's expression is true of what it warns of, and not otherwise. Series have a value a minute, for three hours.
func TestAlertsFire(t *testing.T) {
	groups, errs := rulefmt.ParseFile("../alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	const of = `{job="deskbell",instance="a"} `
	series := map[string]struct{ fires, quiet string }{
		"DeskbellDown":                  {"up" + of + "0x180", "up" + of + "1x180"},
		"DeskbellCriticalRequestUnseen": {`deskbell_oldest_unseen_seconds{risk="critical"} 301x180`, `deskbell_oldest_unseen_seconds{risk="high"} 301x180`},
		"DeskbellRequestsOverdue":       {"deskbell_operations_overdue" + of + "1x180", "deskbell_operations_overdue" + of + "0x180"},
		"DeskbellOldRequest":            {"deskbell_oldest_open_seconds" + of + "14401x180", "deskbell_oldest_open_seconds" + of + "14400x180"},
		"DeskbellNoAnswers": {
			"deskbell_oldest_open_seconds" + of + "0+60x180\n" + `deskbell_operations_total{job="deskbell",instance="a",kind="approve"} 7x180` + "\n" +
				`deskbell_operations_total{job="deskbell",instance="b",kind="approve"} 0+1x180`,
			"deskbell_oldest_open_seconds" + of + "0+60x180\n" + `deskbell_operations_total{job="deskbell",instance="a",kind="approve"} 7x120 8x59`,
		},
		"DeskbellDataDamaged": {"deskbell_healthy" + of + "0x180", "deskbell_healthy" + of + "1x180"},
		"DeskbellNotReady":    {"deskbell_ready" + of + "0x180", "deskbell_ready" + of + "1x180"},
		"DeskbellStorageSlow": {
			`deskbell_append_seconds_bucket{instance="a",le="0.8"} 0+1x180` + "\n" + `deskbell_append_seconds_bucket{instance="a",le="3.2"} 0+100x180` + "\n" + `deskbell_append_seconds_bucket{instance="a",le="+Inf"} 0+100x180`,
			`deskbell_append_seconds_bucket{instance="a",le="0.8"} 0+100x180` + "\n" + `deskbell_append_seconds_bucket{instance="a",le="3.2"} 0+100x180` + "\n" + `deskbell_append_seconds_bucket{instance="a",le="+Inf"} 0+100x180`,
		},
		"DeskbellBehindTeam": {"deskbell_behind_team_entries" + of + "5x180", "deskbell_behind_team_entries" + of + "5x175 0x4"},
	}
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	for _, r := range groups.Groups[0].Rules {
		tt, is := series[r.Alert]
		if !is {
			t.Errorf("%s is not tried", r.Alert)
		}
		for load, want := range map[string]int{tt.fires: 1, tt.quiet: 0} {
			query, err := engine.NewInstantQuery(t.Context(), promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(load, "\n", "\n  ")), nil, r.Expr, time.Unix(3*60*60, 0))
			if err != nil {
				t.Fatal(err)
			}
			found, err := query.Exec(t.Context()).Vector()
			if err != nil || len(found) != want {
				t.Errorf("%s with %s: %v, %v", r.Alert, load, found, err)
			}
		}
	}
}

func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../dashboard.json")
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil || len(board.Panels) < 5 {
		t.Fatalf("%d panels, %v", len(board.Panels), err)
	}
	grafana := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*") // Grafana's variables
	for _, p := range board.Panels {
		for _, of := range p.Targets {
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(grafana.Replace(of.Expr)); err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
		}
	}
}
