// Package board says how a team and its queue stand, for whoever leads it.
package board

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/routing"
)

// Bounds of what a board has.
const (
	weeks        = 8
	mostProjects = 8
	mostClaims   = 20
	mostPages    = 20 // of queue.MaxPage operations each, of those that are open and of today's answers
	mostText     = 200
)

// A State is whether a member works now.
type State string

// The states. Who is on may have no desk that is connected.
const (
	On   State = "on"
	Away State = "away"
	Off  State = "off" // outside of their hours
)

// A TeamBoard is how a team and its queue stand.
type TeamBoard struct {
	At            time.Time     `json:"at"`
	Claimed       int           `json:"claimed" doc:"Open requests that someone has claimed."`
	Waiting       int           `json:"waiting" doc:"The other open requests."`
	Overdue       int           `json:"overdue" doc:"Open requests whose time limit has passed."`
	OverdueSince  *time.Time    `json:"overdue_since,omitempty" doc:"When the first of those limits passed."`
	Approvals     int           `json:"approvals" doc:"Open requests that one person has approved and another has to."`
	ApprovalsMine int           `json:"approvals_mine" doc:"Those that you can approve."`
	People        []TeamPerson  `json:"people"`
	Skills        []TeamSkill   `json:"skills" doc:"Every skill that a member has or a rule asks for; last, with an empty name, the requests that need none."`
	Weeks         []TeamWeek    `json:"weeks" doc:"All requests of the last 8 weeks, which begin on Mondays; the last week is the present one."`
	Projects      []TeamProject `json:"projects" doc:"Those with the most requests in these weeks, at most 8."`
	Claims        []TeamClaim   `json:"claims" doc:"What is claimed, handed over, approved once or overdue: the overdue first, then what waits for you; at most 20."`
	ClaimsAll     int           `json:"claims_all" doc:"How many there are of those."`
	Partial       bool          `json:"partial,omitempty" doc:"There are more open requests, or answers today, than are counted here: the 10,000 most urgent, and the latest 10,000."`
}

// A TeamPerson is a member, and what they do.
type TeamPerson struct {
	routing.Member
	State     State      `json:"state,omitempty" enum:"on,away,off" doc:"Absent for those who are not asked: agents and auditors."`
	AwayUntil *time.Time `json:"away_until,omitempty"`
	Connected bool       `json:"connected" doc:"One of their desks is; false of auditors, who do not say so."`
	LastSeen  *time.Time `json:"last_seen,omitempty" doc:"When one of their desks last was; absent: not since this desk was started."`
	Claims    int        `json:"claims" doc:"Open requests that they have claimed."`
	Answered  int        `json:"answered" doc:"Requests that they answered or declined today."`
	MedianMS  int64      `json:"median_ms,omitempty" doc:"From request to answer, in milliseconds; absent without answers today."`
}

// A TeamSkill is how the queue stands for those who have a skill.
type TeamSkill struct {
	Name    string     `json:"name"`
	Waiting int        `json:"waiting" doc:"Requests that need it and no one has claimed."`
	On      int        `json:"on" doc:"Who has it, works now and is connected."`
	Oldest  *time.Time `json:"oldest,omitempty" doc:"When the first of those that wait was made."`
}

// A TeamWeek has the figures of one week.
type TeamWeek struct {
	From     time.Time   `json:"from"`
	Requests int         `json:"requests"`
	Overdue  int         `json:"overdue"`
	See      queue.Times `json:"see"`
	Answer   queue.Times `json:"answer"`
}

// A TeamProject has the weeks of one project.
type TeamProject struct {
	Name  string     `json:"name" doc:"Empty where requests name none."`
	Weeks []TeamWeek `json:"weeks"`
}

// A TeamClaim is an open request that someone has, or that is overdue.
type TeamClaim struct {
	ID          human.OperationID `json:"operation_id"`
	Kind        human.Kind        `json:"action_type"`
	Description string            `json:"description" doc:"Its beginning."`
	CreatedAt   time.Time         `json:"created_at"`
	ExpiresAt   *time.Time        `json:"expires_at,omitempty"`
	Overdue     bool              `json:"overdue"`
	ClaimedBy   string            `json:"claimed_by,omitempty"`
	HandOver    *human.HandOver   `json:"hand_over,omitempty"`
	ApprovedBy  string            `json:"approved_by,omitempty" doc:"Who gave the first of two approvals."`
	Mine        bool              `json:"mine" doc:"It waits for you: it was handed over to you, or you can give the second approval."`
}

// Queue is what a board is made of; *queue.Queue is one.
type Queue interface {
	List(ctx context.Context, by human.Actor, f queue.Filter) (queue.Page, error)
	Statistics(ctx context.Context, by human.Actor, f queue.Filter) (queue.HistoryStatistics, error)
}

// A Source is what a board is made of, and for whom.
type Source struct {
	Queue Queue
	Rules routing.Rules
	Team  routing.Team
	By    human.Actor
	Now   time.Time // its location says when days and weeks begin
}

// Board makes a board. It reads the open requests and today's answers.
func (s Source) Board(ctx context.Context) (TeamBoard, error) {
	b := TeamBoard{At: s.Now.UTC(), Claims: []TeamClaim{}}
	b.People = s.people()
	b.Skills = s.skills(b.People)
	for _, each := range []func(context.Context, *TeamBoard) error{s.open, s.today, s.history} {
		if err := each(ctx, &b); err != nil {
			return TeamBoard{}, err
		}
	}
	return b, nil
}

func (s Source) people() []TeamPerson {
	people := []TeamPerson{}
	for _, m := range s.Team.Members {
		p := TeamPerson{Member: m}
		if there, said := s.Team.Presence[m.Name]; said {
			p.Connected, p.LastSeen = there.Connected, &there.LastSeen
			if there.AwayUntil.After(s.Now) {
				p.AwayUntil = &there.AwayUntil
			}
		}
		switch {
		case m.Role != routing.Operator && m.Role != routing.Lead:
		case !m.Works(s.Now):
			p.State = Off
		case p.AwayUntil != nil:
			p.State = Away
		default:
			p.State = On
		}
		people = append(people, p)
	}
	return people
}

// skills has a row for each skill, with who is on, by name.
func (s Source) skills(people []TeamPerson) []TeamSkill {
	var names []string
	for _, p := range people {
		if p.State != "" {
			names = append(names, p.Skills...)
		}
	}
	for _, r := range s.Rules.Rules {
		if r.Skill != "" {
			names = append(names, r.Skill)
		}
	}
	slices.SortFunc(names, strings.Compare)
	skills := []TeamSkill{}
	for _, name := range append(slices.Compact(names), "") {
		skill := TeamSkill{Name: name}
		for _, p := range people {
			if p.State == On && p.Connected && (name == "" || slices.Contains(p.Skills, name)) {
				skill.On++
			}
		}
		skills = append(skills, skill)
	}
	return skills
}

// pages calls each for all operations of a list, or as many as a board reads; cut says that there are more.
func (s Source) pages(ctx context.Context, f queue.Filter, each func(human.Operation)) (cut bool, err error) {
	f.Limit = queue.MaxPage
	for range mostPages {
		page, err := s.Queue.List(ctx, s.By, f)
		if err != nil {
			return false, err
		}
		for _, op := range page.Operations {
			each(op)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return false, nil
		}
	}
	return true, nil
}

// open counts the open requests.
func (s Source) open(ctx context.Context, b *TeamBoard) error {
	cut, err := s.pages(ctx, queue.Filter{Open: true, Order: queue.Urgent}, func(op human.Operation) {
		if op.ClaimedBy == "" {
			b.Waiting++
			skill := s.Rules.Skill(routing.AskOf(op, s.Now))
			row := &b.Skills[slices.IndexFunc(b.Skills, func(t TeamSkill) bool { return t.Name == skill })]
			row.Waiting++
			row.Oldest = earlier(row.Oldest, &op.CreatedAt)
		} else {
			b.Claimed++
			if i := slices.IndexFunc(b.People, func(p TeamPerson) bool { return p.Name == op.ClaimedBy }); i >= 0 {
				b.People[i].Claims++
			}
		}
		if op.Overdue {
			b.Overdue++
			b.OverdueSince = earlier(b.OverdueSince, op.ExpiresAt)
		}
		c := s.claim(op)
		if c.ApprovedBy != "" {
			b.Approvals++
			if c.ApprovedBy != s.By.Name && op.RequestedBy != s.By.Name {
				b.ApprovalsMine++
				c.Mine = true
			}
		}
		if c.ClaimedBy != "" || c.ApprovedBy != "" || c.Overdue {
			b.Claims = append(b.Claims, c)
		}
	})
	b.Partial = b.Partial || cut
	slices.SortStableFunc(b.Claims, func(a, c TeamClaim) int {
		return cmp.Or(cmp.Compare(a.rank(), c.rank()), a.since().Compare(c.since()))
	})
	b.ClaimsAll = len(b.Claims)
	b.Claims = b.Claims[:min(mostClaims, len(b.Claims))]
	return err
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func (s Source) claim(op human.Operation) TeamClaim {
	c := TeamClaim{
		ID: op.ID, Kind: op.Kind, Description: human.Shorten(op.Description, mostText), CreatedAt: op.CreatedAt, ExpiresAt: op.ExpiresAt, Overdue: op.Overdue,
		ClaimedBy: op.ClaimedBy, HandOver: op.HandOver, Mine: op.HandOver != nil && op.HandOver.To == s.By.Name,
	}
	if first := op.FirstApproval(s.Now); first != nil && op.ApprovalsNeeded > 1 {
		c.ApprovedBy = first.By.Name
	}
	return c
}

func (c TeamClaim) rank() int {
	switch {
	case c.Overdue:
		return 0
	case c.Mine:
		return 1
	case c.HandOver != nil || c.ApprovedBy != "":
		return 2
	}
	return 3
}

// since is when it became overdue, or else was made.
func (c TeamClaim) since() time.Time {
	if c.Overdue && c.ExpiresAt != nil {
		return *c.ExpiresAt
	}
	return c.CreatedAt
}

// day is the beginning of a day of the calendar, so many days after today.
func (s Source) day(after int) time.Time {
	y, m, d := s.Now.Date()
	return time.Date(y, m, d+after, 0, 0, 0, 0, s.Now.Location())
}

// today counts who answered what today.
func (s Source) today(ctx context.Context, b *TeamBoard) error {
	took := map[string][]int64{}
	since := s.day(0)
	cut, err := s.pages(ctx, queue.Filter{Since: since, States: []human.State{human.Completed, human.Declined}, Order: queue.Recent}, func(op human.Operation) {
		var by human.Actor
		switch {
		case op.Import != nil || op.EndedAt().Before(since):
			return
		case op.Result != nil:
			by = op.Result.By
		case op.Ended != nil:
			by = op.Ended.By
		}
		took[by.Name] = append(took[by.Name], op.EndedAt().Sub(op.CreatedAt).Milliseconds())
	})
	for i := range b.People {
		p := &b.People[i]
		if times := took[p.Name]; len(times) > 0 {
			slices.Sort(times)
			p.Answered, p.MedianMS = len(times), times[(len(times)-1)/2]
		}
	}
	b.Partial = b.Partial || cut
	return err
}

// history counts the weeks.
func (s Source) history(ctx context.Context, b *TeamBoard) error {
	monday := -(int(s.Now.Weekday()) + 6) % 7
	projects := map[string][]TeamWeek{}
	requests := map[string]int{}
	for i := range weeks {
		from := s.day(monday - 7*(weeks-1-i))
		week := func(f queue.Figures) TeamWeek {
			return TeamWeek{From: from.UTC(), Requests: f.Requests, Overdue: f.Overdue, See: f.See, Answer: f.Answer}
		}
		st, err := s.Queue.Statistics(ctx, s.By, queue.Filter{When: queue.When{From: from, To: from.AddDate(0, 0, 7), Zone: s.Now.Location()}})
		if err != nil {
			return err
		}
		b.Weeks = append(b.Weeks, week(st.Figures))
		for _, p := range st.Projects {
			if projects[p.Name] == nil {
				projects[p.Name] = make([]TeamWeek, weeks)
			}
			projects[p.Name][i] = week(p.Figures)
			requests[p.Name] += p.Requests
		}
	}
	b.Projects = []TeamProject{}
	for name, of := range projects {
		for i := range of {
			of[i].From = b.Weeks[i].From
		}
		b.Projects = append(b.Projects, TeamProject{Name: name, Weeks: of})
	}
	slices.SortFunc(b.Projects, func(a, c TeamProject) int {
		return cmp.Or(cmp.Compare(requests[c.Name], requests[a.Name]), strings.Compare(a.Name, c.Name))
	})
	b.Projects = b.Projects[:min(mostProjects, len(b.Projects))]
	return nil
}
