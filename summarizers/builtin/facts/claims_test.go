package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatWasSeenIsHeldAgainstWhatWasExpected(t *testing.T) {
	for _, tt := range []struct {
		expected, seen string
		want           Verdict
	}{
		// It says so, in the same words or in others.
		{"All tests pass", "12 tests passed", Agrees},
		{"Tests pass", "Test run: success", Agrees},
		{"The tests have passed", "✔ 3 tests passed", Agrees},
		{"3 tests passed", "✔ 3 tests passed", Agrees},
		{"看到测试通过的绿色标识", "3 个测试通过", Agrees},
		{"看到测试通过的绿色标识", "测试全部通过，看到了绿色标识", Agrees},
		{"看到测试通过的绿色标识", "All tests passed", Agrees},
		{"The tests pass", "测试通过", Agrees},
		{"The contract is exported", "Contract K-0417 was exported", Agrees},
		{"合同已导出", "合同导出成功", Agrees},
		{"No errors", "Build finished with no errors", Agrees},
		{"没有错误", "构建完成，没有错误", Agrees},
		{"12 passed", "12 passed, 0 failed", Agrees},
		{"Balance is 1,200", "Balance: 1200", Agrees},
		{"收到测试短信并成功验证", "收到了测试短信，验证成功", Agrees},
		{"The user is logged in", "User anna logged in", Agrees},
		{"Status is Healthy", "status Healthy", Agrees},

		// It says the contrary.
		{"All tests pass", "2 tests failed", Differs},
		{"All tests pass", "Tests failed", Differs},
		{"All tests pass", "10 tests passed, 2 failed", Differs},
		{"测试通过", "测试失败", Differs},
		{"测试通过", "测试未通过", Differs},
		{"The contract is exported", "The contract could not be exported", Differs},
		{"The contract is exported", "Contract: export failed", Differs},
		{"合同已导出", "合同导出失败", Differs},
		{"合同已导出", "没有导出合同", Differs},
		{"The printer is connected", "Printer disconnected", Differs},
		{"Sync is enabled", "Sync is disabled", Differs},

		// It says the same of another number.
		{"3 contracts are exported", "13 contracts exported", OtherNumber},
		{"共导出 3 份合同", "已导出 12 份合同", OtherNumber},
		{"Build 9120 passed", "Build 912 passed", OtherNumber},

		// It says nothing of it: a name, a wish, a command, a question, something else.
		{"The contract is exported as PDF", "Export contract as PDF", Unsaid},
		{"合同已导出", "导出合同", Unsaid},
		{"All tests pass", "Tests - IDE", Unsaid},
		{"All tests pass", "Run tests", Unsaid},
		{"All tests pass", "Tests should pass", Unsaid},
		{"All tests pass", "Waiting until the tests passed", Unsaid},
		{"测试通过", "等待测试通过", Unsaid},
		{"测试通过", "请让测试通过", Unsaid},
		{"Tests pass", "Login successful", Unsaid},
		{"测试通过", "登录成功", Unsaid},
		{"The mail is sent", "The file was saved", Unsaid},
		{"3 contracts are exported", "Contracts exported", Unsaid},
		{"The upload is complete", "The download is complete", Unsaid},
		{"Invoice 77 is paid", "Invoice 77", Unsaid},
		{"The lamp blinks twice", "Lamp", Unsaid},
	} {
		if got := Claims(tt.expected).Compare(Claims(tt.seen)); got != tt.want {
			t.Errorf("expected %q, seen %q: %v, want %v\n%+v\n%+v", tt.expected, tt.seen, got, tt.want, Claims(tt.expected), Claims(tt.seen))
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
		if Trouble(text) != want {
			t.Errorf("%q is %v, want %v", text, !want, want)
		}
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
		expected := Claims("The " + noun + " is " + verb)
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
			if got := expected.Compare(Claims(seen)) == Agrees; got != want {
				t.Fatalf("expected %q, seen %q: %v", "The "+noun+" is "+verb, seen, got)
			}
		}
		counted := Claims(fmt.Sprintf("%d %ss are %s", n, noun, verb))
		if counted.Compare(Claims(fmt.Sprintf("%d %ss %s", n, noun, verb))) != Agrees {
			t.Fatalf("%d is not %d", n, n)
		}
		if counted.Compare(Claims(fmt.Sprintf("%d %ss %s", n+100, noun, verb))) == Agrees || counted.Compare(Claims(noun+" "+verb)) == Agrees {
			t.Fatalf("%d is taken for another number", n)
		}
		thing := rapid.SampledFrom([]string{"合同", "报表", "打印机", "发票"}).Draw(t, "thing")
		do := rapid.SampledFrom(named).Draw(t, "do")
		wanted := Claims(thing + "已" + do)
		for seen, want := range map[string]bool{
			thing + "已" + do: true, thing + do + "成功": true, thing + do + "失败": false, thing + "未" + do: false, "没有" + do + thing: false, "请" + do + thing: false,
			do + thing: false, "等待" + thing + do: false, thing: false, "是否已" + do + thing: false,
		} {
			if got := wanted.Compare(Claims(seen)) == Agrees; got != want {
				t.Fatalf("expected %q, seen %q: %v", thing+"已"+do, seen, got)
			}
		}
	})
}

// What failed of another number tells nothing; what failed of what was counted does.
func TestNumbersThatTellThingsApart(t *testing.T) {
	for _, tt := range []struct {
		expected, seen string
		want           Verdict
	}{
		{"已保存 107", "We could not save your changes 116", Unsaid},
		{"120 条全部导入成功", "导入结果 成功 118 条，失败 2 条", Differs},
		{"Order 1042 is saved", "Order 1042 could not be saved", Differs},
	} {
		if got := Claims(tt.expected).Compare(Claims(tt.seen)); got != tt.want {
			t.Errorf("%q, and %q is seen: %v, want %v", tt.expected, tt.seen, got, tt.want)
		}
	}
}

// Pages are in any language: what they say was done is held against what was expected in English.
func TestPagesInOtherLanguages(t *testing.T) {
	for _, tt := range []struct{ expected, done, failed string }{
		{"Order Blaue Laterne 12 is created", "Bestellung Blaue Laterne 12 wurde angelegt", "Blaue Laterne 12 konnte nicht angelegt werden"},
		{"Facture 4711 is sent", "Facture 4711 envoyée", "Facture 4711 : échec de l’envoi"},
		{"Deleted Pedido rojo 7", "Se ha eliminado Pedido rojo 7", "No se pudo eliminar Pedido rojo 7"},
		{"Relatório 9 is saved", "Relatório 9 salvo com sucesso", "Não foi possível salvar Relatório 9"},
		{"Bozza 31 is published", "Bozza 31 pubblicata", "Bozza 31 non è stata pubblicata"},
		{"Rekening 5 is paid", "Rekening 5 is betaald", "Betaling mislukt: Rekening 5 is niet betaald"},
		{"Umowa 8 is approved", "Umowa 8 zatwierdzono", "Umowa 8: odmowa"},
		{"Заказ 44 is deleted", "Заказ 44 удалён", "Не удалось удалить Заказ 44"},
		{"مصباح 12 is deleted", "تم حذف مصباح 12", "تعذر حذف مصباح 12"},
		{"ランプ 12 is created", "ランプ 12 を作成しました", "ランプ 12 を作成できませんでした"},
		{"燈籠 12 is deleted", "燈籠 12 已刪除", "刪除失敗：燈籠 12"},
		{"램프 12 is saved", "램프 12 저장되었습니다", "램프 12 저장 실패"},
	} {
		e := Claims(tt.expected)
		if got := e.Compare(Claims(tt.done)); got != Agrees {
			t.Errorf("%q, and the page says %q: %v", tt.expected, tt.done, got)
		}
		if !Happened(tt.done) || Happened(tt.failed) {
			t.Errorf("%q has happened: %v, %q: %v", tt.done, Happened(tt.done), tt.failed, Happened(tt.failed))
		}
		if got := e.Compare(Claims(tt.failed)); got == Agrees {
			t.Errorf("%q, and the page says %q", tt.expected, tt.failed)
		}
	}
}
