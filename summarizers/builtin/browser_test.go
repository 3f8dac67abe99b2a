package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/find"
	"deskbell/summarizers/builtin/say"
)

// A surfer makes the actions of a recording in a browser, as they are derived from one.
type surfer struct {
	in   summarizers.Input
	rec  *summarizers.Recorded
	page human.WebPage
	at   int64
	last string
}

func surf(address, title string) *surfer {
	s := &surfer{in: summarizers.Input{Version: 1, Operation: human.Operation{ID: "op_1", Kind: human.Browser, Description: "Look it up"}}}
	s.in.Recordings = []summarizers.Recorded{{Recording: human.Recording{
		ID: "rec_1", StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Elapsed: 90e9, Span: 90e9, State: human.RecordingStopped,
		Options: human.RecordingOptions{Browser: &human.BrowserOptions{}}, Complete: true,
	}}}
	s.rec = &s.in.Recordings[0]
	s.page = human.WebPage{Target: "t1", URL: address, Title: title}
	return s.add(human.Action{Type: human.OpenPage, Navigation: &human.Navigation{Kind: "address", Status: 200}})
}

func (s *surfer) asks(details string) *surfer {
	s.in.Operation.Details = json.RawMessage(details)
	return s
}

func (s *surfer) add(a human.Action) *surfer {
	s.at += 1e9
	a.ID, a.At, a.End = fmt.Sprintf("a%d", len(s.rec.Actions)+1), s.at, s.at+2e8
	if a.Page == nil {
		page := s.page
		a.Page = &page
	}
	s.rec.Actions = append(s.rec.Actions, a)
	s.last = a.ID
	return s
}

func el(role, name string) *human.Element {
	e := &human.Element{Role: role, Name: name, Tag: map[string]string{"button": "button", "link": "a", "textbox": "input/text", "searchbox": "input/search", "checkbox": "input/checkbox", "combobox": "select"}[role]}
	e.Selectors = [][]string{{"aria/" + name + "[role=\"" + role + "\"]"}}
	return e
}

func (s *surfer) click(role, name string) *surfer {
	return s.add(human.Action{Type: human.Click, Button: 1, Element: el(role, name)})
}

func (s *surfer) typed(name string, n int) *surfer {
	return s.add(human.Action{Type: human.Typing, Count: n, Element: el("textbox", name)})
}

func (s *surfer) enter(name string, n int) *surfer {
	return s.add(human.Action{Type: human.Typing, Count: n, Key: "Enter", Element: el("textbox", name)})
}

func (s *surfer) password(name string) *surfer {
	e := el("textbox", name)
	e.Secret, e.Tag = true, "input/password"
	return s.add(human.Action{Type: human.Typing, Hidden: "password", Element: e})
}

func (s *surfer) choose(name, value string) *surfer {
	return s.add(human.Action{Type: human.Choose, Values: []string{value}, Element: el("combobox", name)})
}

func (s *surfer) check(name, state string) *surfer {
	return s.add(human.Action{Type: human.Check, Values: []string{state}, Element: el("checkbox", name)})
}

// pause lets seconds pass.
// answered is what the site answered to what the page sent because of the last action.
func (s *surfer) answered(method string, status int) *surfer {
	list := s.in.Recordings[0].Actions
	a := &list[len(list)-1]
	a.Answers = append(a.Answers, human.WebAnswer{Method: method, Status: status})
	return s
}

func (s *surfer) pause(seconds int64) *surfer {
	s.at += seconds * 1e9
	return s
}

// gap leaves something out.
func (s *surfer) gap() *surfer {
	s.add(human.Action{Type: human.Missing, Gap: &human.Gap{From: s.at, To: s.at + 1e9, Reason: "paused"}})
	s.rec.Actions[len(s.rec.Actions)-1].Page = nil
	return s
}

// goes navigates; by link, form, script and history because of what was done last.
func (s *surfer) goes(kind, address, title string, status int) *surfer {
	s.page.URL, s.page.Title = address, title
	a := human.Action{Type: human.Navigate, Navigation: &human.Navigation{Kind: kind, Status: status}}
	switch kind {
	case "link", "form", "script", "history":
		a.CausedBy = s.last
	}
	return s.add(a)
}

func (s *surfer) fails(address, code string) *surfer {
	page := human.WebPage{Target: s.page.Target, URL: address}
	return s.add(human.Action{Type: human.Navigate, Page: &page, Navigation: &human.Navigation{Kind: "address", Failed: code}})
}

func (s *surfer) dialog(kind, message string, ok bool) *surfer {
	return s.add(human.Action{Type: human.DialogEnded, CausedBy: s.last, Dialog: &human.Dialog{Kind: kind, Message: message, Accepted: ok}})
}

// says has the page show a message because of what was done last.
func (s *surfer) says(message string) *surfer {
	by := s.last
	s.add(human.Action{Type: human.PageSaid, CausedBy: by, Dialog: &human.Dialog{Kind: "message", Message: message}})
	s.last = by
	return s
}

func (s *surfer) file(kind human.ActionType, name, state string, size int64) *surfer {
	t := human.Transfer{Name: name, State: state, Size: size}
	if state == "completed" {
		t.Hash = "5222cf1aebd6a7d1aa0f4cbd0a1a6b3fe7c9e6a55a0d8d9a2f3c7a0b1c2d3e4f"
	}
	return s.add(human.Action{Type: kind, Transfers: []human.Transfer{t}})
}

func (s *surfer) pick(field, text string) *surfer {
	return s.add(human.Action{Type: human.Extract, Pick: &human.Pick{Field: field, Take: human.TakeElement, Text: text}})
}

func (s *surfer) table(field string, header bool, rows ...[]string) *surfer {
	text, _ := json.Marshal(rows)
	return s.add(human.Action{Type: human.Extract, Pick: &human.Pick{Field: field, Take: human.TakeTable, Text: string(text), Rows: rows, Header: header}})
}

// answers fills in a field, as the pick made last left it or corrected by hand.
func (s *surfer) answers(field, value string, picked bool) *surfer {
	a := &s.in.Answer
	if a.Fields == nil {
		a.Fields, a.FieldSources = map[string]string{}, map[string]human.FieldSource{}
	}
	a.Fields[field] = value
	if last := s.rec.Actions[len(s.rec.Actions)-1]; picked && last.Pick != nil {
		a.FieldSources[field] = human.FieldSource{Recording: s.rec.ID, Action: last.ID, Picked: last.Pick.Text, Corrected: last.Pick.Text != value}
	}
	return s
}

const (
	login = "https://vendor.example/login"
	home  = "https://vendor.example/home"
	quota = "https://vendor.example/quota"
)

// What a summary of work in pages says, in both languages. Every one of these findings stands on its evidence.
func TestWhatIsFoundInPages(t *testing.T) {
	for name, tt := range map[string]struct {
		surfer *surfer
		en, zh []string
	}{
		"nothing but a look": {surf(quota, "Quota").add(human.Action{Type: human.Scroll, DeltaY: 4}), nil, nil},

		"a value that was picked": {
			surf(quota, "Quota").asks(`{"data_to_extract":["plan_name"]}`).pick("plan_name", "Scale 2026").answers("plan_name", "Scale 2026", true),
			[]string{"value plan_name: Scale 2026"}, []string{"value plan_name：Scale 2026"}},
		"one that is not in the answer yet": {
			surf(quota, "Quota").pick("plan_name", "Scale 2026"), []string{"value plan_name: Scale 2026"}, []string{"value plan_name：Scale 2026"}},
		"one that was corrected by hand": {
			surf(quota, "Quota").pick("used", "8,412,903 (70 %)").answers("used", "8412903", true),
			[]string{"value used: 8412903 (corrected by hand; the page had 8,412,903 (70 %))"}, []string{"value used：8412903（经手工更正，页面上是 8,412,903 (70 %)）"}},
		"a list that was corrected by hand": {
			func() *surfer {
				s := surf(quota, "Quota").add(human.Action{Type: human.Extract, Pick: &human.Pick{Field: "who", Take: human.TakeList, Text: `[["Ines"],["Bo"],["Yuki"]]`, Rows: [][]string{{"Ines"}, {"Bo"}, {"Yuki"}}}})
				return s.answers("who", `[["Ines"],["Yuki"]]`, true)
			}(),
			[]string{"value who: “Ines”, “Yuki” (corrected by hand)"}, []string{"value who：“Ines”、“Yuki”（经手工更正）"}},
		"one that was only typed": {
			surf(quota, "Quota").answers("renews", "2027-01-01", false), []string{"value renews: 2027-01-01 (filled in by hand)"}, []string{"value renews：2027-01-01（手工填写）"}},
		"one that was picked twice": {
			surf(quota, "Quota").pick("used", "8 M").pick("used", "8,412,903").answers("used", "8,412,903", true),
			[]string{"value used: 8,412,903 (picked anew; before that 8 M)"}, []string{"value used：8,412,903（重新选取过，之前是 8 M）"}},
		"a table": {
			surf(quota, "Quota").table("prices", true, []string{"item", "usd"}, []string{"requests", "0.00042"}, []string{"storage", "0.021"}),
			[]string{"value prices: a table of 2 rows and 2 columns (columns “item” and “usd”): “requests”, “storage”"}, []string{"value prices：表格，2 行 2 列（列为“item”和“usd”）：“requests”、“storage”"}},
		"a long list": {
			surf(quota, "Quota").add(human.Action{Type: human.Extract, Pick: &human.Pick{Field: "用户", Take: human.TakeList, Text: "[]", Rows: [][]string{{"王芳"}, {"李雷"}, {"韩梅梅"}, {"张三"}, {"李四"}, {"王五"}, {"赵六"}}}}),
			[]string{"value 用户: a list of 7 items: “王芳”, “李雷”, “韩梅梅”, “张三”, “李四”, “王五” and more"}, []string{"value 用户：列表，共 7 项：“王芳”、“李雷”、“韩梅梅”、“张三”、“李四”、“王五”等"}},
		"a value that is too long for a sentence": {
			surf(quota, "Quota").pick("terms", strings.Repeat("ab 12345 ", 40)),
			[]string{"value terms: “" + strings.TrimSpace(strings.Repeat("ab 12345 ", 17)) + " ab 1234" + "…”"}, nil},

		"many values": {
			func() *surfer {
				s := surf(quota, "Quota")
				for i := range 12 {
					s.pick(fmt.Sprintf("f%02d", i), fmt.Sprint("v", i))
				}
				return s
			}(),
			[]string{"value f00: v0", "value f01: v1", "value f02: v2", "value f03: v3", "value f04: v4", "value f05: v5", "value f06: v6", "value f07: v7",
				"value f08: v8; f09: v9; f10: v10; f11: v11"}, nil},

		"what was asked for and is not there": {
			surf(quota, "Quota").asks(`{"data_to_extract":[{"name":"plan"},{"field":"renewal_date"}]}`).pick("plan", "Scale"),
			[]string{"value plan: Scale", "undone renewal_date: not found; it was asked for and no value was given"},
			[]string{"value plan：Scale", "undone renewal_date：未找到，要求提取但没有填写"}},
		"fields by name, and one left empty": {
			surf(quota, "Quota").asks(`{"data_to_extract":{"plan":"text","renewal_date":"date"}}`).answers("plan", "Scale", false).answers("renewal_date", "", false),
			[]string{"value plan: Scale (filled in by hand)", "undone renewal_date: not found; it was asked for and no value was given"}, nil},
		"many that are not there": {
			surf(quota, "Quota").asks(`{"data_to_extract":["a","b","c","d","e","f"]}`),
			[]string{"undone a: not found; it was asked for and no value was given", "undone b: not found; it was asked for and no value was given", "undone c: not found; it was asked for and no value was given", "undone d: not found; it was asked for and no value was given", "undone Not found either: e, f"}, nil},

		"a page that answers with an error": {
			surf(home, "Home").click("link", "Renewal").goes("link", "https://vendor.example/renewal", "Access denied", 403),
			[]string{"error “Access denied” (vendor.example) answered with status 403"}, []string{"error “Access denied”（vendor.example）返回了状态码 403"}},
		"one without a name": {
			surf(home, "Home").goes("address", "https://api.example/x", "", 502), []string{"error api.example answered with status 502"}, []string{"error api.example 返回了状态码 502"}},
		"an error that only the title tells": {
			surf(home, "首页").click("link", "设置").goes("link", "https://vendor.example/settings", "无权限 - 管理后台", 200),
			[]string{"error A page titled “无权限 - 管理后台” was shown (vendor.example)"}, []string{"error 出现了标题为“无权限 - 管理后台”的页面（vendor.example）"}},
		"a title that is about errors": {surf("https://wiki.example/e", "Login failed · Issue 12 · Tracker").goes("address", "https://wiki.example/g", "How to fix error 404 - Wiki", 200).goes("address", "https://wiki.example/f", "Error handling in Go, a long and thorough guide", 200), nil, nil},
		"a site that is not there": {
			surf(home, "Home").fails("https://gone.example/", "net::ERR_NAME_NOT_RESOLVED"),
			[]string{"error gone.example could not be opened: net::ERR_NAME_NOT_RESOLVED (the name of the site could not be resolved)"}, []string{"error gone.example 打不开：net::ERR_NAME_NOT_RESOLVED（域名无法解析）"}},
		"the same error again is told once": {
			surf(home, "Home").fails("https://gone.example/", "net::ERR_NAME_NOT_RESOLVED").fails("https://gone.example/", "net::ERR_NAME_NOT_RESOLVED"),
			[]string{"error gone.example could not be opened: net::ERR_NAME_NOT_RESOLVED (the name of the site could not be resolved), twice"}, []string{"error gone.example 打不开：net::ERR_NAME_NOT_RESOLVED（域名无法解析），共两次"}},
		"a message of an error": {
			surf(home, "Home").click("button", "Export").dialog("alert", "Export failed: quota exceeded", true),
			[]string{"error The page said “Export failed: quota exceeded”"}, []string{"error 页面弹出提示：“Export failed: quota exceeded”"}},
		"a question that was answered with no": {
			surf(home, "Home").click("button", "Delete project").dialog("confirm", "Delete it?", false),
			[]string{"error The page asked “Delete it?”, and the answer was Cancel"}, []string{"error 页面询问“Delete it?”，选择了取消"}},
		"a page that was left although it asked to stay": {
			surf(home, "Edit").typed("Comment", 9).dialog("beforeunload", "", true).goes("address", quota, "Quota", 200),
			[]string{"error “Edit” was left although it asked to stay; what was not saved there may be lost", "done On “Edit” filled in “Comment” (9 characters)"},
			[]string{"error “Edit”提示未保存，仍然离开了，其中未保存的内容可能丢失", "done 在“Edit”填写了“Comment”（9 个字符）"}},
		"a search that finds nothing, and another": {
			surf(home, "CRM").enter("Search", 6).goes("form", home+"?q=1", "No customers found", 200).enter("Search", 6).goes("form", home+"?q=2", "1 customer found", 200),
			[]string{"detour Searched twice; at first “No customers found” was shown"}, []string{"detour 搜索了两次，起初显示“No customers found”"}},
		"an error that was taken down, and the button to try again": {
			surf(home, "Contact").typed("Phone", 9).click("button", "Save").pick("message", "Could not save: too many requests").click("button", "Try again").goes("script", home+"/7", "Contact saved", 200),
			[]string{"value message: Could not save: too many requests", "done On “Contact” filled in “Phone” (9 characters) and clicked “Try again”; then “Contact saved” was shown", "detour 2 attempts to send the form on “Contact”; at first the page said “Could not save: too many requests”"}, nil},
		"a page that sends on by itself": {
			surf(home, "Report").click("button", "Run report").goes("form", home+"/r", "Report is running", 200).pause(24).goes("redirect", home+"/r/1", "Sales 2025", 200),
			[]string{"done Sent the form on “Report” with “Run report”; then “Sales 2025” was shown"}, nil},
		"a download that was stopped": {
			surf(home, "Home").click("link", "Image").file(human.Download, "big.iso", "canceled", 0), []string{"error The download of “big.iso” was not completed"}, []string{"error “big.iso”的下载没有完成"}},
		"a download that came the second time": {
			surf(home, "Home").file(human.Download, "big.iso", "canceled", 0).file(human.Download, "big.iso", "completed", 12),
			[]string{"error A download of “big.iso” was not completed; it was downloaded later", "done Downloaded “big.iso” (12 bytes, hash “5222cf1aebd6…”) from “Home”"}, nil},
		"a form whose page asks for what is missing": {
			surf(home, "Order").click("button", "Place order").dialog("alert", "Postal code is missing", true).typed("Postal code", 5).click("button", "Place order").goes("form", home+"/1", "Order placed", 200),
			[]string{"error The page said “Postal code is missing”", "done Sent the form on “Order” with “Place order” at the second try; at first the page said “Postal code is missing”; filled in: “Postal code” (5 characters); then “Order placed” was shown",
				"detour 2 attempts to send the form on “Order”; at first the page said “Postal code is missing”"}, nil},
		"an alert of the page itself": {
			surf(home, "Home").add(human.Action{Type: human.Click, Button: 1, Element: &human.Element{Role: "button", Name: "Close", Ancestry: []human.Element{{Role: "alertdialog", Name: "支付失败"}}}}),
			[]string{"error The page showed a message: “支付失败”"}, []string{"error 页面出现提示：“支付失败”"}},

		"signing in": {
			surf(login, "Sign in").typed("E-mail", 16).password("Password").click("button", "Sign in").goes("form", home, "Overview", 200),
			[]string{"done Signed in at vendor.example; then “Overview” was shown"}, []string{"done 登录了 vendor.example；随后显示“Overview”"}},
		"signing in, and nothing is seen to come of it": {
			surf(login, "登录").typed("用户名", 4).password("密码").click("button", "登录"),
			[]string{"done Typed a password (hidden) at vendor.example and clicked “登录”; what it led to is not recorded"}, []string{"done 在 vendor.example 输入了密码（已隐藏），并点击“登录”，之后的结果没有记录"}},
		"a password that is not taken, and one that is": {
			surf(login, "Sign in").typed("E-mail", 16).password("Password").click("button", "Sign in").goes("form", login, "Sign in failed", 401).
				password("Password").click("button", "Sign in").goes("form", home, "Overview", 200),
			[]string{"error “Sign in failed” (vendor.example) answered with status 401", "done Signed in at vendor.example at the second try; the first failed, 401; then “Overview” was shown",
				"detour 2 attempts to sign in at vendor.example; at first “Sign in failed” (status 401) came back"},
			[]string{"error “Sign in failed”（vendor.example）返回了状态码 401", "done 登录了 vendor.example，第二次成功，第一次失败（401）；随后显示“Overview”", "detour 在 vendor.example 登录尝试了两次，起初得到的是“Sign in failed”（状态码 401）"}},
		"the same sign-in page again and again": {
			surf(login, "Sign in").password("Password").click("button", "Sign in").goes("form", login+"?e=1", "Sign in", 200).password("Password").click("button", "Sign in").
				goes("form", login+"?e=1", "Sign in", 200).password("Password").enter("Code", 6).goes("form", login+"?e=2", "Sign in", 200),
			[]string{"detour 3 attempts to sign in at vendor.example; at first “Sign in” came back"}, []string{"detour 在 vendor.example 登录尝试了 3 次，起初又回到“Sign in”"}},
		"a new password is no sign-in": {
			surf(home, "New password").password("New password").password("Repeat").click("button", "Save").goes("form", home+"/ok", "Password changed", 200),
			[]string{"done Sent the form on “New password” with “Save”; filled in: “New password” (hidden) and “Repeat” (hidden); then “Password changed” was shown"}, []string{"done 提交了“New password”的表单（按钮“Save”），填写了“New password”（已隐藏）和“Repeat”（已隐藏）；随后显示“Password changed”"}},
		"a form": {
			surf(home, "新建用户").typed("姓名", 3).choose("角色", "管理员").check("发送邀请", "checked").click("button", "创建").goes("form", home+"/7", "用户已创建", 200),
			[]string{"done Sent the form on “新建用户” with “创建”; filled in: “姓名” (3 characters), “角色” (管理员) and “发送邀请” (checked); then “用户已创建” was shown"},
			[]string{"done 提交了“新建用户”的表单（按钮“创建”），填写了“姓名”（3 个字符）、“角色”（管理员）和“发送邀请”（已勾选）；随后显示“用户已创建”"}},
		"a form with lists that the page draws itself": {
			surf(home, "New order").typed("Customer", 3).click("combobox", "City").click("option", "Lyon").click("combobox", "City").click("option", "Cork").click("button", "Send").goes("form", home+"/7", "Order 7", 200),
			[]string{"done Sent the form on “New order” with “Send”; filled in: “Customer” (3 characters) and “City” (Cork); then “Order 7” was shown"},
			[]string{"done 提交了“New order”的表单（按钮“Send”），填写了“Customer”（3 个字符）和“City”（Cork）；随后显示“Order 7”"}},
		"a list that was opened again in a way that is not known": {
			surf(home, "New order").typed("Customer", 3).click("combobox", "City").click("option", "Lyon").click("generic", "").click("option", "Cork").click("button", "Send").goes("form", home+"/7", "Order 7", 200),
			[]string{"done Sent the form on “New order” with “Send”; filled in: “Customer” (3 characters) and “City”; then “Order 7” was shown"},
			[]string{"done 提交了“New order”的表单（按钮“Send”），填写了“Customer”（3 个字符）和“City”；随后显示“Order 7”"}},
		"a form that answers with a message": {
			surf(home, "Profile").typed("Name", 5).click("button", "Save").dialog("alert", "Profile saved", true),
			[]string{"done Sent the form on “Profile” with “Save”; filled in: “Name” (5 characters); the page said “Profile saved”"}, []string{"done 提交了“Profile”的表单（按钮“Save”），填写了“Name”（5 个字符）；页面提示“Profile saved”"}},
		"a form of which nothing is seen to come": {
			surf(home, "Profile").typed("Name", 5).click("button", "Save"),
			[]string{"done On “Profile” filled in “Name” (5 characters) and clicked “Save”; what it led to is not recorded"}, []string{"done 在“Profile”填写了“Name”（5 个字符），并点击“Save”，之后的结果没有记录"}},
		"an attempt that is refused, one that is not, and signing in once more": {
			surf(login, "Sign in").password("Password").click("button", "Sign in").goes("form", login, "Sign in failed", 401).password("Password").click("button", "Sign in").goes("form", home, "Overview", 200).
				goes("address", login, "Sign in", 200).password("Password").click("button", "Sign in").goes("form", home, "Overview", 200),
			[]string{"error “Sign in failed” (vendor.example) answered with status 401", "done Signed in at vendor.example; then “Overview” was shown",
				"detour 2 attempts to sign in at vendor.example; at first “Sign in failed” (status 401) came back", "detour “Sign in” was opened by its address twice"}, nil},
		"signing in and setting another password are two forms": {
			surf(login, "Sign in").typed("E-mail", 9).password("Password").click("button", "Sign in").goes("form", home, "Overview", 200).goes("address", home+"/pw", "Account", 200).
				password("Current password").password("New password").click("button", "Change").goes("form", home+"/ok", "Password changed", 200),
			[]string{"done Signed in at vendor.example; then “Overview” was shown",
				"done Sent the form on “Account” with “Change”; filled in: “Current password” (hidden) and “New password” (hidden); then “Password changed” was shown"}, nil},
		"a date is typed": {
			surf(home, "Leave").add(human.Action{Type: human.Choose, Values: []string{"2026-12-24"}, Element: &human.Element{Role: "textbox", Name: "First day", Tag: "input/date"}}).
				click("button", "Send request").goes("form", home+"/1", "Sent", 200),
			[]string{"done Sent the form on “Leave” with “Send request”; filled in: “First day”; then “Sent” was shown"}, nil},
		"boxes are told as they were left": {
			surf(home, "Alerts").check("SMS", "checked").check("Mail", "checked").check("SMS", "unchecked").click("button", "Save").goes("form", home, "Alerts", 200),
			[]string{"done Sent the form on “Alerts” with “Save”; filled in: “SMS” (unchecked) and “Mail” (checked); then “Alerts” was shown"}, nil},
		"a form that is cleared": {
			surf(home, "Survey").typed("Company", 4).check("ISO 9001", "checked").click("button", "Clear"),
			[]string{"detour On “Survey” filled in “Company” and “ISO 9001”, then cleared it with “Clear”"}, []string{"detour 在“Survey”填写了“Company”和“ISO 9001”，又用“Clear”清空了"}},
		"back from the next step": {
			surf(home, "Step 1").typed("Name", 9).click("button", "Next").goes("form", home+"/2", "Step 2", 200).click("link", "Back").goes("link", home, "Step 1", 200).
				typed("Name", 8).click("button", "Next").goes("form", home+"/2", "Step 2", 200),
			[]string{"done Sent the form on “Step 1” twice", "detour Went back from “Step 2” to “Step 1”"}, []string{"done 提交了“Step 1”的表单两次", "detour 从“Step 2”退回到“Step 1”"}},
		"other secrets are no passwords": {
			func() *surfer {
				s := surf(home, "Payment")
				e := el("textbox", "Card number")
				e.Secret = true
				return s.add(human.Action{Type: human.Typing, Hidden: "secret", Element: e}).click("button", "Pay").goes("form", home+"/paid", "Payment confirmed", 200)
			}(),
			[]string{"done Sent the form on “Payment” with “Pay”; filled in: “Card number” (hidden); then “Payment confirmed” was shown"}, nil},
		"a form that is refused, and taken": {
			surf(home, "Ticket").typed("Subject", 30).click("button", "Send").goes("form", home+"/send", "Internal server error", 500).goes("back_forward", home, "Ticket", 200).
				click("button", "Send").goes("form", home+"/T-2093", "Ticket T-2093", 200),
			[]string{"error “Internal server error” (vendor.example) answered with status 500", "done Sent the form on “Ticket” with “Send” at the second try; the first failed, 500; then “Ticket T-2093” was shown",
				"detour 2 attempts to send the form on “Ticket”; at first “Internal server error” (status 500) came back"},
			[]string{"error “Internal server error”（vendor.example）返回了状态码 500", "done 提交了“Ticket”的表单（按钮“Send”），第二次成功，第一次失败（500）；随后显示“Ticket T-2093”", "detour 提交“Ticket”的表单尝试了两次，起初得到的是“Internal server error”（状态码 500）"}},
		"the same form for one thing after the other is no retry": {
			surf(home, "New user").typed("Name", 3).click("button", "Create").goes("form", home+"/1", "Users", 200).click("link", "New").goes("link", home, "New user", 200).
				typed("Name", 4).click("button", "Create").goes("form", home+"/2", "Users", 200),
			[]string{"done Sent the form on “New user” twice"}, []string{"done 提交了“New user”的表单两次"}},
		"a search is no form": {surf(home, "Home").enter("Search", 9).goes("form", home+"?q=1", "Results", 200), nil, nil},
		"settings": {
			surf(home, "Settings").choose("Language", "Deutsch").check("Two-factor", "checked").check("Newsletter", "unchecked"),
			[]string{"done Set on “Settings”: “Language” to Deutsch, “Two-factor” checked and “Newsletter” unchecked"}, []string{"done 在“Settings”上设置：“Language”设为 Deutsch、勾选“Two-factor”和取消勾选“Newsletter”"}},
		"a button that changes something": {
			surf(home, "Users").click("button", "Delete user").dialog("confirm", "Delete Mei?", true).goes("script", home+"/users", "Users, 11", 200),
			[]string{"done Clicked “Delete user” on “Users”; asked “Delete Mei?”, the answer was OK; then “Users, 11” was shown"}, []string{"done 在“Users”上点击了“Delete user”；页面询问“Delete Mei?”，选择了确定；随后显示“Users, 11”"}},
		"files that came and went": {
			surf(home, "Files").click("link", "Prices").file(human.Download, "prices.csv", "completed", 12345).file(human.Upload, "cv.pdf", "", 2048),
			[]string{"done Downloaded “prices.csv” (12345 bytes, hash “5222cf1aebd6…”) from “Files”", "done Chose “cv.pdf” for upload (2048 bytes)"}, []string{"done 下载了“prices.csv”（12345 字节，哈希值“5222cf1aebd6…”），来自“Files”", "done 选择了“cv.pdf”上传（2048 字节）"}},
		"a card that was moved": {
			surf(home, "Board").add(human.Action{Type: human.Drag, Element: el("listitem", "K-0417"), Target: el("list", "Done")}), []string{"done Moved “K-0417” to “Done” on “Board”"}, []string{"done 在“Board”上将“K-0417”移到“Done”"}},

		"there and back": {
			surf(home, "Home").click("link", "Plans").goes("link", "https://vendor.example/plans", "Plans", 200).goes("back_forward", home, "Home", 200),
			[]string{"detour Went to “Plans” and back, with nothing done there"}, []string{"detour 打开了“Plans”，未做任何操作就返回了"}},
		"there and back is no detour where something was picked": {
			surf(home, "Home").click("link", "Plans").goes("link", "https://vendor.example/plans", "Plans", 200).pick("plan", "Scale").goes("back_forward", home, "Home", 200),
			[]string{"value plan: Scale"}, nil},
		"nor where it was read": {
			surf(home, "Home").click("link", "Plans").goes("link", "https://vendor.example/plans", "Plans", 200).add(human.Action{Type: human.Scroll, DeltaY: 3}).goes("back_forward", home, "Home", 200).
				click("link", "Team").goes("link", "https://vendor.example/team", "Team", 200).pause(20).goes("back_forward", home, "Home", 200), nil, nil},
		"nor where something was not recorded": {
			surf(home, "Home").click("link", "Plans").goes("link", "https://vendor.example/plans", "Plans", 200).gap().goes("back_forward", home, "Home", 200).
				click("button", "Export").gap().click("button", "Export"), nil, nil},
		"two ways that led nowhere from one page": {
			surf(home, "Home").click("link", "Plans").goes("link", "https://vendor.example/plans", "Plans", 200).goes("back_forward", home, "Home", 200).
				click("link", "Team").goes("link", "https://vendor.example/team", "Team", 200).goes("back_forward", home, "Home", 200),
			[]string{"detour Went to “Plans” and “Team” and back, with nothing done there"}, []string{"detour 打开了“Plans”和“Team”，未做任何操作就返回了"}},
		"a click that nothing came of, again": {
			surf(home, "Home").click("button", "Export").click("button", "Export").click("button", "Export"),
			[]string{"detour “Export” was clicked 3 times in a row; no page, message or download was seen to come of it in between"}, []string{"detour 连续点击“Export”3 次，其间没有看到页面跳转、提示或下载"}},
		"turning pages is no retry": {surf(home, "Home").click("button", "Next page").click("button", "Next page").click("button", "下一页").click("button", "下一页"), nil, nil},
		"a page that was loaded again": {
			surf(home, "Home").goes("reload", home, "Home", 200).goes("reload", home, "Home", 200), []string{"detour “Home” was reloaded twice"}, []string{"detour “Home”重新加载了两次"}},

		"what the operator says": {
			func() *surfer {
				s := surf(home, "Home").add(human.Action{Type: human.Note, Text: "Only owners see it"})
				s.in.Answer.HumanInput = "Ask Mei."
				return s
			}(),
			[]string{"note The operator says: Ask Mei.", "note Noted on the way: Only owners see it"}, []string{"note 操作者说明：Ask Mei.", "note 操作者的备注：Only owners see it"}},
	} {
		t.Run(name, func(t *testing.T) {
			for lang, want := range map[string][]string{say.English: tt.en, say.Chinese: tt.zh} {
				if lang == say.Chinese && tt.zh == nil && len(tt.en) > 0 {
					continue
				}
				in := tt.surfer.in
				in.Language = lang
				raw, err := browser().Summarize(t.Context(), in, nil)
				if err != nil {
					t.Fatal(err)
				}
				r, dropped := summarizers.Check(in, raw)
				for _, d := range dropped {
					t.Errorf("%s: dropped %q: %s", lang, d.Text, d.Why)
				}
				if r.Line == "" || r.Text == "" {
					t.Errorf("%s: line %q, text %q", lang, raw.Line, raw.Text)
				}
				var got []string
				for _, f := range r.Findings {
					if f.Kind != human.FoundUnseen && f.Kind != human.FoundOutcome && f.Kind != human.FoundSlow && f.Confidence != find.Minor { // theirs are tests of their own
						got = append(got, string(f.Kind)+" "+f.Text)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: found\n  %s\nwant\n  %s", lang, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			}
		})
	}
}

// The line says where values come from, and what did not come from there.
func TestTheLineOfWorkInPages(t *testing.T) {
	for name, tt := range map[string]struct {
		surfer *surfer
		en, zh string
	}{
		"values": {surf(quota, "Quota").pick("plan", "Scale").pick("used", "8"), "Read plan and used at vendor.example", "在 vendor.example 读取了 plan 和 used"},
		"some were told on the phone": {
			surf(quota, "Quota").pick("plan", "Scale").answers("plan", "Scale", true).answers("reason", "Waiting", false),
			"Read plan at vendor.example; filled in reason by hand", "在 vendor.example 读取了 plan；手工填写了 reason"},
		"from two sites": {surf(quota, "Quota").pick("a", "x").goes("address", "https://b.example/", "B", 200).pick("b", "y"), "Read a and b", "读取了 a 和 b"},
		"one is missing, and why": {
			surf(quota, "Quota").asks(`{"data_to_extract":["a","b","c"]}`).pick("a", "x").pick("b", "y").click("link", "C").goes("link", home+"/c", "No", 403),
			"Read 2 of 3 values asked for at vendor.example; did not find c; on the way status 403", "在 vendor.example 读取了所需 3 项中的 2 项；未找到 c；途中遇到状态码 403"},
		"no values": {
			surf(home, "Users").click("button", "Delete user").dialog("confirm", "Delete Mei?", true),
			"Clicked “Delete user” on “Users”; asked “Delete Mei?”, the answer was OK", "在“Users”上点击了“Delete user”；页面询问“Delete Mei?”，选择了确定"},
		"only a look": {surf(home, "Home"), "Looked at vendor.example; nothing was changed or picked there", "浏览了 vendor.example，没有更改或选取内容"},
		"nothing":     {&surfer{in: summarizers.Input{Version: 1, Operation: human.Operation{Description: "Look"}}}, "No answer yet: Look", "尚未答复：Look"},
	} {
		for lang, want := range map[string]string{say.English: tt.en, say.Chinese: tt.zh} {
			in := tt.surfer.in
			in.Language = lang
			raw, err := browser().Summarize(t.Context(), in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, dropped := summarizers.Check(in, raw); r.Line != want || len(dropped) > 0 {
				t.Errorf("%s: the line is %q, want %q; dropped: %v", name, r.Line, want, dropped)
			}
		}
	}
}
