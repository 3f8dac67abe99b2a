package facts

import (
	"strings"
)

// enTrouble are phrases of errors and warnings; each stands as whole words.
var enTrouble = phrases(`error|errors|failed|failure|failures|fails|fail|cannot|can t|can not|could not|couldn t|unable to|not responding
	|does not respond|access denied|permission denied|denied|refused|rejected|invalid|not valid|crash|crashed|stopped working|has stopped|fatal|exception
	|warning|warnings|not found|does not exist|doesn t exist|no such|timed out|time out|timeout|aborted|not permitted|not allowed
	|no space left|disk is full|disk full|corrupt|corrupted|damaged|expired|unavailable|not available|conflict|went wrong|a problem occurred
	|read only|not writable|locked by|in use by|unexpected|unsupported|not supported|segmentation fault|traceback|panic|killed
	|wrong|incorrect|already there|already exists|registered already|already registered|already sent|already submitted|already in use|already taken|missing|mismatch|not possible|interrupted|lost connection|disconnected|low on|` + moreTrouble)

// enQuiet are phrases that have a word of trouble in them and speak of none.
var enQuiet = phrases(`no error|no errors|without error|without errors|0 error|0 errors|zero errors|error free|no warnings|0 warnings|no warning
	|error log|error logs|error message|error messages|error handling|error code|error codes|error report|error reports|error correction|error page
	|report an error|report error|show errors|next error|previous error|no failures|0 failures|0 failed|none failed|never failed|not failed|did not fail
	|conflict resolution|file not found page|read only mode|error budget|exception list|exception handling`)

// EnHung are what systems add to the title of a window that does not answer.
var EnHung = phrases(`not responding|has stopped responding|is not responding`)

// enNot are words that turn round what is said.
var enNot = set(`not no never without none neither nor cannot unable zero t 0 un ` + moreNot)

// enUnreal are words of what is wanted, meant or still to come: nothing that is said with them has happened.
var enUnreal = set(`should would could please will shall must need needs todo pending if whether unless later tomorrow want wants expect expected
	expecting going planned planning trying try tries waiting how once until when maybe perhaps probably might may hopefully`)

// enStop are words that tell nothing apart.
var enStop = set(`a an the of to in into on onto at by for from with as and or is are be been was were it its this that these those then there here
	all both each every your you we i he she they our their his her my has have had do does did now also so but only just very see seen sees
	shows shown show showing display displays displayed appear appears appeared visible message text screen window dialog page says said
	say reads listed which who what new successfully`)

// enFaint are words of how something looks: they count for little.
var enFaint = set(`green red blue yellow orange mark sign icon tick indicator badge banner label bar light color colour big small correct`)

// A verb is one thing that can have happened, with the words for it. The forms before the colon say that it has
// (saved), those after it only name it (save); a word of the second kind proves nothing. Those with a minus say the
// contrary.
var enVerbs = verbs(moreVerbs + `
	ok: passed pass passes succeeded success successful successfully fine works worked working -failed -failure -fails -fail -failing -broken : succeed test-ok
	done: done finished finishes complete completed completes ready -incomplete -unfinished -pending : finish
	save: saved stored -unsaved : save store saves saving
	create: created made generated produced written built : create make generate write build creates makes
	exist: exists exist present : 
	delete: deleted removed gone erased : delete remove erase deletes
	open: opened open opens : opening
	close: closed : close closing
	on: enabled on active activated checked ticked switched-on -disabled -off -inactive -unchecked : enable activate -disable -deactivate
	connect: connected -disconnected : connect connects -disconnect
	install: installed -uninstalled : install installs -uninstall
	send: sent submitted delivered : send submit deliver sends
	export: exported downloaded : export download exports
	import: imported uploaded : import upload
	login: logged-in signed-in -logged-out -signed-out : login sign-in log-in
	signed: signed -unsigned : sign signs
	print: printed : print
	rename: renamed : rename
	move: moved : move
	copy: copied : copy
	receive: received arrived arrives : receive
	verify: verified confirmed validated -unverified : verify confirm validate
	run: started running runs -stopped -crashed : start run launch -stop
	change: changed updated modified edited -unchanged : change update modify edit
	approve: approved -denied -rejected -declined -refused : approve -deny -reject -decline
	pay: paid -unpaid : pay payment
	choose: selected chosen : select choose
	publish: published deployed released -unpublished : publish deploy release
	merge: merged : merge
	restore: restored recovered : restore recover
	add: added : add
`)

// enCommands is how buttons and menu items begin that do more than lead somewhere else; those of pages are beside them.
var enCommands = entries(`apply|arrange|build|commit|compile|compress|connect|convert|decrypt|disconnect|empty trash|encrypt|execute|export|extract|format|generate|install|log in
	|login|mount|move to|overwrite|print|pull|push|release|rename|replace|run|sign|sync|test|uninstall|unmount|update|upgrade|upload`)

// EnAgain are words on buttons for another try.
var EnAgain = phrases(`retry|try again|reconnect|resend|send again|run again|rerun|re run`)

// EnCancel are words on buttons that give up what was begun; enDrop those that throw away what was written.
var (
	EnCancel = phrases(`cancel|abort|never mind|dismiss`)
	EnDrop   = phrases(`discard|discard changes|don t save|do not save|close without saving|quit without saving|discard and close|exit without saving`)
	enUndo   = phrases(`undo`)
	EnKeep   = phrases(`save|save as|save all|save and close|save changes|save file|store`)
)

// enUnsaved is how programs mark, in words, a document that is not saved.
var enUnsaved = []string{"(modified)", "[modified]", "[+]", "— edited", "- edited", "(unsaved)", "[unsaved]", "(changed)"}

// entries takes apart what is written in one text.
func entries(text string) []string {
	var out []string
	for p := range strings.SplitSeq(text, "|") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// phrases takes a list apart, and puts spaces around each, so that they are found as whole words.
func phrases(text string) []string {
	out := entries(text)
	for i, p := range out {
		out[i] = " " + p + " "
	}
	return out
}

// A verb is what a word says has happened, or only names.
type verb struct {
	what     string
	happened bool
	contrary bool
}

// verbs reads a table of verbs, one in a line: name: words that say it has happened : words that name it.
func verbs(table string) map[string]verb {
	out := map[string]verb{}
	for line := range strings.Lines(table) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for i := 1; i < len(parts); i++ {
			for _, w := range strings.Fields(parts[i]) {
				w, contrary := strings.CutPrefix(w, "-")
				out[w] = verb{what: parts[0], happened: i == 1, contrary: contrary}
			}
		}
	}
	return out
}

// enCloser are words on what closes a window, or a program.
var (
	enCloser = phrases(`close|quit|exit|file|minimize|cancel|close window|close tab|close all|quit without saving|leave`)
	enQuits  = phrases(`quit|exit`) // with the name of the program
)

// EnFixed are words of trouble that is over.
var EnFixed = phrases(`fixed|resolved|solved|repaired|corrected|no longer|went away|recovered|works now|is gone|are gone|cleared`)

// EnMail is how titles of mails begin, which speak of what they are about.
var EnMail = phrases(`re|fw|fwd|aw|wg|about|how to|report|compose|new message|reply`)

// enBusy are words in titles of what is not done yet.
var enBusy = phrases(`running|is being|generating|loading|please wait|processing|working|converting|exporting|importing|uploading|downloading|installing|updating
	|building|connecting|in progress|preparing|saving|copying|moving|searching|scanning|syncing|waiting|wait|too many requests|try again later`)

// enAreas are what reviewers are asked to look at, with the beginnings of words that speak of it; zhAreas the same in
// Chinese, in the same order: an area may be named in one language and spoken about in the other.
var enAreas = [][]string{
	{"secur", "vulnerab", "injection", "unsafe", "safe"}, {"perform", "speed", "slow", "fast", "latency"}, {"readab", "clear", "legib", "readable"}, {"maintain", "maintenance"},
	{"test", "coverage"}, {"error handling", "exception"}, {"correct", "wrong", "bug"}, {"design", "architect"}, {"style", "convention", "format"}, {"naming", "names"},
	{"document", "comment"}, {"concurren", "race", "thread"}, {"accessib"}, {"usab", "user friendly"}, {"cost", "price", "expens"}, {"complex", "complicated"},
	{"scal"}, {"compatib"}, {"privacy", "private", "personal data"}, {"password"}, {"session"}, {"operat", "ops"},
}

// enAskPhrases are how a request for an answer is put that is no question.
var enAskPhrases = phrases(`please tell|please provide|please specify|please say|please confirm|let me know|could you|can you|which one`)

// EnLogin are words on buttons that log a person in.
var EnLogin = phrases(`log in|login|sign in|log on|unlock|connect`)

// EnValueNot is how values begin that are none: not empty, at least 5.
var EnValueNot = phrases(`not|no|at least|at most|more than|less than|over|under|above|below|between|about|any|known|filled in|given|set|read|found|correct|right|visible|shown|the same|greater|larger|smaller|in|on|there`)
