package builtin

import (
	"slices"
	"time"

	"deskbell/backend/human"
)

// findUnseen tells what cannot be known from the recordings: a sentence for each sort of thing.
func findUnseen(r *reading) []human.Finding {
	return slices.Concat(r.gaps(), r.sources(), r.hidden(), r.ended())
}

// gaps tells of stretches that were not recorded, by why.
func (r *reading) gaps() []human.Finding {
	type sort struct {
		reason string
		source human.SourceName
	}
	type hole struct {
		acts []act
		long time.Duration
	}
	holes := map[sort]*hole{}
	var order []sort
	for _, a := range r.acts {
		if a.Type != human.Missing || a.Gap == nil {
			continue
		}
		key := sort{a.Gap.Reason, a.Gap.Source}
		if key.reason == "overflow" {
			key.reason = "lost"
		}
		if key.reason != "lost" {
			key.source = ""
		}
		if holes[key] == nil {
			holes[key] = &hole{}
			order = append(order, key)
		}
		h := holes[key]
		h.acts = append(h.acts, a)
		h.long += time.Duration(max(a.Gap.To-a.Gap.From, 0))
	}
	var out []human.Finding
	for _, key := range order {
		h := holes[key]
		n := len(h.acts)
		times, long := "", ""
		if n > 1 && n <= maxRefs {
			times = r.say(" %d times", " %d 次", n)
		}
		if n == 1 && h.long >= time.Second { // of several, the sum stands in none of them
			long = r.say(" for %s", " %s", r.duration(h.long))
		}
		var text string
		switch key.reason {
		case "paused":
			text = r.say("The recording was paused%s%s; what was done then is not known", "录制曾暂停%s%s，期间的操作不得而知", times, long)
		case "excluded":
			if rec := h.acts[0].rec; !rec.Options.RecordsDesktop() {
				text = r.say("An excluded page was open%s%s; nothing of that was recorded", "打开过被排除的网页%s%s，这部分没有录制", times, long)
				break
			}
			text = r.say("An excluded program or window was in front%s%s; nothing of that was recorded", "有被排除的程序或窗口处于前台%s%s，这部分没有录制", times, long)
		case "crash":
			text = r.say("Deskbell ended while it was recording%s%s; what was done then is missing", "录制期间 Deskbell 曾退出%s%s，这段操作缺失", times, "")
		case "limit":
			text = r.say("A limit of the recording was reached%s%s; what came after is missing in part", "录制达到上限%s%s，之后的内容不完整", times, "")
		case "lost":
			text = r.say("Some of the recording was lost%s (%s)", "部分录制内容丢失%s（%s）", times, r.source(key.source))
		default:
			text = r.say("Something was not recorded%s%s", "有内容未被录制%s%s", times, long)
		}
		out = append(out, finding(human.FoundUnseen, 1, text, refs(h.acts...)...))
	}
	return out
}

// source is what a source records, for people.
func (r *reading) source(s human.SourceName) string {
	switch s {
	case human.InputSource:
		return r.say("pointer and keys", "鼠标和键盘")
	case human.WindowSource:
		return r.say("windows", "窗口")
	case human.ElementSource:
		return r.say("names of what was clicked", "所点击元素的名称")
	case human.ScreenSource:
		return r.say("pictures", "截图")
	case human.FileSource:
		return r.say("files", "文件")
	case human.ClipboardSource:
		return r.say("clipboard", "剪贴板")
	case human.BrowserSource:
		return r.say("pages", "网页")
	}
	return r.say("events", "事件")
}

// sources tells which of them a recording was made without. It rests on the first action: a recording has no
// evidence of what it lacks.
func (r *reading) sources() []human.Finding {
	var out []human.Finding
	for i := range r.in.Recordings {
		rec := &r.in.Recordings[i]
		var missing, partial []string
		for _, s := range rec.Sources {
			switch {
			case s.Status == "missing":
				missing = append(missing, r.source(s.Source))
			case s.Status == "partial" && s.Code != "" || s.Lost > 0:
				partial = append(partial, r.source(s.Source))
			}
		}
		first := r.first(rec.ID)
		if first == nil {
			continue
		}
		if len(missing) > 0 {
			out = append(out, finding(human.FoundUnseen, 0.9, r.say("Not recorded at all: %s", "完全没有录制：%s", r.list(missing)), first.ref()))
		}
		if len(partial) > 0 {
			out = append(out, finding(human.FoundUnseen, 0.9, r.say("Recorded in part only: %s", "只录制了一部分：%s", r.list(partial)), first.ref()))
		}
	}
	return out
}

// first is the first action of a recording, or nil.
func (r *reading) first(rec human.RecordingID) *act {
	for i := range r.acts {
		if r.acts[i].rec.ID == rec {
			return &r.acts[i]
		}
	}
	return nil
}

// hidden tells of texts that nobody may read, and of actions whose words the operator hid. That passwords are not to
// be read needs no saying.
func (r *reading) hidden() []human.Finding {
	var secret, masked []act
	var fields []string
	for _, a := range r.acts {
		switch {
		case a.Masked || a.Hidden == "operator":
			masked = append(masked, a)
		case a.Hidden != "" && a.Hidden != "secret" && a.Hidden != "password" && (a.Type == human.Typing || a.Type == human.Paste):
			secret = append(secret, a)
			if n := elementName(&human.Element{Name: orNone(a.Element).Name, Hidden: orNone(a.Element).Hidden}); n != "" && !slices.Contains(fields, r.quote(n)) && len(fields) < 4 {
				fields = append(fields, r.quote(n))
			}
		}
	}
	var out []human.Finding
	if len(secret) > 0 {
		text := r.say("What was typed is hidden", "输入的内容已隐藏")
		if len(fields) > 0 {
			text = r.say("What was typed into %s is hidden", "在%s中输入的内容已隐藏", r.list(fields))
		}
		out = append(out, finding(human.FoundUnseen, 1, text, refs(secret...)...))
	}
	if len(masked) > 0 {
		n := r.count(min(len(masked), maxRefs), "action", "actions", "个操作")
		if len(masked) > maxRefs {
			n = r.say("many actions", "多个操作")
		}
		out = append(out, finding(human.FoundUnseen, 1, r.say("The operator hid what %s say", "操作者隐藏了 %s 的内容", n), refs(masked...)...))
	}
	return out
}

// ended tells of recordings that end before the work does.
func (r *reading) ended() []human.Finding {
	var out []human.Finding
	last := map[human.RecordingID]act{}
	for _, a := range r.acts {
		last[a.rec.ID] = a
	}
	for i := range r.in.Recordings {
		rec := &r.in.Recordings[i]
		a, ok := last[rec.ID]
		if !ok {
			continue
		}
		crashed := a.Type == human.Missing && a.Gap != nil && a.Gap.Reason == "crash"
		switch {
		case rec.State == human.RecordingInterrupted && !crashed:
			out = append(out, finding(human.FoundUnseen, 1, r.say("The recording was interrupted; what was done afterwards is missing", "录制被中断，之后的操作缺失"), a.ref()))
		case rec.Reason == "limit" || rec.Reason == "failed":
			out = append(out, finding(human.FoundUnseen, 0.9, r.say("The recording ended by itself before the work was said to be done; what came after is missing", "录制在工作结束之前自行停止，之后的操作缺失"), a.ref()))
		}
		if rec.More > 0 {
			out = append(out, finding(human.FoundUnseen, 1, r.say("The recording is longer than what could be read; the last part of it is not in this summary", "录制内容过长，最后一部分未纳入此总结"), a.ref()))
		}
	}
	return out
}
