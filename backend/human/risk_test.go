package human_test

import (
	"encoding/json"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestRiskIsReadInAnyCaseAndUnknownCountsAsHigh(t *testing.T) {
	for details, want := range map[string]struct {
		risk human.Risk
		sent string
	}{
		`{"risk_level":"low"}`:                      {human.LowRisk, ""},
		`{"risk_level":"High"}`:                     {human.HighRisk, ""},
		`{"risk_level":" CRITICAL "}`:               {human.CriticalRisk, ""},
		`{"risk_level":"severe"}`:                   {human.HighRisk, "severe"},
		`{"risk_level":"LOW-ish"}`:                  {human.HighRisk, "LOW-ish"},
		`{"risk_level":3}`:                          {human.HighRisk, "3"},
		`{"risk_level":{"score":1}}`:                {human.HighRisk, `{"score":1}`},
		`{"risk_level":"none"}`:                     {"", ""},
		`{"risk_level":""}`:                         {"", ""},
		`{"risk_level":null}`:                       {"", ""},
		`{"Risk_Level":"high"}`:                     {"", ""},
		`{"risk":"Medium"}`:                         {human.MediumRisk, ""},
		`{"severity":"critical"}`:                   {human.CriticalRisk, ""},
		`{"risk":"users may have to log in again"}`: {"", ""},
		`{"risk":"low","risk_level":"high"}`:        {human.HighRisk, ""},
		`{}`:                                        {"", ""},
		`[]`:                                        {"", ""},
	} {
		r := human.Request{Kind: human.Approve, Description: "x", AgentID: "bot", Details: json.RawMessage(details)}
		op, err := human.Operation{ID: "op_1"}.Apply(human.Event{Type: human.Invoked, At: time.Unix(1, 0), By: human.Actor{Role: human.Agent, Name: "bot"}, Request: &r})
		if err != nil {
			t.Fatal(err)
		}
		if op.Risk != want.risk || op.RiskSent != want.sent || r.Risk() != want.risk {
			t.Errorf("%s: risk %q sent as %q, want %q sent as %q", details, op.Risk, op.RiskSent, want.risk, want.sent)
		}
	}
}
