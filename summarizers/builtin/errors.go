package builtin

import (
	"cmp"

	"deskbell/backend/human"
)

// findErrors tells what went wrong in pages on the way: pages that could not be opened or told of an error, dialogs
// that did, dialogs that were dismissed, downloads that did not end well. What comes again is told once.
func findErrors(r *reading) []human.Finding {
	w := r.pages()
	var out []human.Finding
	told := map[string]int{} // where in out something was told already
	var often []int          // how often
	tell := func(what string, confidence float64, text string, evidence ...human.Ref) {
		if i, ok := told[what]; ok {
			often[i]++
			if len(out[i].Evidence)+len(evidence) <= maxRefs {
				out[i].Evidence = append(out[i].Evidence, evidence...)
			}
			return
		}
		if len(out) == enough {
			return
		}
		told[what] = len(out)
		often = append(often, 1)
		out = append(out, finding(human.FoundError, confidence, text, evidence...))
	}
	came := map[string]int{} // files that were downloaded
	for i, a := range r.acts {
		for _, f := range a.Transfers {
			if a.Type == human.Download && f.State == "completed" {
				came[f.Name] = i
			}
		}
	}
	spoke := map[*visit]bool{} // of an error
	for i, a := range r.acts {
		v := w.in[i]
		if v == nil {
			continue
		}
		if n := a.Navigation; n != nil && (a.Type == human.Navigate || a.Type == human.OpenPage) {
			evidence := []human.Ref{a.ref()}
			page := r.page(i, &evidence)
			if len(a.Page.Frame) > 0 && a.Page.FrameURL != "" {
				page = &human.WebPage{URL: a.Page.FrameURL}
			}
			switch {
			case n.Failed != "":
				spoke[v] = true
				code := networkError(n.Failed)
				why := r.say(networkEnglish[code], networkChinese[code])
				if why != "" {
					why = r.say(" (%s)", "（%s）", why)
				}
				tell("failed "+place(page.URL)+n.Failed, 1, r.say("%s could not be opened: %s%s", "%s 打不开：%s%s",
					cmp.Or(r.host(page.URL), r.say("A page", "有一个页面")), name(n.Failed), why), a.ref())
				continue
			case n.Status >= 400:
				spoke[v] = true
				tell("status "+place(page.URL)+string(rune(n.Status)), 1, r.say("%s answered with status %d", "%s 返回了状态码 %d",
					cmp.Or(r.pageAt(page), r.say("A page", "有一个页面")), n.Status), evidence...)
				continue
			}
		}
		if len(a.Page.Frame) == 0 && a.Page.Title != "" && !spoke[v] && r.errorTitle(a.Page.Title) {
			spoke[v] = true
			t := title(a.Page)
			tell("title "+place(a.Page.URL)+t, 0.9, r.say("A page titled %s was shown (%s)", "出现了标题为%s的页面（%s）",
				r.quote(t), cmp.Or(r.host(a.Page.URL), r.say("address not known", "网址未知"))), a.ref())
		}
		switch a.Type {
		case human.DialogEnded:
			if d := a.Dialog; d != nil {
				r.dialogError(d, i, tell)
			}
		case human.Download:
			for _, f := range a.Transfers {
				if f.State == "canceled" {
					what := cmp.Or(r.quote(f.Name), r.say("a file", "一个文件"))
					if j := came[f.Name]; j > i {
						tell("download "+f.Name, 1, r.say("A download of %s was not completed; it was downloaded later", "%s有一次下载没有完成，之后下载成功", what), a.ref(), r.acts[j].ref())
						continue
					}
					tell("download "+f.Name, 1, r.say("The download of %s was not completed", "%s的下载没有完成", what), a.ref())
				}
			}
		case human.Click, human.DoubleClick:
			if text := alerted(a.Element); text != "" {
				tell("alert "+text, 0.7, r.say("The page showed a message: %s", "页面出现提示：%s", r.quote(text)), a.ref())
			}
		}
	}
	for i := range out {
		if n := min(often[i], maxRefs); n > 1 {
			out[i].Text += r.say(", %s", "，共%s", r.times(n, "time", "times"))
		}
	}
	return out
}

func (r *reading) dialogError(d *human.Dialog, i int, tell func(string, float64, string, ...human.Ref)) {
	a, message := r.acts[i], r.quote(d.Message)
	evidence := []human.Ref{a.ref()}
	switch {
	case d.Kind == "beforeunload" && d.Accepted:
		tell("left "+place(a.Page.URL), 0.9, r.say("%s was left although it asked to stay; what was not saved there may be lost", "%s提示未保存，仍然离开了，其中未保存的内容可能丢失",
			cmp.Or(r.pageName(r.page(i, &evidence)), r.say("A page", "页面"))), evidence...)
	case d.Kind == "beforeunload":
	case d.Message != "" && speaksOfError(d.Message, d.Kind != "alert"):
		text := r.say("The page said %s", "页面弹出提示：%s", message)
		if d.Kind != "alert" {
			text = r.say("The page asked %s, and the answer was OK", "页面询问%s，选择了确定", message)
			if !d.Accepted {
				text = r.say("The page asked %s, and the answer was Cancel", "页面询问%s，选择了取消", message)
			}
		}
		tell("dialog "+d.Message, 0.95, text, a.ref())
	case d.Kind != "alert" && !d.Accepted:
		text := r.say("A dialog was dismissed with Cancel", "一个对话框被取消了")
		if message != "" {
			text = r.say("The page asked %s, and the answer was Cancel", "页面询问%s，选择了取消", message)
		}
		tell("dismissed "+d.Message, 1, text, a.ref())
	}
}

// alerted is the name of the alert or dialog that an element lies in, where that speaks of an error.
func alerted(e *human.Element) string {
	if e == nil {
		return ""
	}
	for i := -1; i < len(e.Ancestry); i++ {
		at := e
		if i >= 0 {
			at = &e.Ancestry[i]
		}
		switch at.Role {
		case "alert", "alertdialog", "dialog":
			if text := elementName(at); text != "" && speaksOfError(text, at.Role == "dialog") {
				return text
			}
		}
	}
	return ""
}

// errorTitle asks the words once for each title.
func (r *reading) errorTitle(title string) bool {
	w := r.pages()
	bad, ok := w.bad[title]
	if !ok {
		bad = errorTitle(title)
		w.bad[title] = bad
	}
	return bad
}

// refused says whether a page is no answer but an error, and how it calls that: its title, its status.
func (r *reading) refused(v *visit) (string, bool) {
	if v == nil || v.came < 0 {
		return "", false
	}
	if n := r.acts[v.came].Navigation; n != nil {
		switch {
		case n.Failed != "":
			return name(n.Failed), true
		case n.Status >= 400:
			if t := title(&v.page); t != "" {
				return r.say("%s (status %d)", "%s（状态码 %d）", r.quote(t), n.Status), true
			}
			return r.say("status %d", "状态码 %d", n.Status), true
		}
	}
	if t := title(&v.page); r.errorTitle(v.page.Title) {
		return r.quote(t), true
	}
	return "", false
}
