package builtin

import (
	"strconv"
	"testing"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
	"deskbell/summarizers/builtin/find"
	"deskbell/summarizers/builtin/say"
)

// What was expected is held against what happened by what both mean: in either order of words, in English and Chinese. What is not
// certain is not seen.
func TestExpectationsAreComparedByMeaning(t *testing.T) {
	const (
		met     = "met"
		notMet  = "not met"
		notSeen = "not seen"
	)
	page := func(title string) *surfer {
		return surf("https://app.example/", "Start").goes("link", "https://app.example/x", title, 200)
	}
	start := func() *surfer { return surf("https://app.example/", "Start") }
	drag := func(from, to string) *surfer {
		return start().add(human.Action{Type: human.Drag, Element: el("listitem", from), Target: el("list", to)})
	}
	// onto is a card that is dropped on another one, which has something beside it.
	onto := func(from, to, beside string) *surfer {
		target := el("generic", to)
		target.Beside, target.Named = beside, "otherwise"
		return start().add(human.Action{Type: human.Drag, Element: el("generic", from), Target: target})
	}
	signIn := func(title string, status int) *surfer {
		return surf("https://app.example/login", "Sign in").typed("E-mail", 9).password("Password").click("button", "Sign in").goes("form", "https://app.example/home", title, status)
	}
	// anmelden fills in two fields without a name, and presses a button that a script sends them by.
	anmelden := func(status int) *surfer {
		user, password := el("textbox", ""), el("textbox", "")
		user.Beside, user.Tag, password.Beside, password.Tag, password.Secret = "Benutzername", "input/text", "Passwort", "input/password", true
		return surf("https://app.example/login", "Anmeldung").add(human.Action{Type: human.Typing, Element: user, Count: 6}).
			add(human.Action{Type: human.Typing, Element: password, Count: 9, Hidden: "password"}).click("button", "Anmelden").answered("POST", status)
	}
	files := func() *worker { return work("Files") }
	for _, tt := range []struct {
		expected string
		happened interface{ given() summarizers.Input }
		want     string
	}{
		// Renamed.
		{"plan.txt is renamed to plan-2027.txt", files().file("renamed", "/w/plan.txt", "/w/plan-2027.txt"), met},
		{"Rename plan.txt to plan-2027.txt", files().file("renamed", "/w/plan.txt", "/w/plan-2027.txt"), met},
		{"把 plan.txt 重命名为 plan-2027.txt", files().file("renamed", "/w/plan.txt", "/w/plan-2027.txt"), met},
		{"plan-2027.txt is the new name of plan.txt", files().file("renamed", "/w/plan.txt", "/w/plan-2027.txt"), met},
		{"plan.txt is renamed to plan-2027.txt", files().file("renamed", "/w/plan.txt", "/w/plan-2026.txt"), notMet},
		{"plan.txt is renamed to plan-2027.txt", files().file("renamed", "/w/other.txt", "/w/other-2.txt"), notSeen},
		{"plan.txt is renamed to plan-2027.txt", files().click("button", "Rename"), notSeen},
		{"The list Q3 leads is renamed to Q4 leads", page("Q4 leads - Lists"), notSeen},
		{"The list is called Q4 leads", page("Renamed the list to Q4 leads"), met},
		{"列表已改名为“第四季度”", start().click("button", "改名").dialog("alert", "列表已改名为“第四季度”", true), met},
		// Moved.
		{"Fix invoice bug is in Done", drag("Fix invoice bug", "Done"), met},
		{"Done contains Fix invoice bug", drag("Fix invoice bug", "Done"), met},
		{"The card Fix invoice bug was moved to Done", drag("Fix invoice bug", "Done"), met},
		{"“Fix invoice bug”已移到“Done”", drag("Fix invoice bug", "Done"), met},
		{"卡片“修复发票”移动到“已完成”", drag("修复发票", "已完成"), met},
		{"“已完成”里有“修复发票”", drag("修复发票", "已完成"), met},
		{"Fix invoice bug is in Done", drag("Fix invoice bug", "Review"), notMet},
		{"“修复发票”移动到“已完成”", drag("修复发票", "审核中"), notMet},
		{"Fix invoice bug is in Done", onto("Fix invoice bug", "Update docs", "Done"), met},
		{"“修复发票”移动到“已完成”", onto("修复发票", "更新文档", "已完成"), met},
		{"Fix invoice bug is in Done", onto("Fix invoice bug", "Update docs", "Review"), notSeen},
		{"Fix invoice bug is in Done", onto("Fix invoice bug", "Update docs", ""), notSeen},
		{"Fix invoice bug is in Done", drag("Update docs", "Done"), notSeen},
		{"Fix invoice bug is in Done", drag("Update docs", "Review"), notSeen},
		{"Done contains Fix invoice bug", drag("Fix invoice bug", ""), notSeen},
		{"invoice-77.txt is in the folder paid", files().file("renamed", "/w/invoice-77.txt", "/w/paid/invoice-77.txt"), met},
		{"文件 invoice-77.txt 移到 paid 文件夹", files().file("renamed", "/w/invoice-77.txt", "/w/paid/invoice-77.txt"), met},
		{"invoice-77.txt is in the folder paid", files().file("renamed", "/w/invoice-77.txt", "/w/open/invoice-77.txt"), notMet},
		// Created.
		{"report.pdf is created", files().file("created", "/w/report.pdf", ""), met},
		{"There is a file report.pdf", files().file("created", "/w/report.pdf", ""), met},
		{"新建 report.pdf", files().file("created", "/w/report.pdf", ""), met},
		{"report.pdf is created", files().file("created", "/w/report.pdf", "").file("deleted", "/w/report.pdf", ""), notMet},
		{"report.pdf is created", files().click("button", "Export"), notSeen},
		{"A ticket was created", page("Ticket T-20 created"), met},
		{"Created: a ticket", page("Ticket T-20 created"), met},
		{"工单已创建", page("Ticket T-20 created"), notSeen}, // ticket is not among the words of both languages
		{"订单已创建", page("Order 17 created"), met},
		{"A ticket was created", start().click("button", "Create ticket"), notSeen},
		{"A ticket was created", start().click("button", "Create ticket").dialog("alert", "The ticket could not be created", true), notMet},
		// Deleted.
		{"old.log is deleted", files().file("deleted", "/w/old.log", ""), met},
		{"old.log 已删除", files().file("deleted", "/w/old.log", ""), met},
		{"删除 old.log", files().file("deleted", "/w/old.log", ""), met},
		{"old.log is gone", files().file("deleted", "/w/old.log", "").file("created", "/w/old.log", ""), notMet},
		{"old.log is deleted", files().file("deleted", "/w/new.log", ""), notSeen},
		{"The project Atlas is gone", start().click("button", "Delete").dialog("confirm", "Delete Atlas?", false), notSeen},
		{"The project Atlas is deleted", start().click("button", "Delete").dialog("confirm", "Delete Atlas?", true), notSeen},
		{"The project Atlas is deleted", start().click("button", "Delete").dialog("confirm", "Delete Atlas?", true).goes("script", "https://app.example/p", "Project Atlas deleted", 200), met},
		{"用户已删除", page("用户已删除"), met},
		{"用户已删除", page("用户未删除"), notMet},
		// Appears, vanishes.
		{"The message “Payment received” appears", start().dialog("alert", "Payment received", true), met},
		{"出现“支付成功”", page("支付成功"), met},
		{"“支付成功”出现", page("支付成功"), met},
		{"No error appears", start().click("button", "Run"), notSeen},
		{"No errors are shown", page("3 errors"), notMet},
		{"The warning is gone", start().click("button", "Dismiss"), notSeen},
		// Equals.
		{"Status is Healthy", start().pick("status", "Healthy"), met},
		{"Healthy is the status", start().pick("status", "Healthy"), met},
		{"状态为正常", start().pick("状态", "正常"), met},
		{"Status is Healthy", start().pick("status", "Degraded"), notMet},
		{"状态为正常", start().pick("状态", "异常"), notMet},
		{"Status is Healthy", start().pick("region", "Degraded"), notSeen},
		{"Total is 1,200.00", start().pick("total", "1200"), met},
		{"Total is 1200", start().pick("total", "1300"), notMet},
		{"总额为 1200", start().pick("总额", "1300"), notMet},
		// Contains.
		{"The notes contain “release 4”", start().pick("notes", "Shipped with release 4 on Monday"), met},
		{"“release 4” is in the notes", start().pick("notes", "Shipped with release 4 on Monday"), met},
		{"备注包含“急件”", start().pick("备注", "此单为急件"), met},
		{"The notes contain “release 5”", start().pick("notes", "Shipped with release 4"), notSeen}, // there may be more of them
		// Counts.
		{"3 users are listed", start().pick("users", "3"), met},
		{"3 users are listed", page("3 users"), met},
		{"共有 3 个用户", page("用户：3"), met},
		{"3 users are listed", start().pick("users", "5"), notMet},
		// Signing in.
		{"Signed in", signIn("Overview", 200), met},
		{"登录成功", signIn("Overview", 200), met},
		{"The operator is logged in", signIn("Overview", 200), met},
		{"Signed in", signIn("Sign in failed", 401), notMet},
		{"Signed in", surf("https://app.example/login", "Sign in").password("Password").click("button", "Sign in"), notSeen},
		{"Signed in", surf("https://app.example/login", "Sign in").password("Password"), notSeen},
		// In a language that no word is known of, and by a script: by what the site answered, and by what stands beside a field.
		{"Signed in", anmelden(200).goes("script", "https://app.example/home", "Übersicht", 200), met},
		{"已登录", anmelden(200).goes("script", "https://app.example/home", "Übersicht", 200), met},
		{"Signed in", anmelden(401), notMet},
		{"Signed in", anmelden(401).password("Passwort").click("button", "Anmelden").goes("script", "https://app.example/home", "Übersicht", 200), met},
		{"Signed in", anmelden(200), notSeen},
		// Sent.
		{"The message is sent", start().typed("Message", 9).click("button", "Send").dialog("alert", "Message sent", true), met},
		{"消息已发送", start().typed("消息", 9).click("button", "发送").dialog("alert", "消息已发送", true), met},
		{"The message is sent", start().typed("Message", 9).click("button", "Send"), notSeen},
		{"The message is sent", start().typed("Message", 9).click("button", "Send").dialog("alert", "Message not sent", true), notMet},
		{"Survey sent", start().typed("Company", 4), notSeen},
		// Uploaded.
		{"cv.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048), notSeen},
		{"cv.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048).click("button", "Upload").goes("form", "https://app.example/done", "cv.pdf uploaded", 200), met},
		{"cv.pdf 已上传", start().file(human.Upload, "cv.pdf", "", 2048).click("button", "Upload").goes("form", "https://app.example/done", "cv.pdf uploaded", 200), met},
		{"cv.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048).click("button", "Upload").goes("form", "https://app.example/done", "Payload too large", 413), notMet},
		{"cv.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048).answered("POST", 201), met},
		{"cv.pdf 已上传", start().file(human.Upload, "cv.pdf", "", 2048).click("button", "Hochladen").answered("POST", 201), met},
		{"cv.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048).click("button", "Hochladen").answered("POST", 413), notMet},
		{"other.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048).answered("POST", 201), notSeen},
		{"cv.pdf is uploaded", start().file(human.Upload, "cv.pdf", "", 2048).click("button", "Hochladen").answered("POST", 403).says("Keine Berechtigung").click("button", "Hochladen").answered("POST", 201).says("cv.pdf wurde hochgeladen"), met},
		// All that was sent came to nothing, or not all.
		{"Order 12 is created", start().typed("Kunde", 4).click("button", "Anlegen").answered("POST", 403).says("Keine Berechtigung"), notMet},
		{"订单 12 已创建", start().typed("Kunde", 4).click("button", "Anlegen").answered("POST", 500), notMet},
		{"Order 12 is deleted", start().click("button", "Delete").answered("DELETE", 404), notSeen},
		{"Order 12 is created", start().typed("Kunde", 4).click("button", "Anlegen").answered("POST", 403).says("Keine Berechtigung").click("generic", "Noch einmal"), notSeen},
		{"Order 12 is created", start().click("button", "Like").answered("POST", 200).typed("Kunde", 4).click("button", "Anlegen").answered("POST", 403), notSeen},
		{"Order 12 is created", start().typed("Kunde", 4).click("button", "Anlegen").answered("POST", 204).answered("POST", 403), notSeen},
		{"Order 12 is created", start().typed("Kunde", 4).click("button", "Anlegen").answered("POST", 200).says("Order 12 created, but the delivery address is missing"), notSeen},
		{"Order 12 is changed", start().typed("Kunde", 4).click("button", "Speichern").answered("PUT", 409).says("Order 12 was changed on 3 May"), notMet},
		{"Order 12 is changed", start().typed("Kunde", 4).click("button", "Speichern").says("Order 12 was changed by someone else"), notMet},
		{"Post 12 is published", start().typed("Titre", 4).click("button", "Publier").answered("POST", 200).says("L'article Post 12 est maintenant en ligne"), met},
		{"Post 12 is published", start().click("link", "Post 12").says("This live stream shows Post 12"), notSeen},
		{"The list has no errors", start().typed("Kunde", 4).click("button", "Anlegen").answered("POST", 403), notSeen},
		{"Order 12 is paid", start().typed("Karte", 4).click("button", "Bezahlen").answered("POST", 200).says("Zahlung für Order 12 eingegangen"), met},
		// Switched on and off.
		{"Two-factor is turned on", start().check("Two-factor", "checked").answered("PUT", 200), met},
		{"Two-factor is turned on", start().check("Two-factor", "checked").answered("PUT", 500), notSeen},
		{"Two-factor is enabled", start().check("Two-factor", "checked").click("button", "Save").dialog("alert", "Two-factor enabled", true), met},
		{"双重验证已启用", page("双重验证已启用"), met},
		{"Two-factor is enabled", start().check("Two-factor", "unchecked"), notSeen},
		{"Two-factor is turned on", start().check("Two-factor", "checked").says("Settings were saved"), met},
		{"Two-factor is turned on", start().check("Two-factor", "unchecked").says("Settings were saved"), notMet},
		{"Two-factor已关闭", start().check("Two-factor", "unchecked").says("Settings were saved"), met},
		{"Two-factor is turned on", start().check("Two-factor", "checked").says("Settings could not be saved"), notSeen},
		{"The account is disabled", page("Account disabled"), met},
		{"The account is disabled", page("Account enabled"), notMet},
		{"账户已停用", page("Account disabled"), met},
		// Not certain.
		{"All tests passed", page("Tests"), notSeen},
		{"The export should be finished", page("Export"), notSeen},
		{"The domain is verified", page("Verify your domain"), notSeen},
		{"Invoice 17 is paid", page("Invoice 18 paid"), notSeen},
		{"Invoice 17 is paid", page("Invoice 17 not paid"), notMet},
		{"发票 17 已支付", page("Invoice 17 paid"), met},
		{"The server answers", start().goes("address", "https://app.example/y", "Bad gateway", 502), notSeen},
	} {
		in := tt.happened.given()
		in.Operation.Details = []byte(`{"expected_outcome":` + strconv.Quote(tt.expected) + `}`)
		for _, lang := range []string{say.English, say.Chinese} {
			in.Language = lang
			fs, err := facts.Read(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			found, err := find.Joined.In(t.Context(), fs, nil)
			if err != nil || len(found.Outcomes) == 0 {
				t.Errorf("%q: %d outcomes, %v", tt.expected, len(found.Outcomes), err)
				continue
			}
			got := met
			for _, v := range found.Outcomes {
				switch {
				case v == facts.Unsaid:
					got = notSeen
				case v != facts.Agrees && got == met:
					got = notMet
				}
			}
			if got != tt.want && lang == say.English {
				t.Errorf("%q is %s, want %s", tt.expected, got, tt.want)
			}
		}
	}
}

func (s *surfer) given() summarizers.Input { return s.in }
func (w *worker) given() summarizers.Input { return w.input(say.English) }
