// Package check reads the alerts and the dashboard with Prometheus' own packages. It is a module of its own: they bring a hundred
// packages that Deskbell does not need.
package check

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
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
