package summarizers_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

var rec = human.RecordingID("rec_1")

func action(id string) human.Ref {
	return human.Ref{Kind: human.RefAction, Recording: rec, ID: id}
}

func one(n int) *int { return &n }

// worked is an operation as a person may have done it, with something of every kind of evidence.
func worked() summarizers.Input {
	sec := int64(1e9)
	return summarizers.Input{
		Version: 1, Language: "en",
		Operation: human.Operation{
			ID: "op_1", Kind: human.Browser, Description: "Read the plan's limits, by 21 Nov 2026",
			Details:  json.RawMessage(`{"url":"https://example.test/plans?id=77","expected_outcome":"12 000 seats","data_to_extract":["seats","price","owner"],"budget":12000000}`),
			Messages: []human.Message{{By: human.Actor{Role: human.Agent, Name: "scout"}, Text: "Only plan B-7, please"}},
		},
		Answer: human.Answer{
			HumanInput: "The page said “Try again later” twice", ExecutionResult: "done", Decision: human.Approved,
			Fields:       map[string]string{"seats": "12,000,000", "price": "0.00042 USD", "owner": ""},
			FieldSources: map[string]human.FieldSource{"seats": {Recording: rec, Action: "a5", Picked: "1200万", Picture: "p9"}},
		},
		Checklist: []summarizers.Step{{Text: "Open the page", Done: true}, {Text: "Read 3 values"}},
		Recordings: []summarizers.Recorded{{
			Recording: human.Recording{ID: rec, StartedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Elapsed: 200 * sec, Span: 260 * sec},
			Actions: []human.Action{
				{ID: "a1", Type: human.Navigate, At: 2 * sec, End: 3 * sec, Words: "Opened Plans", Page: &human.WebPage{Target: "t1", URL: "https://example.test/plans?id=77", Title: "Plans – Example"}, Navigation: &human.Navigation{Kind: "address", Status: 503}, After: "p1"},
				{ID: "a2", Type: human.Click, At: 20 * sec, End: 20 * sec, Words: "Clicked button Retry", Element: &human.Element{Role: "button", Name: "Retry"}, Before: "p1", After: "p2"},
				{ID: "a3", Type: human.Click, At: 43 * sec, End: 43 * sec, Words: "Clicked button Retry", Element: &human.Element{Role: "button", Name: "Retry"}},
				{ID: "a4", Type: human.DialogEnded, At: 45 * sec, End: 46 * sec, Words: "Accepted a message", Dialog: &human.Dialog{Kind: "alert", Message: "Your  quota is 70 % used\n(84 of 120)", Accepted: true}},
				{ID: "a5", Type: human.Extract, At: 103 * sec, End: 103 * sec, Words: "Took seats", Pick: &human.Pick{Field: "seats", Take: "table", Header: true, Rows: [][]string{{"Plan", "Seats", "Since"}, {"A", "1,250", "2024-03-05"}, {"B-7", "12,000,000", "三百零五"}}}, Step: one(1)},
				{ID: "a6", Type: human.Download, At: 110 * sec, End: 180 * sec, Words: "Downloaded limits.csv", Transfers: []human.Transfer{{Name: "limits.csv", Size: 12_345_678, Hash: "ab1cd"}}},
				{ID: "a7", Type: human.FileOperation, At: 190 * sec, End: 190 * sec, Words: "Renamed", File: &human.FileChange{Op: "renamed", Path: `C:\Users\ann\limits.csv`, To: "/home/ann/plans/limits v2.csv"}},
				{ID: "a8", Type: human.Click, Cut: true, Words: "Clicked 4711"},
			},
			Commands: []summarizers.Command{{ID: "c1", At: 1, End: 3 * sec, Line: "curl -v https://example.test", Exit: one(22), Output: "error: 503 Service Unavailable\nretry after 90 seconds"}},
		}},
	}
}

func check(in summarizers.Input, text string, refs ...human.Ref) ([]human.Finding, []human.Dropped) {
	r, dropped := summarizers.Check(in, human.Report{Findings: []human.Finding{{Kind: human.FoundNote, Text: text, Evidence: refs, Confidence: 1}}})
	return r.Findings, dropped
}

func field(name string) human.Ref { return human.Ref{Kind: human.RefField, ID: name} }

func request(part string) human.Ref { return human.Ref{Kind: human.RefRequest, ID: part} }

func TestWhatStandsOnItsEvidence(t *testing.T) {
	in := worked()
	for text, refs := range map[string][]human.Ref{
		// Numbers, as people write them.
		"There are 12,000,000 seats":                     {action("a5")},
		"There are 12000000 seats":                       {field("seats")},
		"There are 12 million seats":                     {field("seats")},
		"There are 12 000 000 seats":                     {field("seats")},
		"There are 12.000.000 seats":                     {field("seats")},
		"There are 1.2e7 or 1.2×10^7 seats":              {field("seats")},
		"席位共 1200万，即 1,200 万或一千二百万个":                     {field("seats")},
		"The budget is 12M, or 12000k":                   {request("budget")},
		"It costs 0.00042 USD":                           {field("price")},
		"It costs 4.2e-4":                                {field("price")},
		"Plan A has 1250 seats since 5 March 2024":       {action("a5")},
		"Since March 5, 2024, or 5.3.2024, or 2024年3月5日": {action("a5")},
		"Since 2024, in March 2024":                      {action("a5")},
		"It has 305":                                     {action("a5")},
		"12,000 seats were expected":                     {request("expected_outcome")},
		"The deadline is 2026-11-21":                     {request("description")},
		"The deadline is Nov 21":                         {request("description")},
		"The quota is 70% used":                          {action("a4")},
		"已用百分之七十，即 70 percent":                           {action("a4")},
		"The page answered 503":                          {action("a1")},
		"The command ended with 22 after 3 s":            {{Kind: human.RefCommand, Recording: rec, ID: "c1"}},
		"It asks to wait 1.5 min":                        {{Kind: human.RefCommand, Recording: rec, ID: "c1"}},
		"plan b-7 was asked for":                         {{Kind: human.RefMessage, ID: "0"}},
		"Step 2 was not done; 1 of 2 is":                 {{Kind: human.RefStep, ID: "1"}},
		"Of 3 fields 2 were filled in and 1 was not":     {request("data_to_extract")},
		// What follows from it.
		"Two clicks":                                {action("a2"), action("a3")},
		"Clicked twice, 23 s apart":                 {action("a2"), action("a3")},
		"点击了两次，相隔 23 秒":                             {action("a2"), action("a3")},
		"The 2nd attempt failed":                    {action("a2"), action("a3")},
		"第二次仍然失败":                                   {action("a2"), action("a3")},
		"3 rows and 3 columns, 2 without header":    {action("a5")},
		"三行三列":                                      {action("a5")},
		"It took from 00:02 to 01:43":               {action("a1"), action("a5")},
		"It took 1 min 41 s":                        {action("a1"), action("a5")},
		"It took 1分41秒, about 100 seconds":          {action("a1"), action("a5")},
		"Downloading took 70 s, a little over 1:10": {action("a6")},
		"It is 12.3 MB, 11.8 MiB or 12345678 bytes": {action("a6")},
		"12 MB came":                                {action("a6")},
		"That is 70.0%, up by 43 %":                 {action("a4")},
		// Quoted texts.
		`It said "Your quota is 70 % used"`:              {action("a4")},
		"It said “Your quota is 70 % used (84 of 120)”":  {action("a4")},
		"提示「Your quota … (84 of 120)」":                   {action("a4")},
		"Pressed 'Retry', which isn't right":             {action("a2")},
		"Wrote `limits v2.csv` from \"limits.csv.\"":     {action("a7")},
		"They said “Try again later” twice":              {{Kind: human.RefAnswer, ID: "human_input"}},
		"The picture shows “Plans - Example”":            nil,
		"The window is called “Plans – Example”":         {{Kind: human.RefPicture, Recording: rec, ID: "p1"}},
		"It was “approve”":                               {{Kind: human.RefAnswer, ID: "decision"}},
		"“1200万” was corrected":                          {{Kind: human.RefPicture, Recording: rec, ID: "p9"}},
		"Nothing is counted here, 一些 of it 十分 important": {action("a2")},
	} {
		if refs == nil {
			continue
		}
		if kept, dropped := check(in, text, refs...); len(kept) != 1 {
			t.Errorf("%q was dropped: %+v", text, dropped)
		}
	}
}

// Texts of pages have quotation marks that pair with nothing, or with one of another text.
func TestMarksOfTheEvidenceItselfQuoteNothing(t *testing.T) {
	in := worked()
	in.Answer.HumanInput = `The 5" disk failed, the 3.5" disk did not`
	ref := human.Ref{Kind: human.RefAnswer, ID: "human_input"}
	for text, stands := range map[string]bool{
		`Noted: The 5" disk failed, and the 3.5" disk did not`:  true,
		`Noted: The 5" disk failed`:                             true,
		`Noted: The "disk" and the 5" disk`:                     true,
		`Noted: The "lost disk" and the 5" disk`:                false,
		`The 5" disk said "it works" and the 3.5" disk did not`: false,
	} {
		if kept, dropped := check(in, text, ref); (len(kept) == 1) != stands {
			t.Errorf("%q: %+v", text, dropped)
		}
	}
}

func TestWhatDoesNotStand(t *testing.T) {
	in := worked()
	for text, refs := range map[string][]human.Ref{
		"No evidence":                              {},
		"An action that is not there":              {action("a99")},
		"One that was cut":                         {action("a8")},
		"A right one and a wrong one":              {action("a1"), action("a99")},
		"Of another recording":                     {{Kind: human.RefAction, Recording: "rec_2", ID: "a1"}},
		"An index with a sign":                     {{Kind: human.RefStep, ID: "+1"}},
		"An index too large":                       {{Kind: human.RefMessage, ID: "1"}},
		"A field that is not there":                {field("seat")},
		"A part that is not there":                 {request("Budget")},
		"No such kind":                             {{Kind: "rumour", ID: "x"}},
		"An empty picture":                         {{Kind: human.RefPicture, Recording: rec}},
		"There are 12,000,001 seats":               {field("seats")},
		"There are 12 billion seats":               {field("seats")},
		"There are 12 seats":                       {field("seats")},
		"席位共 1300万":                                {field("seats")},
		"It costs 0.0042 USD":                      {field("price")},
		"Since 2024-03-06":                         {action("a5")},
		"Since April 2024":                         {action("a5")},
		"Clicked 3 times":                          {action("a2"), action("a3")},
		"点击了三次":                                    {action("a2"), action("a3")},
		"Clicked five times":                       {action("a2"), action("a3")},
		"23 minutes apart":                         {action("a2"), action("a3")},
		"29 s apart":                               {action("a2"), action("a3")},
		"The 4th attempt failed":                   {action("a2"), action("a3")},
		"It is 12.4 MB":                            {action("a6")},
		"It is 12 GB":                              {action("a6")},
		"The quota is 71 % used":                   {action("a4")},
		"The page answered 404":                    {action("a1")},
		`It said "Your quota is used"`:             {action("a4")},
		`It said "Your quot"`:                      {action("a4")},
		"提示「配额已满」":                                 {action("a4")},
		"Pressed 'Retry now'":                      {action("a2")},
		"Pressed ‘retry’":                          {action("a2")},
		"It said “Retry Clicked button Retry”":     {action("a2")},
		"Went to https://example.test/plans?id=78": {action("a1")},
		"":                  {action("a1")},
		"\u202e\u200b \x07": {action("a1")},
	} {
		kept, dropped := check(in, text, refs...)
		if len(kept) != 0 || len(dropped) != 1 || dropped[0].Why == "" {
			t.Errorf("%q stands on %v (%+v)", text, refs, dropped)
		}
	}
	if kept, _ := check(in, "It is not a kind", action("a1")); len(kept) != 1 {
		t.Fatal("the rest of the test shows nothing")
	}
	if r, dropped := summarizers.Check(in, human.Report{Findings: []human.Finding{{Kind: "hunch", Text: "x", Evidence: []human.Ref{action("a1")}}}}); len(r.Findings) != 0 || len(dropped) != 1 {
		t.Errorf("a finding of no kind stands: %+v", r)
	}
}

func TestLineAndTextRestOnTheWholeInput(t *testing.T) {
	in := worked()
	for text, stands := range map[string]bool{
		"12,000,000 seats, read in 3:20":                                       true,
		"7 actions, 2 clicks, 1 recording, 3 fields of which 2 were filled in": true,
		"The page answered 503, then said “Your quota is 70 % used”":           true,
		"On 2026-11-21 curl ended with 22":                                     true,
		"What was read:\n\n1. seats\n2. price\n\n3. owner":                     true,
		"1. seats\n5. price":                                                   false,
		"12,000,002 seats":                                                     false,
		"It said “Access denied”":                                              false,
		"Clicked 4711":                                                         false,
	} {
		r, dropped := summarizers.Check(in, human.Report{Text: text})
		if (r.Text != "") != stands || (len(dropped) == 0) != stands {
			t.Errorf("%q: %q, %+v", text, r.Text, dropped)
		}
	}
	r, dropped := summarizers.Check(in, human.Report{Line: "Done in\n99 steps", Text: "It went well."})
	if r.Line != "" || r.Text != "It went well." || len(dropped) != 1 || dropped[0].Text != "Done in 99 steps" {
		t.Errorf("%+v %+v", r, dropped)
	}
}

func TestWhatIsLeftIsCleanAndWithinLimits(t *testing.T) {
	in := worked()
	var r human.Report
	for range summarizers.MaxFindings + 3 {
		r.Findings = append(r.Findings, human.Finding{ID: "x", Kind: human.FoundNote, Text: " It\n\x1b[m said\u202e " + strings.Repeat("so ", 300), Evidence: []human.Ref{action("a1"), action("a1")}, Confidence: 7, ByHand: true, Cut: true})
	}
	r.Suggestions = []human.Finding{{Kind: human.FoundNote, Text: strings.Repeat("x", summarizers.MaxFindingText-4) + " 12,000,000 seats", Evidence: []human.Ref{field("seats")}, Confidence: math.NaN()}}
	r.Line = strings.Repeat("行", 300)
	r.Text = "One.\r\n\r\n\r\n\u200bTwo.\t" + strings.Repeat("y", 5000)
	out, dropped := summarizers.Check(in, r)
	if len(out.Findings) != summarizers.MaxFindings || len(dropped) != 3 {
		t.Fatalf("%d findings, %d dropped", len(out.Findings), len(dropped))
	}
	f := out.Findings[39]
	if f.ID != "f40" || f.Confidence != 1 || f.ByHand || f.Cut || len(f.Evidence) != 1 || !strings.HasPrefix(f.Text, "It [m said so so") || utf8.RuneCountInString(f.Text) > summarizers.MaxFindingText {
		t.Errorf("%+v", f)
	}
	if s := out.Suggestions[0]; s.ID != "s1" || s.Confidence != 0 || strings.Contains(s.Text, "12") || !strings.HasSuffix(s.Text, "x…") {
		t.Errorf("%+v", s)
	}
	if n := utf8.RuneCountInString(out.Line); n != summarizers.MaxLine {
		t.Errorf("a line of %d", n)
	}
	if n := utf8.RuneCountInString(out.Text); n != summarizers.MaxText || !strings.HasPrefix(out.Text, "One.\n\nTwo. yy") {
		t.Errorf("a text of %d: %q", n, out.Text[:20])
	}
	again, dropped := summarizers.Check(in, out)
	if a, b := text(again), text(out); a != b || len(dropped) != 0 {
		t.Errorf("checked twice it is another:\n%s\n%s\n%+v", a, b, dropped)
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Where a picture is named, and nothing reads it, what it shows can only be what was done there.
func TestWhyIsSaidInTheLanguageAskedFor(t *testing.T) {
	in := worked()
	in.Language = "zh-CN"
	_, dropped := check(in, "共 9 项", action("a1"))
	if len(dropped) != 1 || dropped[0].Why != "依据中没有 9" {
		t.Errorf("%+v", dropped)
	}
}

func TestWhatIsDroppedIsCounted(t *testing.T) {
	var r human.Report
	for range 1000 {
		r.Findings = append(r.Findings, human.Finding{Kind: human.FoundNote, Text: "Nothing"})
	}
	_, dropped := summarizers.Check(worked(), r)
	if n := len(dropped); n != 201 || dropped[n-1].Why != "and 800 more" {
		t.Errorf("%d, %+v", n, dropped[n-1])
	}
}

func allRefs(in summarizers.Input) []human.Ref {
	refs := []human.Ref{request("description"), {Kind: human.RefAnswer, ID: "human_input"}, {Kind: human.RefAnswer, ID: "execution_result"}}
	var details map[string]json.RawMessage
	_ = json.Unmarshal(in.Operation.Details, &details)
	for part := range details {
		refs = append(refs, request(part))
	}
	for name := range in.Answer.Fields {
		refs = append(refs, field(name))
	}
	for i := range in.Checklist {
		refs = append(refs, human.Ref{Kind: human.RefStep, ID: fmt.Sprint(i)})
	}
	for i := range in.Operation.Messages {
		refs = append(refs, human.Ref{Kind: human.RefMessage, ID: fmt.Sprint(i)})
	}
	for _, r := range in.Recordings {
		for _, a := range r.Actions {
			if !a.Cut {
				refs = append(refs, human.Ref{Kind: human.RefAction, Recording: r.ID, ID: a.ID})
			}
		}
		for _, c := range r.Commands {
			refs = append(refs, human.Ref{Kind: human.RefCommand, Recording: r.ID, ID: c.ID})
		}
	}
	return refs
}

// figures are numbers as pages and people write them.
func figures() *rapid.Generator[string] {
	group := func(n int, sep string) string {
		s := fmt.Sprint(n)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + sep + s[i:]
		}
		return s
	}
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(0, 99_999_999).Draw(t, "n")
		switch rapid.IntRange(0, 9).Draw(t, "way") {
		case 0:
			return group(n, ",")
		case 1:
			return group(n, " ")
		case 2:
			return fmt.Sprintf("%.2f %%", float64(n)/1e5)
		case 3:
			return fmt.Sprintf("%d.%05d", n%100, n%100000)
		case 4:
			return fmt.Sprintf("%d万", n%100000)
		case 5:
			return fmt.Sprintf("¥%s.50", group(n, ","))
		case 6:
			return fmt.Sprintf("%04d-%02d-%02d", 1990+n%60, 1+n%12, 1+n%28)
		case 7:
			return fmt.Sprintf("%d.%d.%d", n%20, n%7, n%13)
		case 8:
			return fmt.Sprintf("INV-%d/%c", n, 'A'+n%26)
		}
		return fmt.Sprint(n)
	})
}

func pieces() *rapid.Generator[string] {
	words := rapid.SampledFrom([]string{"Save", "the file", "错误：", "Access denied", "it's", "无法连接", "Größe", "ＡＢ１２", "total", "第", "行", "\t", "  "})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "number") {
				b.WriteString(figures().Draw(t, "figure"))
			} else {
				b.WriteString(words.Draw(t, "words"))
			}
			b.WriteString(rapid.SampledFrom([]string{" ", "  ", ": ", "，"}).Draw(t, "between"))
		}
		return b.String()
	})
}

// inputs are operations with such texts everywhere.
func inputs() *rapid.Generator[summarizers.Input] {
	return rapid.Custom(func(t *rapid.T) summarizers.Input {
		in := worked()
		say := func() string { return pieces().Draw(t, "text") }
		in.Operation.Description, in.Answer.HumanInput = say(), say()
		in.Operation.Messages[0].Text, in.Checklist[1].Text = say(), say()
		in.Answer.Fields["seats"] = say()
		for i := range in.Recordings[0].Actions {
			a := &in.Recordings[0].Actions[i]
			a.Words = say()
			a.At = rapid.Int64Range(0, 1e13).Draw(t, "at")
			a.End = a.At + rapid.Int64Range(0, 1e12).Draw(t, "took")
			if a.Element != nil {
				a.Element.Name = say()
			}
			if a.Dialog != nil {
				a.Dialog.Message = say()
			}
			if a.Pick != nil {
				a.Pick.Rows[1][1] = say()
			}
			for j := range a.Transfers {
				a.Transfers[j].Size = rapid.Int64Range(1, 1e13).Draw(t, "size")
			}
		}
		in.Recordings[0].Commands[0].Output = say() + "\n" + say()
		return in
	})
}

func TestAFindingOfPiecesOfItsEvidenceStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "input")
		refs := rapid.SliceOfNDistinct(rapid.SampledFrom(allRefs(in)), 1, 4, func(r human.Ref) human.Ref { return r }).Draw(t, "refs")
		var said []string
		for _, ref := range refs {
			text, ok := in.Resolve(ref)
			if !ok {
				t.Fatalf("%v does not resolve", ref)
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			line := rapid.SampledFrom(lines).Draw(t, "line")
			if quote := rapid.SampledFrom([]string{"", "“”", "「」", `""`, "``"}).Draw(t, "quote"); quote != "" && !strings.ContainsAny(line, "“”") && strings.TrimSpace(line) != "" {
				r := []rune(quote)
				line = string(r[0]) + line + string(r[1])
			}
			if len(strings.Join(said, ""))+len(line) < 400 {
				said = append(said, line)
			}
		}
		text := strings.Join(said, " ; ")
		if strings.TrimSpace(text) == "" {
			return
		}
		if kept, dropped := check(in, text, refs...); len(kept) != 1 {
			t.Fatalf("%q on %v: %+v", text, refs, dropped)
		}
	})
}

func TestAChangedNumberOrQuoteFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := worked()
		n := rapid.IntRange(1000, 99_999_999).Draw(t, "n")
		wrong := rapid.IntRange(1000, 99_999_999).Filter(func(m int) bool { return m != n }).Draw(t, "wrong")
		group := func(n int) string {
			return fmt.Sprintf("%d,%03d", n/1000, n%1000) // 12345,678 is no number of groups; see below
		}
		ways := map[string]func(int) string{
			"plain":   func(n int) string { return fmt.Sprint(n) },
			"percent": func(n int) string { return fmt.Sprintf("%.3f %%", float64(n)/1e3) },
			"small":   func(n int) string { return fmt.Sprintf("0.%08d", n) },
			"名":       func(n int) string { return fmt.Sprintf("%d 万元", n) },
			"grouped": func(n int) string { return group(n % 1_000_000) },
			"id":      func(n int) string { return fmt.Sprintf("INV-%d", n) },
		}
		say := ways[rapid.SampledFrom([]string{"plain", "percent", "small", "名", "grouped", "id"}).Draw(t, "way")]
		if say(n) == say(wrong) {
			return
		}
		in.Answer.Fields["seats"] = "Total: " + say(n)
		in.Answer.FieldSources = nil
		if kept, dropped := check(in, "The total is "+say(n), field("seats")); len(kept) != 1 {
			t.Fatalf("right: %+v", dropped)
		}
		for _, text := range []string{"The total is " + say(wrong), "The field says “Total: " + say(wrong) + "”", "合计 " + say(wrong)} {
			if kept, _ := check(in, text, field("seats")); len(kept) != 0 {
				t.Fatalf("%q stands on %q", text, in.Answer.Fields["seats"])
			}
		}
		// A quoted text with one letter more, less or other.
		said := []rune(rapid.StringMatching(`[A-Za-z]{3,9}( [A-Za-z]{3,9}){0,4}`).Draw(t, "said"))
		in.Answer.HumanInput = "It said " + string(said) + " and no more"
		at := rapid.IntRange(0, len(said)-1).Draw(t, "at")
		changed := map[string]string{
			"more":  string(said[:at]) + "Q" + string(said[at:]),
			"less":  string(said[:at]) + string(said[at+1:]),
			"other": string(said[:at]) + "0" + string(said[at+1:]),
		}[rapid.SampledFrom([]string{"more", "less", "other"}).Draw(t, "change")]
		ref := human.Ref{Kind: human.RefAnswer, ID: "human_input"}
		if kept, dropped := check(in, "“"+string(said)+"”", ref); len(kept) != 1 {
			t.Fatalf("right: %+v", dropped)
		}
		if strings.Contains(in.Answer.HumanInput, changed) && !strings.Contains(changed, "Q") {
			return // a letter doubled, or a space at the end
		}
		if kept, _ := check(in, "“"+changed+"”", ref); len(kept) != 0 {
			t.Fatalf("%q stands on %q", changed, in.Answer.HumanInput)
		}
	})
}

func TestGarbageNeverPanics(t *testing.T) {
	signs := rapid.SampledFrom([]rune(`0123456789 .,:;-/'"“”「」«»` + "`" + `%年月日号第三十百千万亿零二两几次分钟小时KMBkmgsh×^e+-−⁻⁰²\n…()[]{}ａ１　Nov twhreamp` + "\u202e\u200b\x00\ufffd"))
	rapid.Check(t, func(t *rapid.T) {
		garbage := func(name string) string {
			if rapid.Bool().Draw(t, "any") {
				return rapid.String().Draw(t, name)
			}
			return string(rapid.SliceOfN(signs, 0, 60).Draw(t, name))
		}
		in := worked()
		in.Answer.HumanInput, in.Recordings[0].Actions[0].Words = garbage("input"), garbage("words")
		if rapid.Bool().Draw(t, "details") {
			in.Operation.Details = json.RawMessage(garbage("json"))
		}
		f := human.Finding{Kind: human.FoundNote, Text: garbage("text"), Evidence: []human.Ref{{Kind: human.RefAnswer, ID: "human_input"}}, Confidence: rapid.Float64().Draw(t, "c")}
		if rapid.Bool().Draw(t, "odd") {
			f.Evidence = append(f.Evidence, human.Ref{Kind: human.RefKind(garbage("kind")), Recording: human.RecordingID(garbage("rec")), ID: garbage("id")})
		}
		r, _ := summarizers.Check(in, human.Report{Line: garbage("line"), Text: garbage("long"), Findings: []human.Finding{f}, Suggestions: []human.Finding{f}})
		if again, dropped := summarizers.Check(in, r); text(again) != text(r) || len(dropped) > 0 {
			t.Fatalf("checked twice it is another:\n%s\n%s\n%+v", text(again), text(r), dropped)
		}
	})
}
