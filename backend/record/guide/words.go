package guide

import (
	"fmt"

	"deskbell/backend/human"
)

// said is what a guide says in one language.
type said struct {
	lang                                              string
	title, step, apart, by, long                      string
	oneAction, actions, running, complete, incomplete string
	oneGap, gaps, oneCut, cuts, oneMask, masks        string
	oneRegion, regions, oneHidden, hidden             string
	picture, nothing, about, made, hiddenMark         string
	effects, fields, field, value, source, selector   string
	oneRow, rows                                      string
	attachments, bytes, ofRequest, ofAnswer, gone     string
	sources                                           map[human.SourceName]string
	status                                            map[string]string
}

func (s *said) count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

var english = &said{
	lang: "en", title: "Step guide", step: "Step %d", apart: "Outside the checklist", by: "Recorded by %s", long: "%s long",
	oneAction: "1 action", actions: "%d actions",
	running:  "The recording is still running; this is what was done so far.",
	complete: "Complete: everything that happened while it ran was recorded.", incomplete: "Not complete.",
	oneGap: "Not complete: 1 stretch was not recorded.", gaps: "Not complete: %d stretches were not recorded.",
	oneCut: "1 action was left out by the operator.", cuts: "%d actions were left out by the operator.",
	oneMask: "The text of 1 action was hidden by the operator.", masks: "The texts of %d actions were hidden by the operator.",
	oneRegion: "1 region of pictures was masked.", regions: "%d regions of pictures were masked.",
	oneHidden: "1 text or field was hidden while recording.", hidden: "%d texts and fields were hidden while recording.",
	picture: "Picture of step %d: %s", nothing: "Nothing was done in this recording.", about: "About this guide",
	made: "Made with Deskbell from recording %s.", hiddenMark: "hidden",
	effects: "What came of it", fields: "Picked fields", field: "Field", value: "Value", source: "Picked from", selector: "Selector",
	oneRow: "1 more row", rows: "%d more rows",
	attachments: "Attachments", bytes: "%d bytes", ofRequest: "came with the request", ofAnswer: "came with the answer", gone: "no longer stored",
	sources: map[human.SourceName]string{
		human.InputSource: "pointer and keys", human.WindowSource: "windows", human.ElementSource: "names of elements",
		human.ScreenSource: "pictures", human.FileSource: "files", human.ClipboardSource: "clipboard", human.BrowserSource: "browser",
	},
	status: map[string]string{"missing": "Not available: %s", "partial": "In part: %s"},
}

var chinese = &said{
	lang: "zh-CN", title: "操作步骤指南", step: "步骤 %d", apart: "清单之外的操作", by: "录制者：%s", long: "时长 %s",
	oneAction: "1 个操作", actions: "%d 个操作",
	running:  "录制仍在进行；以下是目前为止的操作。",
	complete: "完整：录制期间发生的一切均已记录。", incomplete: "不完整。",
	oneGap: "不完整：有 1 段未录制。", gaps: "不完整：有 %d 段未录制。",
	oneCut: "操作员删去了 1 个操作。", cuts: "操作员删去了 %d 个操作。",
	oneMask: "操作员隐藏了 1 个操作的文字。", masks: "操作员隐藏了 %d 个操作的文字。",
	oneRegion: "图片中有 1 处被涂黑。", regions: "图片中有 %d 处被涂黑。",
	oneHidden: "录制时隐藏了 1 处文字或字段。", hidden: "录制时隐藏了 %d 处文字和字段。",
	picture: "步骤 %d 的图片：%s", nothing: "此次录制中没有任何操作。", about: "关于本指南",
	made: "由 Deskbell 根据录制 %s 生成。", hiddenMark: "已隐藏",
	effects: "由此引起", fields: "采集的字段", field: "字段", value: "值", source: "来源", selector: "选择器",
	oneRow: "另有 1 行", rows: "另有 %d 行",
	attachments: "附件", bytes: "%d 字节", ofRequest: "随请求发送", ofAnswer: "随回答发送", gone: "已不再保存",
	sources: map[human.SourceName]string{
		human.InputSource: "鼠标与键盘", human.WindowSource: "窗口", human.ElementSource: "界面元素名称",
		human.ScreenSource: "图片", human.FileSource: "文件", human.ClipboardSource: "剪贴板", human.BrowserSource: "浏览器",
	},
	status: map[string]string{"missing": "不可用：%s", "partial": "部分可用：%s"},
}
