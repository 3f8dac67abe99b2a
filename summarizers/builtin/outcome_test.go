package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// outcomes are what a report says of an expectation.
func outcomes(t *testing.T, in summarizers.Input) []string {
	t.Helper()
	var out []string
	for _, f := range report(t, joined(), in).Findings {
		if f.Kind == human.FoundOutcome {
			out = append(out, f.Text)
		}
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
			[]string{"As expected (“Renew certificate is in Done”): moved “Renew certificate” to “Done”"}, nil,
		},
		"a file that may be the one": {
			work("Files").file("created", "/d/invoices-2026-10.csv", ""), "A CSV file with the invoices of October",
			[]string{"Of the expected outcome (“A CSV file with the invoices of October”), there is this: /d/invoices-2026-10.csv was created; the rest cannot be told from the recording"}, nil,
		},
		"a file that nothing names": {
			work("archive-in – Files"), "There is a file letter-704.csv",
			[]string{"The recording does not confirm what was expected: “There is a file letter-704.csv”"}, nil,
		},
		"a file that nothing names, in Chinese": {
			work("保存文件"), "有文件 plan-511.txt", []string{"The recording does not confirm what was expected: “有文件 plan-511.txt”"}, nil,
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
			for lang, want := range map[string][]string{say.English: tt.en, say.Chinese: tt.zh} {
				if lang == say.Chinese && want == nil {
					continue
				}
				in := tt.desk.input(lang)
				in.Operation.Details = details
				got := outcomes(t, in)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s\n got %q\nwant %q", lang, got, want)
				}
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
		in := work("Billing").input(say.English)
		details, err := json.Marshal(map[string]any{"expected_outcome": expected})
		if err != nil {
			t.Fatal(err)
		}
		in.Operation.Details = details
		in.Answer.Fields = map[string]string{"status": "Overdue since 3 November", "unit_price": "12.50"}
		if got := outcomes(t, in); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", expected, got, want)
		}
	}
}
