package board_test

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/board"
	"deskbell/backend/queue/routing"
)

// What agents and members are called and write is text in a table, whatever it is; what is not known, or not there to count, is an empty cell.
func TestTheTablesOfATeam(t *testing.T) {
	t.Parallel()
	at, zone := midnight.Add(time.Hour), time.FixedZone("", 3600)
	before := at.Add(-time.Minute)
	none := board.TeamWeek{From: midnight}
	b := board.TeamBoard{
		At: at, Claimed: 2, Waiting: 1, Overdue: 1, OverdueSince: &before, ClaimsAll: 23, Partial: true,
		People: []board.TeamPerson{
			{Member: routing.Member{Name: "李雷", Role: routing.Lead, Skills: []string{"=1+1", "数据库"}}, State: board.Away, AwayUntil: &at, Connected: true, LastSeen: &before, Claims: 2, Answered: 1, MedianMS: 90_000},
			{Member: routing.Member{Name: "Ann \"A\",\nthe second", Role: routing.Operator}, State: board.On, LastSeen: &before},
			{Member: routing.Member{Name: `=HYPERLINK("http://evil.example")`, Role: routing.Auditor}},
		},
		Skills: []board.TeamSkill{{Name: "@law", On: 1}, {Waiting: 1, Oldest: &before}},
		Weeks:  []board.TeamWeek{none, {From: midnight.AddDate(0, 0, 7), Requests: 3, Overdue: 1, See: queue.Times{Count: 3, Median: 34_000}, Answer: queue.Times{Count: 2, Median: 168_000, Ninth: 400_000}}},
		Projects: []board.TeamProject{
			{Name: "-1", Weeks: []board.TeamWeek{none}}, {Weeks: []board.TeamWeek{{From: midnight, Requests: 1}}},
		},
		Claims: []board.TeamClaim{
			{ID: "op_1", Kind: human.Approve, Description: "+1\r\n=2", CreatedAt: before, ExpiresAt: &at, Overdue: true, ClaimedBy: "李雷"},
			{ID: "op_2", Kind: human.Feedback, Description: "＝全角", CreatedAt: before, ExpiresAt: &at, ClaimedBy: "Ann", HandOver: &human.HandOver{From: "Ann", To: "李雷", By: "Bo", Note: "\t=1"}, ApprovedBy: "Ann", Mine: true},
		},
	}
	rows := func(desk human.DeskState) []string {
		t.Helper()
		var text strings.Builder
		if err := b.WriteCSV(&text, desk, zone); err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(strings.NewReader(text.String()))
		r.FieldsPerRecord = -1
		all, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, row := range all {
			lines = append(lines, strings.Join(row, "|"))
		}
		return lines
	}
	online := rows(human.DeskState{Team: "蓝, \"B\"", Online: true})
	wantLines(t, "rows", online,
		"team|as_of|desk_online|claimed|waiting|overdue|overdue_since|approvals|approvals_yours|claims_all|all_counted",
		"蓝, \"B\"|2026-11-30T00:00:00Z|yes|2|1|1|2026-11-29T23:59:00Z|0|0|23|no",
		"person|role|state|away_until|skills|claims|answered_today|median_ms|connected|last_connected",
		"李雷|lead|away|2026-11-30T00:00:00Z|'=1+1, 数据库|2|1|90000|yes|",
		"Ann \"A\",\nthe second|operator|on|||0|||no|2026-11-29T23:59:00Z",
		"'=HYPERLINK(\"http://evil.example\")|auditor||||||||",
		"skill|waiting|people_on|oldest_since",
		"'@law|0|1|",
		"(no skill)|1|0|2026-11-29T23:59:00Z",
		"project|week_from|requests|overdue|seen_median_ms|answered_median_ms|answered_nine_in_ten_ms",
		"(all requests)|2026-11-30|0||||",
		"(all requests)|2026-12-07|3|1|34000|168000|400000",
		"'-1|2026-11-30|0||||",
		"(no project)|2026-11-30|1|0|||",
		"operation_id|kind|description|requested|overdue_since|claimed_by|handed_over_from|handed_over_to|note|approved_by|waits_for_you",
		"op_1|approve|'+1\n=2|2026-11-29T23:59:00Z|2026-11-30T00:00:00Z|李雷|||||no",
		"op_2|feedback|'＝全角|2026-11-29T23:59:00Z||Ann|Ann|李雷|'\t=1|Ann|yes",
	)

	// Offline no one knows who is connected; the rest is the same. A skill that no request needs is left out where others have names.
	b.Skills[1].Waiting = 0
	offline := rows(human.DeskState{Team: "蓝, \"B\""})
	b.Skills = b.Skills[1:]
	alone := rows(human.DeskState{})
	changed := slices.DeleteFunc(slices.Clone(offline), func(line string) bool { return slices.Contains(online, line) })
	wantLines(t, "rows offline", changed,
		"蓝, \"B\"|2026-11-30T00:00:00Z|no|2|1|1|2026-11-29T23:59:00Z|0|0|23|no",
		"李雷|lead|away|2026-11-30T00:00:00Z|'=1+1, 数据库|2|1|90000||",
		"Ann \"A\",\nthe second|operator|on|||0||||",
		"'@law|0||",
	)
	if len(offline) != len(online)-1 || !slices.Contains(alone, "(no skill)|0||2026-11-29T23:59:00Z") {
		t.Errorf("%d rows online, %d offline; without skills %q", len(online), len(offline), alone)
	}
	if err := b.WriteCSV(full{}, human.DeskState{}, zone); err == nil {
		t.Error("a table that could not be written is no error")
	}
}

// A full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }
