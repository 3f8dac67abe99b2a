package procedure

import (
	"slices"
	"strings"
	"unicode"

	"deskbell/backend/human"
)

// What a procedure does to the world.
const (
	Reads   = "reads"
	Sends   = "sends"
	Pays    = "pays"
	Deletes = "deletes"
)

// doing are words of buttons, which hint at what is done. Nouns do at the end of a name alone, of what is known to write: "Book payment" pays, and
// "Save payment method" does not.
var doing = map[string]struct{ english, nouns, chinese []string }{
	Pays: {
		[]string{"pay", "order", "buy", "purchase", "checkout", "donate", "subscribe", "transfer", "refund"},
		[]string{"payment", "payments", "payout", "payouts", "donation", "remittance"},
		[]string{"付款", "支付", "下单", "购买", "转账", "订阅", "退款"},
	},
	Sends: {[]string{"send", "submit", "publish", "post", "upload", "share"}, nil, []string{"发送", "提交", "发布", "上传", "分享"}}, // of the desktop
	Deletes: {
		[]string{"delete", "remove", "discard", "erase", "cancel", "revoke"}, []string{"deletion", "removal", "cancellation"},
		[]string{"删除", "移除", "清空", "取消", "撤销", "注销"},
	},
}

// hints says whether the name of a button hints at something being done, as a noun where nouns is set.
func hints(name, does string, nouns bool) bool {
	said, of := doing[does], words(name)
	return slices.ContainsFunc(of, func(w string) bool { return slices.Contains(said.english, w) }) ||
		nouns && len(of) > 0 && slices.Contains(said.nouns, of[len(of)-1]) ||
		slices.ContainsFunc(said.chinese, func(w string) bool { return strings.Contains(name, w) })
}

// Does says what a procedure does, from its steps: it reads; it sends where a step writes but does not only sign in, and pays or deletes where the name of what
// such a step is done to says so. Of steps that are not known to write, the name of a button is taken for that, too, but for
// one that cancels: what that leaves is as it was. On the desktop, where it is not seen what is sent, so does that it sends.
func Does(p human.Procedure) []string {
	found := map[string]bool{Reads: true}
	for i, s := range p.Steps {
		found[Sends] = found[Sends] || s.Writes && !signsIn(p.Steps, i)
		if s.Target == nil || !s.Writes && (s.Target.Role != "button" || cancels(s.Target.Name)) {
			continue
		}
		for does := range doing {
			if does != Sends || p.Where == "desktop" { // what a page sends is seen
				found[does] = found[does] || hints(s.Target.Name, does, s.Writes)
			}
		}
	}
	return slices.DeleteFunc([]string{Reads, Sends, Pays, Deletes}, func(does string) bool { return !found[does] })
}

// signsIn says whether a step only signs in: it is done to what says so, right after a secret was typed. What else has a secret, such as a
// transfer with a PIN, says otherwise.
func signsIn(steps []human.ProcedureStep, i int) bool {
	t := steps[i].Target
	if t == nil {
		return false
	}
	name := strings.Join(words(t.Name), " ")
	if !slices.Contains([]string{"sign in", "signin", "log in", "login", "log on", "logon"}, name) && !slices.Contains([]string{"登录", "登入"}, strings.TrimSpace(t.Name)) {
		return false
	}
	for _, s := range slices.Backward(steps[:i]) {
		if s.Secret != "" || !fills(s) {
			return s.Secret != ""
		}
	}
	return false
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// RiskOf is the risk of a procedure by what it declares that it does and by what its steps say: that of sending is medium, that of
// paying and deleting high.
func RiskOf(p human.Procedure) human.Risk {
	does := slices.Concat(p.Does, Does(p))
	switch {
	case slices.Contains(does, Pays) || slices.Contains(does, Deletes):
		return human.HighRisk
	case slices.Contains(does, Sends):
		return human.MediumRisk
	}
	return human.LowRisk
}
