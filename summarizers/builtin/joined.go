package builtin

import (
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// joined tells all of an operation as one: several recordings, desktop and browser together, and what was said.
func joined() summarizers.Summarizer {
	return &base{
		about:    about("joined", "Everything", "综合", summarizers.FromAnswer, summarizers.FromDesktop, summarizers.FromBrowser, summarizers.FromTerminal),
		finders:  []finder{united(everything)},
		suggests: []finder{suggestPages, suggestNext},
		line:     joinedLine,
		text:     joinedText,
	}
}

// everything is what all of them look for.
var everything = slices.Concat([]finder{findDecision}, browserFinders, desktopFinders, common, []finder{findTalk, findUnspoken})

// united runs finders, and makes one finding of what two of them tell.
func united(finders []finder) finder {
	return func(r *reading) []human.Finding {
		var all []human.Finding
		for _, f := range finders {
			if r.stopped() {
				return all
			}
			all = append(all, f(r)...)
		}
		return r.unite(all)
	}
}

// unite makes one finding of those that tell the same: in the same words, or the same file, as a download and as a
// file that came to be.
func (r *reading) unite(all []human.Finding) []human.Finding {
	// A download that lands in a watched folder is seen twice.
	landed := map[human.Ref]human.Ref{} // the file's action, by the download's
	last := map[string]act{}
	for _, a := range r.acts {
		switch {
		case a.Type == human.Download && len(a.Transfers) == 1 && a.Transfers[0].State == "completed":
			if f, ok := last[a.Transfers[0].Name]; ok && f.Type == human.FileOperation && apart(a, f) < landsWithin {
				landed[a.ref()] = f.ref()
			}
			last[a.Transfers[0].Name] = a
		case a.Type == human.FileOperation && a.File != nil && (a.File.Op == "created" || a.File.Op == "changed"):
			n := baseName(a.File.Path)
			if d, ok := last[n]; ok && d.Type == human.Download && apart(a, d) < landsWithin {
				landed[d.ref()] = a.ref()
			}
			last[n] = a
		}
	}
	files := map[human.Ref]int{} // findings about one file, by its action
	for i, f := range all {
		if f.Kind == human.FoundDone && len(f.Evidence) == 1 {
			files[f.Evidence[0]] = i
		}
	}
	texts := map[string]int{}
	var out []human.Finding
	gone := map[int]bool{}

	for i := range all {
		if all[i].Kind != human.FoundDone || len(all[i].Evidence) != 1 {
			continue
		}
		if ref, ok := landed[all[i].Evidence[0]]; ok {
			if j, ok := files[ref]; ok && j != i {
				all[i].Evidence = append(all[i].Evidence, ref)
				gone[j] = true
			}
		}
	}
	for i, f := range all {
		if gone[i] {
			continue
		}
		key := string(f.Kind) + "\x00" + f.Text
		if j, ok := texts[key]; ok {
			for _, ref := range f.Evidence {
				if !slices.Contains(out[j].Evidence, ref) && len(out[j].Evidence) < maxRefs {
					out[j].Evidence = append(out[j].Evidence, ref)
				}
			}
			continue
		}
		texts[key] = len(out)
		out = append(out, f)
	}
	return out
}

// landsWithin is how long a download and its file may be apart.
const landsWithin = time.Minute

func apart(a, b act) time.Duration {
	return max(a.began().Sub(b.began()), b.began().Sub(a.began()))
}

// joinedLine is the line of what weighs most: the decision, else what was read, else what was done.
func joinedLine(r *reading, found []human.Finding) string {
	pages, programs := r.sides()
	switch have, missing := r.values(); {
	case r.in.Answer.Decision != "" || !pages && !programs:
		return answerLine(r, found)
	case !programs:
		return browserLine(r, found)
	case pages && len(have)+len(missing) > 0:
		return browserLine(r, found)
	}
	return desktopLine(r, found)
}

// sides says whether something was done in pages, and in programs.
func (r *reading) sides() (pages, programs bool) {
	for _, a := range r.acts {
		switch {
		case a.Page != nil:
			pages = true
		case onDesktop(a):
			programs = true
		}
	}
	return pages, programs || len(r.commands()) > 0
}

// joinedText is one account in the order of time: what was done in each recording, then what came of all.
func joinedText(r *reading, found []human.Finding, left map[human.FindingKind]int) string {
	if len(r.in.Recordings) == 0 {
		return answerText(r, found, left)
	}
	parts := []string{r.recordings()}
	if len(r.in.Recordings) == 1 {
		pages, programs := r.sides()
		if pages {
			parts = append(parts, r.where())
		}
		if programs {
			parts = append(parts, r.account(r.acts))
		}
		if !pages {
			parts = append(parts, r.tookInAll())
		}
	}
	return paragraphs(append(parts,
		r.told("", r.untold(found), human.FoundOutcome, human.FoundValue, human.FoundDone),
		r.told(r.say("On the way: ", "过程中："), found, human.FoundError),
		r.told(r.say("Detours: ", "走过的弯路："), found, human.FoundDetour),
		r.told(r.say("What took long: ", "耗时较长："), found, human.FoundSlow),
		r.told(r.say("Open: ", "未完成："), found, human.FoundUndone),
		r.told(r.say("Not known: ", "无法得知："), found, human.FoundUnseen),
		r.told("", found, human.FoundNote),
		r.leftOut(left),
	)...)
}

// ordinals are what recordings are called by their order, in words: figures are for what was counted.
var (
	enOrdinals = []string{"First", "Second", "Third", "Fourth", "Fifth"}
	zhOrdinals = []string{"第一", "第二", "第三", "第四", "第五"}
)

// recordings says of each recording, where there are several, what it is of, how long it is and what was done in it.
func (r *reading) recordings() string {
	if len(r.in.Recordings) < 2 {
		return ""
	}
	var parts []string
	for i := range r.in.Recordings {
		if i == len(enOrdinals) {
			parts = append(parts, r.say("There are more recordings after these.", "此后还有其他录制。"))
			break
		}
		rec := &r.in.Recordings[i]
		var what []string
		if rec.Options.RecordsDesktop() {
			what = append(what, r.say("desktop", "桌面"))
		}
		if rec.Options.Browser != nil {
			what = append(what, r.say("browser", "浏览器"))
		}
		if len(rec.Commands) > 0 {
			what = append(what, r.say("terminal", "终端"))
		}
		of := r.list(what)
		if rec.Elapsed > 0 {
			of += r.say(", %s", "，%s", r.duration(time.Duration(rec.Elapsed)))
		}
		var acts []act
		var sites []string
		for _, a := range r.acts {
			if a.rec != rec {
				continue
			}
			acts = append(acts, a)
			if a.Page != nil {
				if h := r.host(a.Page.URL); h != "" && !slices.Contains(sites, h) && len(sites) < maxApps {
					sites = append(sites, h)
				}
			}
		}
		did := r.account(acts)
		if len(sites) > 0 {
			did = strings.TrimSpace(r.say("work on %s.", "在 %s 上操作。", r.list(sites)) + r.say(" ", "") + did)
		}
		if did == "" {
			did = r.say("nothing was seen to be done.", "没有看到任何操作。")
		}
		parts = append(parts, r.say("%s recording (%s): %s", "%s段录制（%s）：%s", r.say(enOrdinals[i], zhOrdinals[i]), of, did))
	}
	if took := r.took(); took != "" {
		parts = append(parts, r.say("Together they take %s.", "合计用时 %s。", took))
	}
	return strings.Join(parts, "\n\n")
}
