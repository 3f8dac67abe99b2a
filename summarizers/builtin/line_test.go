package builtin

import (
	"encoding/json"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// filed is a file that is downloaded in a browser and moved on the desktop, in one recording of both.
func filed() summarizers.Input {
	in := surf("https://bank.example/", "Rates").click("link", "CSV").file(human.Download, "rates.csv", "completed", 12).in
	w := work("Files").wait(time.Second).file("created", "/home/mei/downloads/rates.csv", "").click("button", "Move").file("renamed", "/home/mei/downloads/rates.csv", "/home/mei/2026/rates.csv")
	rec := w.in.Recordings[0]
	rec.ID, rec.StartedAt = "rec_2", in.Recordings[0].StartedAt.Add(time.Second)
	in.Recordings = append(in.Recordings, rec)
	return in
}

// The line says each thing once, and what was not expected never reads as if it had been (H11).
func TestTheLineTellsOutcomes(t *testing.T) {
	for name, tt := range map[string]struct {
		in       summarizers.Input
		expected string
		en, zh   string
	}{
		"what failed at first was not expected": {
			surf("https://help.example/new", "New ticket").typed("Subject", 5).click("button", "Send").goes("form", "https://help.example/new", "Internal server error", 500).
				goes("history", "https://help.example/new", "New ticket", 200).click("button", "Send").goes("form", "https://help.example/t/7", "Ticket 7 created", 200).in,
			"Ticket created",
			"As expected, sent the form on “New ticket” with “Send” at the second try; the first failed, 500; then “Ticket 7 created” was shown",
			"符合预期，提交了“New ticket”的表单（按钮“Send”），第二次成功，第一次失败（500）；随后显示“Ticket 7 created”"},
		"a sign-in that failed on a page of its own": {
			surf("https://app.example/in", "Sign in").typed("User", 3).password("Password").click("button", "Sign in").goes("form", "https://app.example/in", "401", 401).
				add(human.Action{Type: human.PageSaid, Values: []string{"loaded"}, Dialog: &human.Dialog{Kind: "message", Message: "Wrong password"}}).in, "",
			"The sign-in at “Sign in” failed: the page said “Wrong password”", "在“Sign in”登录失败：页面提示“Wrong password”"},
		"a switch sends its own state and no form": {
			surf("https://app.example/", "Settings").add(human.Action{Type: human.Check, Values: []string{"checked"}, Element: &human.Element{Role: "switch", Name: "Dark mode", Tag: "button"}}).answered("POST", 200).says("Dark mode updated").in, "",
			"Set on “Settings”: “Dark mode” checked; the page said “Dark mode updated”", "在“Settings”上设置：勾选“Dark mode”；页面提示“Dark mode updated”"},
		"another file than was expected": {
			work("Editor").click("button", "Save").file("created", "/d/summary.txt", "").in, "/d/report/summary.txt",
			"Otherwise than expected: created summary.txt in Editor", "与预期不符：在 Editor 中新建了 summary.txt"},
		"a part of what was expected": {
			work("Signer").click("button", "Export").file("created", "/d/K-0417.pdf", "").in, "K-0417.pdf with both signatures",
			"Created K-0417.pdf in Signer; the rest of what was expected is not confirmed", "在 Signer 中新建了 K-0417.pdf；其余预期结果未能确认"},
		"a file in the folder that was named": {
			work("Editor").click("button", "Save").file("created", "/home/mei/texts/greetings/hello.txt", "").in, "greetings/hello.txt",
			"As expected, created hello.txt in Editor", "符合预期，在 Editor 中新建了 hello.txt"},
		"an error that was not expected is said once": {
			work("Settings").click("button", "Apply").dialog("Invalid port").click("button", "OK").in, "No error message appears",
			"Settings: otherwise than expected: dialog “Invalid port” came up", "Settings：与预期不符：出现了对话框“Invalid port”"},
		"a site that is not there": {
			surf("https://start.example/", "Start").fails("https://down.example/", "net::ERR_NAME_NOT_RESOLVED").in, "",
			"On the way the name of the site could not be resolved", "途中遇到域名无法解析"},
		"a page that is left although it asks to stay": {
			surf("https://notes.example/", "Minutes").typed("Text", 27).dialog("beforeunload", "", true).goes("link", "https://notes.example/archive", "Archive", 200).in, "",
			"On “Minutes” filled in “Text” (27 characters); “Minutes” was left although it asked to stay; what was not saved there may be lost",
			"在“Minutes”填写了“Text”（27 个字符）；“Minutes”提示未保存，仍然离开了，其中未保存的内容可能丢失"},
		"a file that was made and moved": {
			work("Files").click("button", "New").file("created", "/d/list.txt", "").file("renamed", "/d/list.txt", "/d/2026/list.txt").in, "",
			"Created list.txt and moved it to 2026 in Files", "在 Files 中新建了 list.txt，随后移到了 2026"},
		"a download is not made by the program that moves it": {
			filed(), "",
			"Downloaded “rates.csv”; moved rates.csv to 2026 in Files", "下载了“rates.csv”；在 Files 中将 rates.csv 移到了 2026"},
		"how many of an upload were taken, the upload does not tell": {
			surf("https://import.example/", "Import").file(human.Upload, "customers.csv", "", 99).click("button", "Import").goes("form", "https://import.example/done", "Import done", 200).
				pick("result", "118 imported, 2 failed").answers("result", "118 imported, 2 failed", true).in,
			"All 120 are imported",
			"Read result at import.example; what was expected is not confirmed",
			"在 import.example 读取了 result；预期结果未能确认"},
		"a click into a number field sends nothing": {
			surf("https://city.example/", "Street event").click("textbox", "Event").typed("Event", 12).click("spinbutton", "Guests").
				add(human.Action{Type: human.Typing, Count: 3, Element: el("spinbutton", "Guests")}).in, "",
			"On “Street event” (city.example), “Event” and “Guests” were filled in and not sent: nothing was done there afterwards that sends them",
			"在“Street event”（city.example）上填写了“Event”和“Guests”，但没有看到提交操作"},
	} {
		for lang, want := range map[string]string{say.English: tt.en, say.Chinese: tt.zh} {
			in := worded(tt.in, lang)
			if tt.expected != "" {
				in.Operation.Details, _ = json.Marshal(map[string]string{"expected_outcome": tt.expected}) // texts always can be
			}
			if got := report(t, joined(), in).Line; got != want {
				t.Errorf("%s: the line is\n%q, want\n%q", name, got, want)
			}
		}
	}
}
