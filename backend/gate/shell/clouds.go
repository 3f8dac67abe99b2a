package shell

import (
	"strings"

	"deskbell/backend/gate/shell/commands"
	"deskbell/backend/human"
)

func aws(w *walker, c *cmd) (stream, bool) {
	s := commands.Of("aws")
	o, _ := commands.Parse(c.args, s.Values, s.Long, false)
	if len(o.Words) >= 2 && o.Words[1].Text == "start-query-execution" {
		q, ok := o.Flags["--query-string"]
		if !ok || strings.TrimSpace(q.Text) == "" {
			w.simple(c, human.DatabaseEffect, human.MediumRisk, "query")
			return handled(stream{})
		}
		w.query(c, q, false)
		return handled(stream{})
	}
	if len(o.Words) == 0 {
		return stream{}, false
	}
	w.rules(s, &o, c, false)
	for i := range s.Rules {
		if s.Rules[i].Matches(&o, s.Action) {
			return handled(stream{})
		}
	}
	if len(o.Words) < 2 || !o.Words[1].Known() {
		w.simple(c, human.ServiceEffect, human.MediumRisk, "unknown")
		return handled(stream{})
	}
	op := o.Words[1].Text
	switch {
	case op == "help" || op == "wait" || hasPrefix(op, []string{"describe-", "list-", "get-", "head-", "search-", "lookup-", "filter-", "batch-get-", "check-", "validate-", "estimate-", "simulate-", "preview-", "query-", "discover-", "detect-", "test-", "view-", "scan-", "admin-get-", "admin-list-", "transact-get-", "select-", "count-", "poll-", "classify-", "compare-", "verify-", "decode-", "download-", "generate-policy", "is-", "evaluate-"}),
		op == "ls" || op == "scan" || op == "query" || op == "tail" || op == "receive-message" || op == "describe":
		w.simple(c, human.NetworkRead, human.NoRisk, "looks")
	case loses(op) || hasPrefix(op, []string{"batch-delete", "stop-", "reboot-", "deactivate-", "detach-", "disassociate-", "unsubscribe", "release-", "cancel-", "schedule-key-deletion", "empty-", "admin-delete", "admin-disable", "restore-", "modify-", "rollback-", "abort-", "reject-", "untag-", "unassign-", "revoke-", "reset-", "force-"}):
		w.simple(c, human.ServiceEffect, human.HighRisk, "destroys")
	default:
		w.simple(c, human.ServiceEffect, human.MediumRisk, "changes")
	}
	return handled(stream{})
}
