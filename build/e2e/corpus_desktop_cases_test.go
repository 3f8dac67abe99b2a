//go:build window

package e2e

import (
	"os"

	"deskbell/backend/human"
	"deskbell/build/corpus"
)

// calculator is a project whose tests fail until its bug is mended.
func calculator(p *clerk, sum string) {
	p.has("my-project/calc.py", "def add(a, b):\n    return "+sum+"\n")
	p.has("my-project/test_calc.py", `import unittest

from calc import add


class Sums(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)

    def test_zero(self):
        self.assertEqual(add(0, 0), 0)

    def test_negative(self):
        self.assertEqual(add(-1, 1), 0)


if __name__ == "__main__":
    unittest.main()
`)
}

// logsIn opens the signer and passes its first window.
func logsIn(p *clerk, arguments ...string) (program *Program) {
	p.t.Helper()
	zh := arguments[0] == "--zh"
	in, main := "Log in", "Signer"
	if zh {
		in, main = "登录", "签署工具"
	}
	program = p.opens("signer", "signer.gtk3.py", in, arguments...)
	p.types("anna")
	p.keys("Tab")
	p.types(signerPassword)
	p.press(in, Button)
	p.shows(main)
	return program
}

var deskCases = []deskCase{
	{
		name: "desktop_settings_changed", source: corpus.Desktop, kind: human.Desktop, what: "Switch the dark theme on in Settings and apply it",
		details: map[string]any{"action_sequence": []string{"Open Settings", "Choose the dark theme", "Apply"}, "expected_outcome": "settings.ini is written"},
		act: func(p *clerk) {
			p.records("config")
			p.opens("Settings", "settings.qt.py", "Settings", p.in("config/settings.ini"))
			p.ticks(0)
			p.press("Theme")
			p.keys("Down", "Return")
			p.ticks(1)
			p.press("Apply", Button)
			p.there("config/settings.ini")
			p.ticks(2)
		},
	},
	{
		name: "desktop_ide_tests_green", source: corpus.Desktop, kind: human.Desktop, agent: "main_agent", what: "请在 IDE 中打开项目并运行测试",
		details: map[string]any{
			"project_path":     "~/my-project",
			"action_sequence":  []string{"打开 IDE", "打开项目", "点击运行测试按钮", "截图测试结果"},
			"expected_outcome": "看到测试通过的绿色标识",
		},
		act: func(p *clerk) {
			calculator(p, "a + b")
			p.records("my-project")
			p.opens("Code", "ide.qt.py", "Code", "--zh")
			p.ticks(0)
			p.chooses("文件", "打开文件夹…")
			p.shows("打开文件夹")
			p.types(p.in("my-project"))
			p.press("打开", Button)
			p.shows("my-project")
			p.ticks(1)
			p.press("运行测试", Button)
			p.shows("✔")
			p.ticks(2)
			p.press("✔ 3 个测试通过")
			p.press("截图", Button)
			p.there("my-project/test-result.png")
			p.ticks(3)
			p.answer.HumanInput = "测试全部通过，看到了绿色标识，截图在项目文件夹里。"
		},
	},
	{
		name: "desktop_ide_tests_mended", source: corpus.Desktop, kind: human.Desktop, what: "Run the tests of my-project in the IDE and make them pass",
		details: map[string]any{"project_path": "~/my-project", "expected_outcome": "3 tests passed"},
		act: func(p *clerk) {
			calculator(p, "a - b")
			p.records("my-project")
			p.opens("Code", "ide.qt.py", "Code")
			p.chooses("File", "Open Folder…")
			p.shows("Open Folder")
			p.types(p.in("my-project"))
			p.press("Open", Button)
			p.shows("my-project")
			p.press("Run tests", Button)
			p.shows("Tests failed")
			p.press("OK", Button)
			p.shows("my-project")
			p.twice("calc.py")
			p.shows("calc.py")
			p.press("Source")
			p.keys("ctrl+a")
			p.writes("def add(a, b):", "    return a + b", "")
			p.keys("ctrl+s")
			p.press("Run tests", Button)
			p.shows("✔ 3 tests passed")
			p.press("✔ 3 tests passed")
			p.answer.HumanInput = "calc.py subtracted instead of adding. It adds now, and the tests pass."
		},
	},
	{
		name: "desktop_contract_exported", source: corpus.Desktop, kind: human.Desktop, what: "Export the signed contract from the desktop client",
		details: map[string]any{
			"action_sequence": []string{
				"Open Signer and log in", "Find contract K-0417", "Check that both signatures are green", "Export as PDF/A with the audit page",
				"Save to contracts/2026", "Close Signer",
			},
			"expected_outcome": "A PDF/A file of 14 pages, the last one the audit page, in contracts/2026: K-0417.pdf",
		},
		act: func(p *clerk) {
			p.records("contracts/2026")
			signer := logsIn(p, p.in("contracts/2026"))
			p.ticks(0)
			p.press("Search")
			p.types("K-0417")
			p.press("K-0417")
			p.shows("K-0417")
			p.ticks(1)
			p.press("both signatures valid")
			p.ticks(2)
			p.chooses("File", "Export as…")
			p.shows("Export")
			p.press("PDF/A-2")
			p.press("Audit page")
			p.press("Export", Button)
			p.there("contracts/2026/K-0417.pdf")
			p.ticks(3, 4)
			p.chooses("File", "Close")
			p.ended(signer)
			p.ticks(5)
			p.answer.HumanInput = "The audit page is off by default in version 8.2."
		},
	},
	{
		name: "desktop_contract_export_failed_first", source: corpus.Desktop, kind: human.Desktop, what: "请把合同 K-0415 导出为 PDF/A",
		details: map[string]any{"expected_outcome": "文件夹里有 K-0415.pdf"},
		act: func(p *clerk) {
			p.records("合同")
			logsIn(p, "--zh", p.in("合同"))
			p.press("K-0415")
			p.shows("K-0415")
			p.chooses("文件", "导出为…")
			p.shows("导出")
			p.press("PDF/A-1")
			p.press("导出", Button)
			p.shows("导出失败")
			p.press("确定", Button)
			p.shows("导出")
			p.press("PDF/A-2")
			p.press("导出", Button)
			p.there("合同/K-0415.pdf")
		},
	},
	{
		name: "desktop_file_deleted_and_restored", source: corpus.Desktop, kind: human.Desktop, what: "请删除过期的文件 old-2019.csv",
		details: map[string]any{"action_sequence": []string{"打开文件管理器", "删除 old-2019.csv"}},
		act: func(p *clerk) {
			p.has("数据/old-2019.csv", "a;b\n1;2\n")
			p.has("数据/prices-2026.csv", "a;b\n3;4\n")
			p.records("数据")
			p.opens("files", "files.gtk3.py", "数据", "--zh", p.in("数据"), p.in(".trash"))
			p.ticks(0)
			p.press("prices-2026.csv")
			p.press("删除", Button)
			p.press("还原", Button)
			p.there("数据/prices-2026.csv")
			p.press("old-2019.csv")
			p.press("删除", Button)
			p.Wait("the file to be gone", func() bool { _, err := os.Stat(p.in("数据/old-2019.csv")); return os.IsNotExist(err) })
			p.ticks(1)
		},
	},
}
