package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

func TestWhatWasSeenIsHeldAgainstWhatWasExpected(t *testing.T) {
	for _, tt := range []struct {
		expected, seen string
		want           verdict
	}{
		// It says so, in the same words or in others.
		{"All tests pass", "12 tests passed", agrees},
		{"Tests pass", "Test run: success", agrees},
		{"The tests have passed", "✔ 3 tests passed", agrees},
		{"3 tests passed", "✔ 3 tests passed", agrees},
		{"看到测试通过的绿色标识", "3 个测试通过", agrees},
		{"看到测试通过的绿色标识", "测试全部通过，看到了绿色标识", agrees},
		{"看到测试通过的绿色标识", "All tests passed", agrees},
		{"The tests pass", "测试通过", agrees},
		{"The contract is exported", "Contract K-0417 was exported", agrees},
		{"合同已导出", "合同导出成功", agrees},
		{"No errors", "Build finished with no errors", agrees},
		{"没有错误", "构建完成，没有错误", agrees},
		{"12 passed", "12 passed, 0 failed", agrees},
		{"Balance is 1,200", "Balance: 1200", agrees},
		{"收到测试短信并成功验证", "收到了测试短信，验证成功", agrees},
		{"The user is logged in", "User anna logged in", agrees},
		{"Status is Healthy", "status Healthy", agrees},

		// It says the contrary.
		{"All tests pass", "2 tests failed", differs},
		{"All tests pass", "Tests failed", differs},
		{"All tests pass", "10 tests passed, 2 failed", differs},
		{"测试通过", "测试失败", differs},
		{"测试通过", "测试未通过", differs},
		{"The contract is exported", "The contract could not be exported", differs},
		{"The contract is exported", "Contract: export failed", differs},
		{"合同已导出", "合同导出失败", differs},
		{"合同已导出", "没有导出合同", differs},
		{"The printer is connected", "Printer disconnected", differs},
		{"Sync is enabled", "Sync is disabled", differs},

		// It says the same of another number.
		{"3 contracts are exported", "13 contracts exported", otherNumber},
		{"共导出 3 份合同", "已导出 12 份合同", otherNumber},
		{"Build 9120 passed", "Build 912 passed", otherNumber},

		// It says nothing of it: a name, a wish, a command, a question, something else.
		{"The contract is exported as PDF", "Export contract as PDF", unsaid},
		{"合同已导出", "导出合同", unsaid},
		{"All tests pass", "Tests - IDE", unsaid},
		{"All tests pass", "Run tests", unsaid},
		{"All tests pass", "Tests should pass", unsaid},
		{"All tests pass", "Waiting until the tests passed", unsaid},
		{"测试通过", "等待测试通过", unsaid},
		{"测试通过", "请让测试通过", unsaid},
		{"Tests pass", "Login successful", unsaid},
		{"测试通过", "登录成功", unsaid},
		{"The mail is sent", "The file was saved", unsaid},
		{"3 contracts are exported", "Contracts exported", unsaid},
		{"The upload is complete", "The download is complete", unsaid},
		{"Invoice 77 is paid", "Invoice 77", unsaid},
		{"The lamp blinks twice", "Lamp", unsaid},
	} {
		if got := claims(tt.expected).holds(claims(tt.seen)); got != tt.want {
			t.Errorf("expected %q, seen %q: %v, want %v\n%+v\n%+v", tt.expected, tt.seen, got, tt.want, claims(tt.expected), claims(tt.seen))
		}
	}
}

func TestPathsAreToldFromOtherWords(t *testing.T) {
	for text, want := range map[string]string{
		"form.txt is there":                              "form.txt",
		"A PDF/A file in contracts/2026: K-0417.pdf":     "contracts/2026|K-0417.pdf",
		"saved to ~/docs/a b.txt":                        "~/docs/a|b.txt",
		"保存report.pdf到桌面":                                "report.pdf",
		"文件夹里有 K-0415.pdf":                               "K-0415.pdf",
		"see https://example.com/a.html and example.com": "",
		"yes/no and/or TCP/IP":                           "",
		`C:\Users\Mei\notes.txt`:                         `C:\Users\Mei\notes.txt`,
		"会议纪要.docx 已保存":                                  "会议纪要.docx",
		"version 2.1.3":                                  "",
	} {
		if got := strings.Join(pathsIn(text), "|"); got != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func TestTroubleIsToldFromOtherWords(t *testing.T) {
	for text, want := range map[string]bool{
		"Error": true, "Save failed": true, "Could not save “a.txt”": true, "couldn’t connect": true, "Wrong PIN": true, "Already there": true,
		"导出失败": true, "错误": true, "无法保存": true, "程序未响应": true, "Warning: low disk space": true,
		"No errors": false, "0 errors, 0 warnings": false, "没有错误": false, "errors.log": false, "Export": false, "保存": false, "Terror": false,
		"error_handler.py": false, "Build finished without errors": false, "未发现错误": false, "": false,
	} {
		if trouble(text) != want {
			t.Errorf("%q is %v, want %v", text, !want, want)
		}
	}
}

// outcomes are what a report says of an expectation.
func outcomes(t *testing.T, in summarizers.Input) []string {
	t.Helper()
	r, err := read(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range findOutcome(r) {
		if f.Kind != human.FoundOutcome {
			t.Errorf("%+v is of another kind", f)
		}
		out = append(out, f.Text)
	}
	return out
}

func TestOutcomesAreTold(t *testing.T) {
	for name, tt := range map[string]struct {
		desk   *worker
		expect any
		en, zh []string
	}{
		"a file that came": {
			work("Editor").file("created", "/home/mei/contracts/report.pdf", ""), "report.pdf is in ~/contracts",
			[]string{"As expected (“report.pdf is in ~/contracts”): /home/mei/contracts/report.pdf was created"},
			[]string{"符合预期（“report.pdf is in ~/contracts”）：新建了 /home/mei/contracts/report.pdf"},
		},
		"a file of another name": {
			work("Editor").file("created", "/home/mei/report-v2.pdf", ""), "report.pdf is saved",
			[]string{"Expected “report.pdf is saved”, but /home/mei/report-v2.pdf was created"}, nil,
		},
		"a file with spaces in its name": {
			work("Files").file("renamed", "/d/offer.txt", "/d/offer (3) 1,200.50.txt"), "offer (3) 1,200.50.txt",
			[]string{"As expected (“offer (3) 1,200.50.txt”): offer.txt is now /d/offer (3) 1,200.50.txt"}, nil,
		},
		"a file that got its name and lost it": {
			work("Files").file("renamed", "/d/draft.txt", "/d/final.txt").file("renamed", "/d/final.txt", "/d/draft.txt"), "final.txt",
			[]string{"Expected “final.txt”, but final.txt is now /d/draft.txt"}, nil,
		},
		"a file in a folder with the name of a verb": {
			work("Editor").file("created", "/d/release/notes.txt", ""), "notes.txt in the folder release",
			[]string{"As expected (“notes.txt in the folder release”): /d/release/notes.txt was created"}, nil,
		},
		"a folder that has a word of what should be in the file": {
			work("Editor").file("created", "/d/汇率/rate.txt", ""), "rate.txt 里有今天的汇率",
			[]string{"Of the expected outcome (“rate.txt 里有今天的汇率”), the file is there: /d/汇率/rate.txt was created; the rest cannot be told from the recording"}, nil,
		},
		"an error where none was expected": {
			work("Settings").dialog("Invalid port").click("button", "OK"), "No error message appears",
			[]string{"Expected “No error message appears”, but dialog “Invalid port” came up"}, []string{"与预期（“No error message appears”）不符：出现了对话框“Invalid port”"},
		},
		"that none was seen proves nothing": {
			work("Settings").dialog("Proxy").click("button", "OK"), "No error message appears",
			[]string{"The recording does not confirm what was expected: “No error message appears”"}, nil,
		},
		"a card that was moved": {
			work("Board").add(human.Action{Type: human.Drag, Element: &human.Element{Role: "listitem", Name: "Renew certificate"}, Target: &human.Element{Role: "list", Name: "Done"}}),
			"Renew certificate is in Done",
			[]string{"As expected (“Renew certificate is in Done”): dragged item Renew certificate to list Done"}, nil,
		},
		"a file that may be the one": {
			work("Files").file("created", "/d/invoices-2026-10.csv", ""), "A CSV file with the invoices of October",
			[]string{"Of the expected outcome (“A CSV file with the invoices of October”), there is this: /d/invoices-2026-10.csv was created; the rest cannot be told from the recording"}, nil,
		},
		"a file that came and went": {
			work("Editor").file("created", "/home/mei/report.pdf", "").file("deleted", "/home/mei/report.pdf", ""), "report.pdf",
			[]string{"Expected “report.pdf”, but /home/mei/report.pdf was deleted"}, nil,
		},
		"a file that is to go": {
			work("Files").file("deleted", "/data/old.csv", ""), "old.csv is deleted",
			[]string{"As expected (“old.csv is deleted”): /data/old.csv was deleted"}, nil,
		},
		"a file that is to go and did not": {
			work("Files").file("changed", "/data/old.csv", ""), "old.csv 已删除",
			[]string{"The recording does not confirm what was expected: “old.csv 已删除”"}, []string{"录制内容不足以确认预期结果“old.csv 已删除”"},
		},
		"a file that is to stay as it is": {
			work("Files").file("changed", "/data/old.csv", ""), "old.csv is not changed",
			[]string{"Expected “old.csv is not changed”, but /data/old.csv was saved"}, nil,
		},
		"a file of which more is expected": {
			work("Editor").file("created", "/data/report.pdf", ""), "report.pdf has 14 pages with the signature of Mei Lin",
			[]string{"Of the expected outcome (“report.pdf has 14 pages with the signature of Mei Lin”), the file is there: /data/report.pdf was created; the rest cannot be told from the recording"}, nil,
		},
		"a window that says so": {
			work("IDE").window("12 tests passed - IDE"), "All tests pass",
			[]string{"As expected (“All tests pass”): a window was titled “12 tests passed - IDE”"},
			[]string{"符合预期（“All tests pass”）：窗口标题为“12 tests passed - IDE”"},
		},
		"the last one counts": {
			work("IDE").window("2 tests failed - IDE").window("12 tests passed - IDE"), "All tests pass",
			[]string{"As expected (“All tests pass”): a window was titled “12 tests passed - IDE”"}, nil,
		},
		"also where it is worse": {
			work("IDE").window("12 tests passed - IDE").window("2 tests failed - IDE"), "All tests pass",
			[]string{"Expected “All tests pass”, but a window was titled “2 tests failed - IDE”"},
			[]string{"与预期（“All tests pass”）不符：窗口标题为“2 tests failed - IDE”"},
		},
		"a command is no evidence": {
			work("Signer").click("menuitem", "Export contract").click("button", "Contract exported"), "The contract is exported",
			[]string{"The recording does not confirm what was expected: “The contract is exported”"}, nil,
		},
		"nor is what was typed": {
			work("Chat").typed("Message", "the contract is exported"), "The contract is exported",
			[]string{"The recording does not confirm what was expected: “The contract is exported”"}, nil,
		},
		"the operator's word": {
			work("Lamp").says("The lamp is connected now."), "The lamp is connected",
			[]string{"As expected (“The lamp is connected”): the operator says “The lamp is connected now”"},
			[]string{"符合预期（“The lamp is connected”）：操作者说“The lamp is connected now”"},
		},
		"the operator's word against the screen": {
			work("Lamp").window("Lamp connected").says("It still does not work: the lamp is not connected."), "The lamp is connected",
			[]string{"Expected “The lamp is connected”, but the operator says “It still does not work: the lamp is not connected”"}, nil,
		},
		"a question is no answer": {
			work("Lamp").says("Is the lamp connected?"), "The lamp is connected",
			[]string{"The recording does not confirm what was expected: “The lamp is connected”"}, nil,
		},
		"two things, one of them seen": {
			work("Mail").file("created", "/data/a.pdf", "").says("could not send the mail"), "a.pdf is created, and the mail is sent",
			[]string{"As expected (“a.pdf is created”): /data/a.pdf was created", "Expected “the mail is sent”, but the operator says “could not send the mail”"}, nil,
		},
		"a list": {
			work("Mail").file("created", "/data/a.pdf", ""), []string{"a.pdf is created", "b.pdf is created"},
			[]string{"As expected (“a.pdf is created”): /data/a.pdf was created", "The recording does not confirm what was expected: “b.pdf is created”"}, nil,
		},
		"a window that speaks of an error": {
			work("Travel").window("Trip is registered already - Travel"), "Trip registered",
			[]string{"The recording does not confirm what was expected: “Trip registered”"}, nil,
		},
		"nothing expected": {work("Mail"), 7, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			details, err := json.Marshal(map[string]any{"expected_outcome": tt.expect})
			if err != nil {
				t.Fatal(err)
			}
			for lang, want := range map[string][]string{english: tt.en, chinese: tt.zh} {
				if lang == chinese && want == nil {
					continue
				}
				in := tt.desk.input(lang)
				in.Operation.Details = details
				got := outcomes(t, in)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s\n got %q\nwant %q", lang, got, want)
				}
				holds(t, in, findOutcome)
			}
		})
	}
}

func TestAFieldIsHeldAgainstItsValue(t *testing.T) {
	for expected, want := range map[string]string{
		"Status is Paid":                   "Expected “Status is Paid”, but status is “Overdue since 3 November”",
		"status: Overdue since 3 November": "As expected (“status: Overdue since 3 November”): status is “Overdue since 3 November”",
		"Status 为已付款":                      "Expected “Status 为已付款”, but status is “Overdue since 3 November”",
		"Status is not empty":              "The recording does not confirm what was expected: “Status is not empty”",
		"Balance is 12":                    "The recording does not confirm what was expected: “Balance is 12”",
	} {
		in := work("Billing").input(english)
		details, err := json.Marshal(map[string]any{"expected_outcome": expected})
		if err != nil {
			t.Fatal(err)
		}
		in.Operation.Details = details
		in.Answer.Fields = map[string]string{"status": "Overdue since 3 November", "unit_price": "12.50"}
		if got := outcomes(t, in); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", expected, got, want)
		}
		holds(t, in, findOutcome)
	}
}

// Whatever is said of whatever: what says the contrary, what only names it, and what has another number never counts
// as what was expected.
func TestNothingIsTakenForSuccessThatIsNone(t *testing.T) {
	var happened []string
	for w, v := range enVerbs {
		if v.happened && !v.contrary && v.what != "exist" && !enStop[w] && !strings.Contains(w, "-") && strings.HasSuffix(w, "ed") {
			happened = append(happened, w)
		}
	}
	slices.Sort(happened)
	var named []string
	for w, v := range zhVerbs {
		if !v.happened && !v.contrary {
			named = append(named, w)
		}
	}
	slices.Sort(named)
	rapid.Check(t, func(t *rapid.T) {
		noun := rapid.SampledFrom([]string{"contract", "report", "printer", "invoice", "mail server", "K-0417"}).Draw(t, "noun")
		verb := rapid.SampledFrom(happened).Draw(t, "verb")
		n := rapid.IntRange(2, 99).Draw(t, "number")
		expected := claims("The " + noun + " is " + verb)
		for seen, want := range map[string]bool{
			"the " + noun + " was " + verb:              true,
			noun + " " + verb:                           true,
			"the " + noun + " was not " + verb:          false,
			"the " + noun + " could not be " + verb:     false,
			"no " + noun + " " + verb:                   false,
			"the " + noun + " should be " + verb:        false,
			"waiting until the " + noun + " is " + verb: false,
			"failed: " + noun:                           false,
			noun:                                        false,
			"the lamp was " + verb:                      false,
		} {
			if got := expected.holds(claims(seen)) == agrees; got != want {
				t.Fatalf("expected %q, seen %q: %v", "The "+noun+" is "+verb, seen, got)
			}
		}
		counted := claims(fmt.Sprintf("%d %ss are %s", n, noun, verb))
		if counted.holds(claims(fmt.Sprintf("%d %ss %s", n, noun, verb))) != agrees {
			t.Fatalf("%d is not %d", n, n)
		}
		if counted.holds(claims(fmt.Sprintf("%d %ss %s", n+100, noun, verb))) == agrees || counted.holds(claims(noun+" "+verb)) == agrees {
			t.Fatalf("%d is taken for another number", n)
		}
		thing := rapid.SampledFrom([]string{"合同", "报表", "打印机", "发票"}).Draw(t, "thing")
		do := rapid.SampledFrom(named).Draw(t, "do")
		wanted := claims(thing + "已" + do)
		for seen, want := range map[string]bool{
			thing + "已" + do: true, thing + do + "成功": true, thing + do + "失败": false, thing + "未" + do: false, "没有" + do + thing: false, "请" + do + thing: false,
			do + thing: false, "等待" + thing + do: false, thing: false, "是否已" + do + thing: false,
		} {
			if got := wanted.holds(claims(seen)) == agrees; got != want {
				t.Fatalf("expected %q, seen %q: %v", thing+"已"+do, seen, got)
			}
		}
	})
}
