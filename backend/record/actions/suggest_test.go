package actions_test

import (
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

var checklist = []string{
	"Open Signer and log in", "Find contract K-0417", "Check that both signatures are green",
	"Export as PDF/A with the audit page", "Save to ~/contracts/2026/", "Close Signer",
}

var zhChecklist = []string{
	"打开 Signer 并登录", "查找合同 K-0417", "检查两个签名是否为绿色", "导出带审计页的 PDF/A", "保存到 ~/contracts/2026/", "关闭 Signer",
}

func TestAStepIsSuggestedOnlyWhereAnActionSpeaksForIt(t *testing.T) {
	other := func() *tape { return record().window("w0", "Desktop", "Files", 3) }
	row := human.Element{Role: "row", Name: "K-0417"}
	open := other().opened("w1", "Signer", "Signer", 7).window("w1", "Signer", "Signer", 7)
	for name, tt := range map[string]struct {
		steps []string
		tape  *tape
		step  int // -1: none
	}{
		"the program was opened":                    {checklist, open, 0},
		"its number was typed into the search":      {checklist, signer().focus(search).types("K-0417"), 1},
		"its row was clicked":                       {checklist, signer().click(20, 20).on(row), 1},
		"the menu item says export":                 {checklist, signer().click(20, 20).on(exportAs), 3},
		"a file came to be in the folder":           {checklist, signer().file("created", "/home/mei/contracts/2026/K-0417.pdf", ""), 4},
		"a file came to be elsewhere":               {checklist, signer().file("created", "/home/mei/contracts/2025/x.pdf", ""), -1},
		"the program was closed":                    {checklist, signer().closed("w1", "Contracts - Signer", "Signer", 7), 5},
		"another program was closed":                {checklist, record().window("w2", "Inbox", "Mail", 8).closed("w2", "Inbox", "Mail", 8), -1},
		"a button that shares a small word":         {checklist, signer().click(20, 20).on(human.Element{Role: "button", Name: "Page setup"}), -1},
		"something else was typed":                  {checklist, signer().focus(user).types("mei"), -1},
		"another contract was clicked":              {checklist, signer().click(20, 20).on(human.Element{Role: "row", Name: "K-0420"}), -1},
		"switching to the program is not closing":   {checklist, other().window("w1", "Signer", "Signer", 7), -1},
		"one that is ticked is not suggested":       {checklist, signer().focus(search).types("K-0417").tick(1, true), -1},
		"nor again, once it is ticked":              {checklist, signer().focus(search).types("K-0417").tick(1, true).wait(2000).click(20, 20).on(row), -1},
		"a right click on it does not do it":        {checklist, signer().press(3, 20, 20).release(3, 20, 20).on(row), -1},
		"two steps that fit alike: neither":         {[]string{"Export the report", "Export the invoice"}, signer().click(20, 20).on(human.Element{Role: "button", Name: "Export"}), -1},
		"打开了程序":                                     {zhChecklist, open, 0},
		"输入了编号":                                     {zhChecklist, signer().focus(search).types("K-0417"), 1},
		"点了导出":                                      {zhChecklist, signer().click(20, 20).on(human.Element{Role: "menuitem", Name: "导出为…"}), 3},
		"文件保存到了文件夹":                                 {zhChecklist, signer().file("created", "/home/mei/contracts/2026/K-0417.pdf", ""), 4},
		"关闭了程序":                                     {zhChecklist, signer().closed("w1", "Signer", "Signer", 7), 5},
		"点了无关的按钮":                                   {zhChecklist, signer().click(20, 20).on(human.Element{Role: "button", Name: "页面设置"}), -1},
		"an empty checklist":                        {nil, open, -1},
		"a checklist of nothing but small words":    {[]string{"then the", ""}, open, -1},
		"what the operator masked is not spoken of": {checklist, signer().focus(search).types("K-0417"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := actions.Suggest(tt.steps, tt.tape.actions("en"))
			switch {
			case tt.step < 0 && len(got) > 0:
				t.Errorf("step %q is suggested", tt.steps[got[0].Step])
			case tt.step >= 0 && (len(got) != 1 || got[0].Step != tt.step):
				t.Errorf("suggestions %+v, want step %d %q", got, tt.step, tt.steps[tt.step])
			}
		})
	}
	masked := actions.Apply(signer().focus(search).types("K-0417").actions("en"), human.Edits{MaskedTexts: []string{"a3"}}, "en")
	if got := actions.Suggest(checklist, masked); len(got) > 0 {
		t.Errorf("a masked action is suggested: %+v", got)
	}
}

func TestTheWholeOfTheWork(t *testing.T) {
	tape := record().window("w0", "Desktop", "Files", 3).opened("w1", "Signer", "Signer", 7).window("w1", "Signer", "Signer", 7).
		focus(user).types("mei").focus(password).hidden(8, "password").click(20, 20).on(logIn).tick(0, true).
		focus(search).types("K-0417").key("Enter").wait(900).click(150, 150).on(human.Element{Role: "row", Name: "K-0417"}).tick(1, true).
		scroll(200, 200, 3).tick(2, true).wait(900).
		click(20, 20).on(menuFile).wait(900).click(20, 60).on(exportAs).opened("d2", "Export", "Signer", 7).window("d2", "Export", "Signer", 7)
	got := actions.Suggest(checklist, tape.actions("en"))
	if len(got) != 1 || got[0].Step != 3 {
		t.Fatalf("after the export was chosen: %+v, want step 3 alone", got)
	}
}

func TestAnOutcomeIsWatched(t *testing.T) {
	folders := []string{"/home/mei/contracts"}
	const outcome = "A PDF/A file of 14 pages, the last one the audit page, in ~/contracts/2026/."
	for name, tt := range map[string]struct {
		outcome, op, path string
		want              bool
	}{
		"a file in the folder it names":        {outcome, "created", "/home/mei/contracts/2026/K-0417.pdf", true},
		"saved there":                          {outcome, "changed", "/home/mei/contracts/2026/K-0417.pdf", true},
		"deleted there":                        {outcome, "deleted", "/home/mei/contracts/2026/K-0417.pdf", false},
		"another kind of file":                 {outcome, "created", "/home/mei/contracts/2026/notes.txt", false},
		"another folder":                       {outcome, "created", "/home/mei/contracts/2025/K-0417.pdf", false},
		"a folder in it":                       {outcome, "created", "/home/mei/contracts/2026/more/K-0417.pdf", false},
		"the file itself":                      {"report.csv has 12 rows", "created", "/home/mei/contracts/2026/report.csv", true},
		"another file":                         {"report.csv has 12 rows", "created", "/home/mei/contracts/2026/report-old.csv", false},
		"a path in a folder that is watched":   {"2026/report.csv has 12 rows", "created", "/home/mei/contracts/2026/report.csv", true},
		"an absolute path":                     {"see /srv/out/a.txt", "created", "/srv/out/a.txt", true},
		"an outcome that names no file at all": {"Both signatures are green", "created", "/home/mei/contracts/2026/K-0417.pdf", false},
		"文件夹":                                  {"~/contracts/2026/ 中出现一个 PDF 文件", "created", "/home/mei/contracts/2026/K-0417.pdf", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := actions.Watched(tt.outcome, folders, signer().file(tt.op, tt.path, "").actions("en"))
			if ok != tt.want || ok && (got.Step != -1 || got.ActionID != "a2") {
				t.Errorf("found %v %+v, want %v", ok, got, tt.want)
			}
		})
	}
}

// BenchmarkSuggest is what a live view pays for after half a day without a tick.
func BenchmarkSuggest(b *testing.B) {
	list := derive(million(500_000))
	b.ReportAllocs()
	for b.Loop() {
		actions.Suggest(checklist, list)
	}
	b.ReportMetric(float64(len(list)), "actions")
}

func TestStepsInABrowserAreSuggested(t *testing.T) {
	steps := []string{"Open the vendor console", "Go to Billing", "Search for K-0417", "Choose Germany as country", "Tick the terms", "Upload cv.pdf", "Download prices-2026.csv", "Read the plan name", "Confirm the deletion of K-0417"}
	zh := []string{"打开 console.vendor.example", "前往 Billing", "搜索 K-0417", "在 Country 中选择 Germany", "勾选 Terms", "上传 cv.pdf", "下载 prices-2026.csv", "提取 plan_name"}
	for name, tt := range map[string]struct {
		surf *surf
		step int // -1: none
	}{
		"a page was opened":               {browse(), 0},
		"a link was clicked":              {blankTab().click(billing), 1},
		"a number was typed":              {blankTab().input(field, "K-0417"), 2},
		"an option was chosen":            {blankTab().choice(country, "Germany"), 3},
		"a box was ticked":                {blankTab().choice(terms, "checked"), 4},
		"a file was uploaded":             {blankTab().file(human.PageUpload, &cv, "cv.pdf", ""), 5},
		"a file was downloaded":           {blankTab().file(human.PageDownload, nil, "prices-2026.csv", "completed"), 6},
		"a download that was canceled":    {blankTab().file(human.PageDownload, nil, "prices-2026.csv", "canceled"), -1},
		"another file":                    {blankTab().file(human.PageDownload, nil, "prices-2025.csv", "completed"), -1},
		"a field was picked":              {blankTab().pick("plan_name", "Scale 2026", plan), 7},
		"a page that could not be opened": {blankTab().in("t1", "", quotaURL, "").event(human.RecordedEvent{Type: human.PageNavigated, Browsing: human.Browsing{Navigation: &human.Navigation{Kind: "address", Failed: "net::ERR"}}}), -1},
		"another option was chosen":       {blankTab().choice(born, "2026-11-21"), -1},
	} {
		t.Run(name, func(t *testing.T) {
			for lang, steps := range map[string][]string{"en": steps, "zh-CN": zh} {
				got := actions.Suggest(steps, tt.surf.actions(lang))
				switch {
				case tt.step < 0 && len(got) > 0:
					t.Errorf("step %q is suggested", steps[got[0].Step])
				case tt.step >= 0 && (len(got) != 1 || got[0].Step != tt.step):
					t.Errorf("suggestions %+v, want step %d %q", got, tt.step, steps[tt.step])
				}
			}
		})
	}
}

func TestADownloadIsWatchedFor(t *testing.T) {
	list := blankTab().file(human.PageDownload, nil, "prices-2026.csv", "completed").actions("en")
	if got, ok := actions.Watched("prices-2026.csv is there", nil, list); !ok || got.ActionID != list[0].ID {
		t.Errorf("found %v %+v", ok, got)
	}
	if _, ok := actions.Watched("prices-2025.csv is there", nil, list); ok {
		t.Error("another file is found")
	}
}

// blankTab is a tab of which nothing is known but that it is there.
func blankTab() *surf {
	s := &surf{tape: record(), page: human.WebPage{Target: "t1", URL: "https://x.example/"}}
	return s.event(human.RecordedEvent{Type: human.PageShown})
}
