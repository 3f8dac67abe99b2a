package facts

// sendEnglish is how buttons begin that send what was filled in.
var sendEnglish = []string{
	"add", "apply", "book", "buy", "change", "check out", "checkout", "confirm", "continue", "create", "delete", "done", "finish", "import", "invite",
	"join", "log in", "log on", "login", "next", "ok", "order", "pay", "place order", "post", "publish", "register", "remove", "request", "reset",
	"save", "search", "send", "set", "sign in", "sign on", "sign up", "signin", "submit", "subscribe", "update", "upload", "verify",
}

// changeEnglish is how buttons begin that change something by themselves.
var changeEnglish = []string{
	"accept", "activate", "approve", "archive", "assign", "block", "buy", "cancel order", "cancel subscription", "close account", "close issue", "close ticket",
	"confirm", "create", "deactivate", "decline", "delete", "deny", "deploy", "disable", "enable", "generate", "grant", "import", "invite", "lock",
	"log off", "log out", "logout", "merge", "pay", "place order", "publish", "reboot", "refund", "regenerate", "reject", "remove", "reset", "restart",
	"restore", "revoke", "rotate", "save", "send", "sign out", "start", "stop", "submit", "suspend", "terminate", "transfer", "turn off", "turn on",
	"unassign", "unblock", "unlock", "update",
}

// payEnglish is how buttons begin by which money moves.
var payEnglish = []string{"book now", "buy", "check out", "checkout", "donate", "order now", "pay", "place order", "place the order", "purchase", "refund", "transfer"}

// stepsEnglish is how buttons begin that are meant to be clicked again and again.
var stepsEnglish = []string{
	"add", "back", "collapse", "decrease", "down", "expand", "fewer", "forward", "hide", "increase", "later", "left", "less", "load more", "minus",
	"more", "newer", "next", "older", "open", "page", "pause", "play", "plus", "prev", "previous", "right", "show", "skip", "toggle", "undo", "redo",
	"up", "view more", "zoom",
}

// retryEnglish is how buttons begin that send once more what was sent.
var retryEnglish = []string{"resend", "retry", "send again", "submit again", "try again"}

// passEnglish is in the names of fields for passwords.
var passEnglish = []string{"passcode", "passphrase", "password"}

// signEnglish is in the names of pages and buttons by which people sign in.
var signEnglish = []string{"log in", "log on", "login", "sign in", "sign on", "sign-in", "signin"}

// greetEnglish is how messages to a person begin who has just signed in.
var greetEnglish = []string{"hello", "hi", "signed in", "welcome", "you are now signed in", "you are signed in", "you are logged in"}

// searchEnglish is in the names of what is searched with.
var searchEnglish = []string{"filter", "find", "look up", "query", "search"}

// strongEnglish speaks of an error wherever it stands, weakEnglish in what a page only tells.
var (
	strongEnglish = []string{
		"access denied", "bad request", "denied", "error", "exception", "failed", "failure", "forbidden", "incorrect", "internal server", "invalid",
		"not authorized", "not found", "unauthorized", "went wrong",
	}
	weakEnglish = []string{
		"already exists", "at least", "at most", "already in use", "already taken", "can't", "cannot", "can’t", "declined", "do not match", "does not match", "doesn't match", "doesn’t match", "duplicate", "blocked", "conflict", "could not", "couldn't", "couldn’t", "exceeded",
		"by another person", "by another user", "by somebody else", "by someone else", "illegal", "insufficient", "limit reached", "mismatch", "no longer", "not enough", "out of stock", "refused", "sold out", "suspended", "unsupported",
		"expired", "is required", "is locked", "locked out", "missing", "must be", "must not", "not allowed", "not available", "not permitted", "not supported",
		"not valid", "no permission", "permission to", "please enter", "please fill", "please select", "a problem", "problem with", "rejected", "timed out", "timeout", "too large", "too long",
		"too many", "too short", "try again", "unable", "unavailable", "unknown", "unsuccessful", "wrong",
	}
	// fineEnglish is what sounds like an error and is none.
	fineEnglish = []string{
		"0 errors", "0 failed", "error-free", "no conflict", "no error", "no errors", "no failures", "no problem", "none failed", "without any error",
		"without error", "without errors", "without problems", "zero errors",
	}
)

// errorTitlesEnglish are in the titles of pages that tell of an error, as a part of the title of a few words.
var errorTitlesEnglish = []string{
	"access denied", "an error occurred", "application error", "bad gateway", "bad request", "can't be reached", "can’t be reached",
	"can't find", "can’t find", "cannot be found", "cannot find", "could not be found", "could not find", "couldn't find", "couldn’t find", "does not exist",
	"doesn't exist", "doesn’t exist", "error occurred", "forbidden", "gateway timeout", "has expired", "internal error", "internal server error", "invalid link",
	"is unavailable", "link expired", "log in failed", "login failed", "no access", "no longer available", "no longer exists", "no permission", "not authorised", "not authorized", "not found",
	"page unavailable", "payment failed", "permission denied", "request timeout", "server error", "service unavailable", "session expired",
	"sign in failed", "sign-in failed", "something went wrong", "temporarily unavailable", "timed out", "too many requests", "unauthorized",
	"under maintenance", "unexpected error",
}

// aboutEnglish is in the titles of pages that are about errors.
var aboutEnglish = []string{"bug", "bugs", "documentation", "faq", "issue", "issues", "pull request", "search", "stack overflow", "ticket", "tickets"}

// backEnglish is how links begin that go back to put something right.
var backEnglish = []string{"back", "change", "edit", "go back", "previous"}

// clearEnglish is how buttons begin that empty a form.
var clearEnglish = []string{"clear", "discard", "empty", "reset form", "start over"}
