package settings

import (
	"os/user"
	"time"

	"deskbell/backend/human"
)

// Settings are the values Deskbell runs with. Their meaning, units and defaults are in Table.
type Settings struct {
	Human         Human
	Limits        Limits
	Server        Server
	Operator      Operator
	UI            UI
	Notifications Notifications
	Recording     Recording
	Browser       Browser
	Terminal      Terminal
	Summarizers   Summarizers
	Model         Model
	Plan          Plan
	Updates       Updates
	Phone         Phone
	Sinks         Sinks
	Retention     Retention
	Backup        Backup
	Metrics       Metrics
	Telemetry     Telemetry
	Team          Team
}

// Team are the settings of working with others.
type Team struct {
	SecondApproval string // a human.Risk
}

// Metrics are the settings of what monitoring scrapes.
type Metrics struct {
	Enabled bool
	Agents  bool // with agents' names
}

// Telemetry says where traces go.
type Telemetry struct{ OTLPEndpoint string }

// Backup are the settings of backups of Deskbell's data.
type Backup struct {
	Daily  bool
	At     string // 15:04
	Folder string // "": in the data folder
	Days   int
	Weeks  int
	Months int
}

// Retention are the settings of removing what is old or too much; 0 is never.
type Retention struct {
	PicturesDays   int
	RecordingsDays int
	RequestsDays   int
	MaxMegabytes   int // of 1,000,000 bytes
}

// Sinks are where finished requests go besides the journal (H15).
type Sinks struct {
	Knowledge   bool
	Log         bool
	Folder      string
	WebhookURL  string
	WebhookBody string
}

// Phone says whether phones on the same network come in, and where.
type Phone struct {
	Enabled bool
	Addr    string
}

// Human are the settings of the queue (H13).
type Human struct {
	Enabled            bool
	DefaultTimeout     int // seconds
	MaxPendingRequests int // open operations of one agent
	AutoSummarize      bool
	MaxHistory         int // operations
	UndoSeconds        int // 0: answers leave at once
}

// Limits are how much one request may carry, in bytes, and all attached files together.
type Limits struct {
	MaxDescription int
	MaxDetails     int
	MaxContext     int

	AttachmentsMegabytes int // of 1,000,000 bytes, all attached files together
}

// Server says where the API listens and whom it answers.
type Server struct {
	Addr         string
	AllowHosts   []string
	AllowRemote  bool
	CheckCallers bool
}

// Operator is the person who answers.
type Operator struct{ Name string }

// UI is how the window and the console look.
type UI struct {
	Theme            string
	Language         string
	StartWithSession bool
	AutoAdvance      bool
}

// Notifications are those of the operating system.
type Notifications struct {
	Enabled bool
	After   int // seconds

	RepeatMinutes int // 0: what was not seen is not shown again
	RepeatTimes   int

	QuietUntil      string // RFC 3339, or empty
	QuietWithSystem bool
	QuietCritical   bool // critical requests are shown anyway
}

// Quiet is the end of the time in which the operator is not to be disturbed, or the zero time.
func (n Notifications) Quiet() time.Time {
	until, _ := time.Parse(time.RFC3339, n.QuietUntil) // it was checked when it was read
	return until
}

// Recording are the settings of the recorder.
type Recording struct {
	Enabled         bool
	MaxMinutes      int
	MaxMegabytes    int // of 1,000,000 bytes
	Folders         []string
	Clipboard       string
	Exclude         []string
	ExcludeDefaults bool
}

// Terminal are the settings of terminals that operators work in.
type Terminal struct {
	Shell string
}

// Browser are the settings of browsers that operators work in.
type Browser struct {
	Path       string
	Profile    string
	Exclude    []string
	Parameters []string
	Network    bool
	Console    bool
}

// Summarizers are the settings of drafts of summaries.
type Summarizers struct {
	Use      []string // summary.ParseRule
	Language string
	Plugins  bool
}

// Model is the model that summaries, the gatekeeper and the reference agent may ask.
type Model struct {
	Provider        string
	Name            string
	BaseURL         string
	AllowHTTP       bool
	Pictures        bool
	MaxInputTokens  int
	MaxOutputTokens int
	Price           string
}

// Plan are the settings of confirming agents' plans (P1).
type Plan struct {
	ConfirmByHuman        bool
	ConfirmationTimeout   int // seconds
	AllowTaskModification bool
	AutoConfirmSafeTasks  bool
	Confirmations         int
	Operators             []string
}

// Updates are the settings of asking for new versions.
type Updates struct {
	Check bool
	Feed  string
}

// modelKey is the variable that may have the model's key: no setting, so that it is never in a file.
const modelKey = "DESKBELL_MODEL_KEY"

// DefaultAddr is where the API listens unless told otherwise: a fixed port, so that an address written
// into an agent's configuration stays right.
const DefaultAddr = "127.0.0.1:7717"

// Table has every setting there is, in the order they are shown and documented. Nothing else in the
// program knows a setting's key, default, variable or flag.
var Table = []Setting{
	{
		Key: "human.enabled", Default: true, Restart: true,
		Doc:  "Accept requests. When false, agents get an error that says so.",
		bind: func(s *Settings) any { return &s.Human.Enabled },
	},
	{
		Key: "human.default_timeout", Default: 300, Min: 1, Max: 366 * 24 * 3600, Unit: "seconds", Restart: true,
		Doc:  "When a request without a time limit of its own becomes overdue. It stays open.",
		bind: func(s *Settings) any { return &s.Human.DefaultTimeout },
	},
	{
		Key: "human.max_pending_requests", Default: 10, Min: 1, Max: 100_000, Restart: true,
		Doc:  "How many open operations one agent may have; the next request is an error.",
		bind: func(s *Settings) any { return &s.Human.MaxPendingRequests },
	},
	{
		Key: "human.auto_summarize", Default: true,
		Doc:  "Draft a summary and key findings as soon as recorded work ends, and write the one line of answers that have none.",
		bind: func(s *Settings) any { return &s.Human.AutoSummarize },
	},
	{
		Key: "human.max_history", Default: 100, Min: 1, Max: 10_000, Restart: true,
		Doc:  "How many finished operations get_summary reads. It deletes nothing.",
		bind: func(s *Settings) any { return &s.Human.MaxHistory },
	},
	{
		Key: "human.undo_seconds", Default: 5, Min: 0, Max: 30, Unit: "seconds",
		Doc:  "How long an answer or a decline given in the window can be undone before it is sent; 0: it is sent at once. For approvals above low risk, permissions and plans it always is.",
		bind: func(s *Settings) any { return &s.Human.UndoSeconds },
	},
	{
		Key: "limits.max_description", Default: 16 << 10, Min: 1 << 10, Max: 1 << 20, Unit: "bytes", Restart: true,
		Doc:  "The longest description of a request.",
		bind: func(s *Settings) any { return &s.Limits.MaxDescription },
	},
	{
		Key: "limits.max_details", Default: 1 << 20, Min: 1 << 10, Max: 16 << 20, Unit: "bytes", Restart: true,
		Doc:  "The largest details of a request.",
		bind: func(s *Settings) any { return &s.Limits.MaxDetails },
	},
	{
		Key: "limits.max_context", Default: 1 << 20, Min: 1 << 10, Max: 16 << 20, Unit: "bytes", Restart: true,
		Doc:  "The largest context of a request.",
		bind: func(s *Settings) any { return &s.Limits.MaxContext },
	},
	{
		Key: "limits.attachments_megabytes", Default: 2000, Min: 20, Max: 1_000_000, Unit: "megabytes",
		Doc:  "The space that attached files may take together. A quarter of it is kept for operators.",
		bind: func(s *Settings) any { return &s.Limits.AttachmentsMegabytes },
	},
	{
		Key: "server.addr", Default: DefaultAddr, Env: "DESKBELL_ADDR", Flag: "addr", Restart: true,
		Doc:   "Host and port the API listens on. Port 0 takes any free one.",
		check: checkAddr,
		bind:  func(s *Settings) any { return &s.Server.Addr },
	},
	{
		Key: "server.allow_hosts", Default: []string(nil), Flag: "allow-host", Restart: true,
		Doc:   "Host names that the API accepts besides those of loopback, for a reverse proxy or a tunnel, without ports.",
		check: checkHosts,
		bind:  func(s *Settings) any { return &s.Server.AllowHosts },
	},
	{
		Key: "server.allow_remote", Default: false, Flag: "allow-remote", Restart: true,
		Doc:  "Listen on an address other machines can reach. Traffic is not encrypted: put TLS in front of it.",
		bind: func(s *Settings) any { return &s.Server.AllowRemote },
	},
	{
		Key: "phone.enabled", Default: false,
		Doc:  "Let paired phones on the same network read and answer, over TLS.",
		bind: func(s *Settings) any { return &s.Phone.Enabled },
	},
	{
		Key: "phone.addr", Default: ":7718",
		Doc:   "Host and port for phones. Without a host: all addresses of this machine in private networks.",
		check: checkAddr,
		bind:  func(s *Settings) any { return &s.Phone.Addr },
	},
	{
		Key: "server.check_callers", Default: true, Restart: true,
		Doc:  "Block operators' calls from programs that an agent started, and report them. A server that an agent starts always does.",
		bind: func(s *Settings) any { return &s.Server.CheckCallers },
	},
	{
		Key: "operator.name", Default: osUser(), Flag: "operator", Restart: true,
		Doc:   "The name shown with your answers. The default is your account's name.",
		check: checkName,
		bind:  func(s *Settings) any { return &s.Operator.Name },
	},
	{
		Key: "ui.theme", Default: "system", Allowed: []string{"system", "light", "dark"},
		Doc:  "Colors of the window and the console.",
		bind: func(s *Settings) any { return &s.UI.Theme },
	},
	{
		Key: "ui.language", Default: "system", Allowed: []string{"system", "en", "zh-CN"},
		Doc:  "Language of the window and the console.",
		bind: func(s *Settings) any { return &s.UI.Language },
	},
	{
		Key: "ui.start_with_session", Default: false,
		Doc:  "Start Deskbell, hidden in the tray, when you log in.",
		bind: func(s *Settings) any { return &s.UI.StartWithSession },
	},
	{
		Key: "ui.auto_advance", Default: true,
		Doc:  "Open the next request that waits once one is answered.",
		bind: func(s *Settings) any { return &s.UI.AutoAdvance },
	},
	{
		Key: "notifications.enabled", Default: true,
		Doc:  "Show the operating system's own notification where no card can be shown, or a card was not seen in time.",
		bind: func(s *Settings) any { return &s.Notifications.Enabled },
	},
	{
		Key: "notifications.after", Default: 10, Min: 0, Max: 3600, Unit: "seconds",
		Doc:  "How long a card may be unseen before the operating system's own notification is shown too.",
		bind: func(s *Settings) any { return &s.Notifications.After },
	},
	{
		Key: "notifications.repeat_minutes", Default: 2, Min: 0, Max: 1440, Unit: "minutes",
		Doc:  "Show a request again, with a sound, when no one has seen it for so long, and again after as long; 0: not again.",
		bind: func(s *Settings) any { return &s.Notifications.RepeatMinutes },
	},
	{
		Key: "notifications.repeat_times", Default: 2, Min: 1, Max: 20,
		Doc:  "How often a request that no one has seen is shown again.",
		bind: func(s *Settings) any { return &s.Notifications.RepeatTimes },
	},
	{
		Key: "notifications.quiet_until", Default: "",
		Doc:   "Do not disturb until then: no cards and no notifications. A time such as 2026-11-23T18:00:00Z; empty: off.",
		check: moment,
		bind:  func(s *Settings) any { return &s.Notifications.QuietUntil },
	},
	{
		Key: "notifications.quiet_with_system", Default: true,
		Doc:  "Do not disturb while the system's own do-not-disturb is on, where it can be read.",
		bind: func(s *Settings) any { return &s.Notifications.QuietWithSystem },
	},
	{
		Key: "notifications.quiet_critical", Default: true,
		Doc:  "Show requests of critical risk even then.",
		bind: func(s *Settings) any { return &s.Notifications.QuietCritical },
	},
	{
		Key: "recording.enabled", Default: true, Restart: true,
		Doc:  "Let operators record their work on the desktop. Nothing is recorded before they press Record.",
		bind: func(s *Settings) any { return &s.Recording.Enabled },
	},
	{
		Key: "recording.max_minutes", Default: 120, Min: 1, Max: 24 * 60, Unit: "minutes", Restart: true,
		Doc:  "A recording stops by itself when it is this long, without pauses. It says so before.",
		bind: func(s *Settings) any { return &s.Recording.MaxMinutes },
	},
	{
		Key: "recording.max_megabytes", Default: 500, Min: 1, Max: 100_000, Unit: "megabytes", Restart: true,
		Doc:  "A recording stops by itself when it takes this much space. It says so before.",
		bind: func(s *Settings) any { return &s.Recording.MaxMegabytes },
	},
	{
		Key: "recording.folders", Default: []string(nil),
		Doc:   "Folders in which file operations are recorded, unless a recording names others. Absolute paths, or beginning with ~/.",
		check: checkFolders,
		bind:  func(s *Settings) any { return &s.Recording.Folders },
	},
	{
		Key: "recording.clipboard", Default: "kind", Allowed: []string{"off", "kind", "content"},
		Doc:  "What is recorded when the clipboard changes: nothing, what kind of content it has, or its text as well.",
		bind: func(s *Settings) any { return &s.Recording.Clipboard },
	},
	{
		Key: "recording.exclude", Default: []string(nil), Restart: true,
		Doc:  "Applications and windows that are never recorded, besides the password managers Deskbell knows: names, executables or titles, * for anything.",
		bind: func(s *Settings) any { return &s.Recording.Exclude },
	},
	{
		Key: "recording.exclude_defaults", Default: true, Restart: true,
		Doc:  "Leave out the password managers Deskbell knows and the system's own password prompts.",
		bind: func(s *Settings) any { return &s.Recording.ExcludeDefaults },
	},
	{
		Key: "recording.terminal.shell", Default: "",
		Doc:  "The shell of terminals in Deskbell: bash, zsh, fish, pwsh, or a path. Empty: your own.",
		bind: func(s *Settings) any { return &s.Terminal.Shell },
	},
	{
		Key: "recording.browser.path", Default: "", Restart: true,
		Doc:  "The browser to open: the executable of Chrome, Chromium, Edge or Brave. Empty: the first that is found.",
		bind: func(s *Settings) any { return &s.Browser.Path },
	},
	{
		Key: "recording.browser.profile", Default: "kept", Allowed: []string{"kept", "throwaway"},
		Doc:  "Which profile it opens, unless another is chosen for one recording: Deskbell's own, whose logins stay, or one that is deleted afterwards.",
		bind: func(s *Settings) any { return &s.Browser.Profile },
	},
	{
		Key: "recording.browser.exclude", Default: []string(nil), Restart: true,
		Doc:  "Private sites, of which nothing is recorded: HOST or HOST/PATH, * for anything.",
		bind: func(s *Settings) any { return &s.Browser.Exclude },
	},
	{
		Key: "recording.browser.parameters", Default: []string(nil), Restart: true,
		Doc:  "Parameters of addresses whose values are hidden, besides those Deskbell knows (token, key, password and the like).",
		bind: func(s *Settings) any { return &s.Browser.Parameters },
	},
	{
		Key: "recording.browser.network", Default: false,
		Doc:  "Record all requests of pages, without bodies and credentials, unless a recording says otherwise.",
		bind: func(s *Settings) any { return &s.Browser.Network },
	},
	{
		Key: "recording.browser.console", Default: false,
		Doc:  "Record errors and warnings of pages, unless a recording says otherwise.",
		bind: func(s *Settings) any { return &s.Browser.Console },
	},
	{
		Key: "plan.confirm_by_human", Default: false,
		Doc:  "Have agents' plans confirmed before they run. When false, every plan is confirmed at once, no one is asked, and nothing is stored.",
		bind: func(s *Settings) any { return &s.Plan.ConfirmByHuman },
	},
	{
		Key: "plan.confirmation_timeout", Default: 300, Min: 1, Max: 7 * 24 * 3600, Unit: "seconds",
		Doc:  "How long a plan waits for its answer. Then it times out. An agent may ask for less.",
		bind: func(s *Settings) any { return &s.Plan.ConfirmationTimeout },
	},
	{
		Key: "plan.allow_task_modification", Default: true,
		Doc:  "Let operators change the tasks of a plan. When false, they confirm it or cancel it.",
		bind: func(s *Settings) any { return &s.Plan.AllowTaskModification },
	},
	{
		Key: "plan.auto_confirm_safe_tasks", Default: false,
		Doc:  "Confirm a plan by itself when every task has no or low risk and changes nothing. The history marks it.",
		bind: func(s *Settings) any { return &s.Plan.AutoConfirmSafeTasks },
	},
	{
		Key: "plan.confirmations", Default: 1, Min: 1, Max: 9,
		Doc:  "How many operators have to agree on a plan. An agent may ask for more.",
		bind: func(s *Settings) any { return &s.Plan.Confirmations },
	},
	{
		Key: "plan.operators", Default: []string(nil),
		Doc:   "Operators who all have to agree on a plan, by name.",
		check: checkNames,
		bind:  func(s *Settings) any { return &s.Plan.Operators },
	},
	{
		Key: "team.second_approval", Default: "none", Allowed: []string{"none", "low", "medium", "high", "critical"},
		Doc:  "From this risk on, an approval or a tool call needs two people within 15 minutes, other than the one whose agent asked; none: one is enough. It counts for new requests.",
		bind: func(s *Settings) any { return &s.Team.SecondApproval },
	},
	{
		Key: "retention.pictures_days", Default: 0, Min: 0, Max: 3660, Unit: "days",
		Doc:  "Remove pictures, what terminals printed and attached files of requests that ended this many days ago. 0: never.",
		bind: func(s *Settings) any { return &s.Retention.PicturesDays },
	},
	{
		Key: "retention.recordings_days", Default: 0, Min: 0, Max: 3660, Unit: "days",
		Doc:  "Remove recordings, with all that was recorded, of requests that ended this many days ago. 0: never.",
		bind: func(s *Settings) any { return &s.Retention.RecordingsDays },
	},
	{
		Key: "retention.requests_days", Default: 0, Min: 0, Max: 3660, Unit: "days",
		Doc:  "Remove what was asked and answered, of requests that ended and have not changed for this many days, once their recordings and files are gone. 0: never.",
		bind: func(s *Settings) any { return &s.Retention.RequestsDays },
	},
	{
		Key: "retention.max_megabytes", Default: 0, Min: 0, Max: 10_000_000, Unit: "megabytes",
		Doc:  "Remove the oldest while recordings and attached files take more: pictures, what terminals printed and files first, then recordings. 0: no limit.",
		bind: func(s *Settings) any { return &s.Retention.MaxMegabytes },
	},
	{
		Key: "backup.daily", Default: true,
		Doc:  "Make a backup of Deskbell's data each day.",
		bind: func(s *Settings) any { return &s.Backup.Daily },
	},
	{
		Key: "backup.at", Default: "03:00",
		Doc:   "When the daily backup is made, as HH:MM. One that was missed is made as soon as Deskbell runs.",
		check: checkClock,
		bind:  func(s *Settings) any { return &s.Backup.At },
	},
	{
		Key: "backup.folder", Default: "",
		Doc:   "The folder for backups, best on another disk. Empty: the folder archive in the data folder.",
		check: checkFolder,
		bind:  func(s *Settings) any { return &s.Backup.Folder },
	},
	{
		Key: "backup.days", Default: 7, Min: 0, Max: 3660, Unit: "days",
		Doc:  "Keep the last backup of each of so many days.",
		bind: func(s *Settings) any { return &s.Backup.Days },
	},
	{
		Key: "backup.weeks", Default: 4, Min: 0, Max: 520, Unit: "weeks",
		Doc:  "Keep the last backup of each of so many weeks.",
		bind: func(s *Settings) any { return &s.Backup.Weeks },
	},
	{
		Key: "backup.months", Default: 6, Min: 0, Max: 120, Unit: "months",
		Doc:  "Keep the last backup of each of so many months.",
		bind: func(s *Settings) any { return &s.Backup.Months },
	},
	{
		Key: "sinks.knowledge", Default: true, Restart: true,
		Doc:  "Offer each agent what came of its own requests as MCP resources, with full-text search.",
		bind: func(s *Settings) any { return &s.Sinks.Knowledge },
	},
	{
		Key: "sinks.log", Default: true,
		Doc:  "Write each finished request as a line of JSON to human.log in the data folder, without secrets. At 8 MB it is moved aside; three older files are kept.",
		bind: func(s *Settings) any { return &s.Sinks.Log },
	},
	{
		Key: "sinks.folder", Default: "",
		Doc:   "A folder that gets a file human_operation_ID.json for each finished request, without secrets, such as one in an agent's workspace. It must exist. Empty: none.",
		check: checkFolder,
		bind:  func(s *Settings) any { return &s.Sinks.Folder },
	},
	{
		Key: "sinks.webhook.url", Default: "",
		Doc:   "An address that each finished request is posted to, without secrets. {secret} in it is replaced by the secret of `deskbell webhook set-secret`; without it, that secret signs each request. Empty: none.",
		check: checkWebhook,
		bind:  func(s *Settings) any { return &s.Sinks.WebhookURL },
	},
	{
		Key: "sinks.webhook.body", Default: "",
		Doc:   "What is posted: JSON with places such as {{json .Text}}. Empty: the whole document.",
		check: checkWebhookBody,
		bind:  func(s *Settings) any { return &s.Sinks.WebhookBody },
	},
	{
		Key: "metrics.enabled", Default: false, Restart: true,
		Doc:  "Serve metrics for Prometheus at /metrics, to whoever has the token in metrics.token in the data folder.",
		bind: func(s *Settings) any { return &s.Metrics.Enabled },
	},
	{
		Key: "metrics.agents", Default: false, Restart: true,
		Doc:  "Count requests by their agent's name, too.",
		bind: func(s *Settings) any { return &s.Metrics.Agents },
	},
	{
		Key: "telemetry.otlp_endpoint", Default: "", Restart: true,
		Doc:   "Where traces of requests are sent by OTLP over HTTP, such as http://127.0.0.1:4318, without texts; to another machine by https only. Empty: nowhere.",
		check: checkCollector,
		bind:  func(s *Settings) any { return &s.Telemetry.OTLPEndpoint },
	},
	{
		Key: "updates.check", Default: false,
		Doc:  "Ask updates.feed once a day whether there is a new version of Deskbell, and say so in the doctor. Nothing is downloaded.",
		bind: func(s *Settings) any { return &s.Updates.Check },
	},
	{
		Key: "updates.feed", Default: "",
		Doc:   "Where new versions are looked for: https://api.github.com/repos/OWNER/NAME/releases/latest, or an address that answers alike.",
		check: checkBaseURL,
		bind:  func(s *Settings) any { return &s.Updates.Feed },
	},
	{
		Key: "summarizers.use", Default: []string(nil),
		Doc:   "Which summarizers draft what, first rule that fits: \"kind:browser = browser model\", \"agent:NAME = ...\", \"project:NAME = ...\", \"* = ...\". Without one, the built-in one that fits.",
		check: checkRules,
		bind:  func(s *Settings) any { return &s.Summarizers.Use },
	},
	{
		Key: "summarizers.language", Default: "request", Allowed: []string{"request", "en", "zh-CN"},
		Doc:  "Language of drafts: that of the agent's request, or always one.",
		bind: func(s *Settings) any { return &s.Summarizers.Language },
	},
	{
		Key: "summarizers.plugins", Default: true, Restart: true,
		Doc:  "Use the programs and prompts in the folder summarizers of the data folder.",
		bind: func(s *Settings) any { return &s.Summarizers.Plugins },
	},
	{
		Key: "model.provider", Default: "none", Allowed: []string{"none", "anthropic", "openai"}, Restart: true,
		Doc:  "The protocol of the model that summaries, the gatekeeper and the reference agent may ask; many other providers use openai as well. Its key is in the keychain or the environment, never here.",
		bind: func(s *Settings) any { return &s.Model.Provider },
	},
	{
		Key: "model.name", Default: "", Restart: true,
		Doc:  "The model's name, as its provider writes it.",
		bind: func(s *Settings) any { return &s.Model.Name },
	},
	{
		Key: "model.base_url", Default: "", Restart: true,
		Doc:   "Where the model is asked; empty: the provider's own address. For Ollama: http://127.0.0.1:11434/v1.",
		check: checkBaseURL,
		bind:  func(s *Settings) any { return &s.Model.BaseURL },
	},
	{
		Key: "model.allow_http", Default: false, Restart: true,
		Doc:  "Ask a model on another machine without encryption.",
		bind: func(s *Settings) any { return &s.Model.AllowHTTP },
	},
	{
		Key: "model.pictures", Default: false, Restart: true,
		Doc:  "The model takes pictures, and those of recordings may be sent to it.",
		bind: func(s *Settings) any { return &s.Model.Pictures },
	},
	{
		Key: "model.max_input_tokens", Default: 60_000, Min: 1000, Max: 2_000_000, Unit: "tokens", Restart: true,
		Doc:  "The most that is sent for one summary; what matters least is left out.",
		bind: func(s *Settings) any { return &s.Model.MaxInputTokens },
	},
	{
		Key: "model.max_output_tokens", Default: 4000, Min: 200, Max: 100_000, Unit: "tokens", Restart: true,
		Doc:  "The longest answer for one summary.",
		bind: func(s *Settings) any { return &s.Model.MaxOutputTokens },
	},
	{
		Key: "model.price", Default: "", Restart: true,
		Doc:   "What a million tokens cost, in and out, and the currency, such as \"3 15 USD\"; empty: not known. Runs of agents show their cost by it.",
		check: checkPrice,
		bind:  func(s *Settings) any { return &s.Model.Price },
	},
}

// osUser is the account's name, or "operator" where the system does not tell it.
func osUser() string {
	if u, err := user.Current(); err == nil && checkName(account(u.Username)) == nil {
		return account(u.Username)
	}
	return "operator"
}

// moment is the check of a time, or of none.
func moment(v any) error {
	if text := v.(string); text != "" {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return human.Errorf(human.Invalid, "must be a time such as 2026-11-23T18:00:00Z, or empty")
		}
	}
	return nil
}
