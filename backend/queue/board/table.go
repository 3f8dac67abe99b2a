package board

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/routing"
)

// WriteCSV writes what the Team page shows, as tables for spreadsheets, one below the other. A cell is empty where there is nothing to
// count. A desk that is not online does not know who is connected, and no desk knows it of auditors: those cells are empty, too. Weeks begin in zone;
// all else is in UTC.
func (b TeamBoard) WriteCSV(w io.Writer, desk human.DeskState, zone *time.Location) error {
	t := csv.NewWriter(w)
	for i, table := range [][][]string{b.figureRows(desk), b.personRows(desk.Online), b.skillRows(desk.Online), b.weekRows(zone), b.claimRows()} {
		if i > 0 {
			_ = t.Write([]string{""}) // Error says what went wrong
		}
		for _, row := range table {
			_ = t.Write(human.Cells(row))
		}
	}
	t.Flush()
	return t.Error()
}

func (b TeamBoard) figureRows(desk human.DeskState) [][]string {
	return [][]string{
		{"team", "as_of", "desk_online", "claimed", "waiting", "overdue", "overdue_since", "approvals", "approvals_yours", "claims_all", "all_counted"},
		{desk.Team, stamp(&b.At), yes(desk.Online), strconv.Itoa(b.Claimed), strconv.Itoa(b.Waiting), strconv.Itoa(b.Overdue), stamp(b.OverdueSince),
			strconv.Itoa(b.Approvals), strconv.Itoa(b.ApprovalsMine), strconv.Itoa(b.ClaimsAll), yes(!b.Partial)},
	}
}

func (b TeamBoard) personRows(known bool) [][]string {
	rows := [][]string{{"person", "role", "state", "away_until", "skills", "claims", "answered_today", "median_ms", "connected", "last_connected"}}
	for _, p := range b.People {
		row := []string{p.Name, string(p.Role), string(p.State), stamp(p.AwayUntil), strings.Join(p.Skills, ", "),
			number(p.State != "", p.Claims), number(p.Answered > 0, p.Answered), number(p.Answered > 0, p.MedianMS), "", ""}
		if known && p.Role != routing.Auditor {
			row[8] = yes(p.Connected)
			if !p.Connected {
				row[9] = stamp(p.LastSeen)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (b TeamBoard) skillRows(known bool) [][]string {
	rows := [][]string{{"skill", "waiting", "people_on", "oldest_since"}}
	for _, s := range b.Skills {
		if s.Name != "" || s.Waiting > 0 || len(b.Skills) == 1 {
			rows = append(rows, []string{cmp.Or(s.Name, "(no skill)"), strconv.Itoa(s.Waiting), number(known, s.On), stamp(s.Oldest)})
		}
	}
	return rows
}

func (b TeamBoard) weekRows(zone *time.Location) [][]string {
	rows := [][]string{{"project", "week_from", "requests", "overdue", "seen_median_ms", "answered_median_ms", "answered_nine_in_ten_ms"}}
	for _, p := range append([]TeamProject{{Name: "(all requests)", Weeks: b.Weeks}}, b.Projects...) {
		for _, w := range p.Weeks {
			rows = append(rows, []string{cmp.Or(p.Name, "(no project)"), w.From.In(zone).Format(time.DateOnly), strconv.Itoa(w.Requests), number(w.Requests > 0, w.Overdue),
				number(w.See.Count > 0, w.See.Median), number(w.Answer.Count > 0, w.Answer.Median), number(w.Answer.Count > 0, w.Answer.Ninth)})
		}
	}
	return rows
}

func (b TeamBoard) claimRows() [][]string {
	rows := [][]string{{"operation_id", "kind", "description", "requested", "overdue_since", "claimed_by", "handed_over_from", "handed_over_to", "note", "approved_by", "waits_for_you"}}
	for _, c := range b.Claims {
		row := []string{string(c.ID), string(c.Kind), c.Description, stamp(&c.CreatedAt), "", c.ClaimedBy, "", "", "", c.ApprovedBy, yes(c.Mine)}
		if c.Overdue {
			row[4] = stamp(c.ExpiresAt)
		}
		if h := c.HandOver; h != nil {
			copy(row[6:], []string{h.From, h.To, h.Note})
		}
		rows = append(rows, row)
	}
	return rows
}

func number[N int | int64](known bool, n N) string {
	if !known {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
