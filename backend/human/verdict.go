package human

// NoRisk is the risk of a call that only looks.
const NoRisk Risk = "none"

// Risks lists every risk, the least first.
var Risks = []Risk{NoRisk, LowRisk, MediumRisk, HighRisk, CriticalRisk}

// Level orders risks: 0 for none, 4 for critical. A word that is no risk counts as the highest.
func (r Risk) Level() int {
	for i, known := range Risks {
		if r == known {
			return i
		}
	}
	return len(Risks) - 1
}

// EffectVerb is what a call does to something.
type EffectVerb string

// The kinds of effects.
const (
	FilesystemRead      EffectVerb = "filesystem_read"
	FilesystemWrite     EffectVerb = "filesystem_write"
	FilesystemDelete    EffectVerb = "filesystem_delete"
	GitRead             EffectVerb = "git_read"
	GitWrite            EffectVerb = "git_write"
	GitDiscard          EffectVerb = "git_discard" // work that no commit holds is lost
	GitRemoteWrite      EffectVerb = "git_remote_write"
	GitHistoryRewrite   EffectVerb = "git_history_rewrite"
	NetworkRead         EffectVerb = "network_read"
	NetworkWrite        EffectVerb = "network_write"
	PackageInstall      EffectVerb = "package_install"
	PackageRun          EffectVerb = "package_run" // a script or program that the project or a package names
	LangExec            EffectVerb = "lang_exec"   // code in a programming language, given inline or by file
	ProcessSignal       EffectVerb = "process_signal"
	ContainerEffect     EffectVerb = "container"
	ServiceEffect       EffectVerb = "service" // a service, of this machine or of a provider
	DatabaseEffect      EffectVerb = "database"
	CredentialAccess    EffectVerb = "credential_access"
	PersistenceEffect   EffectVerb = "persistence" // what runs by itself later: shell start files, cron, hooks
	PrivilegeEscalation EffectVerb = "privilege_escalation"
	SecurityWeakening   EffectVerb = "security_weakening"
	CostEffect          EffectVerb = "cost"
	ObfuscatedEffect    EffectVerb = "obfuscated"
	UnknownEffect       EffectVerb = "unknown"
)

// EffectVerbs lists them all.
var EffectVerbs = []EffectVerb{
	FilesystemRead, FilesystemWrite, FilesystemDelete, GitRead, GitWrite, GitDiscard, GitRemoteWrite, GitHistoryRewrite,
	NetworkRead, NetworkWrite, PackageInstall, PackageRun, LangExec, ProcessSignal, ContainerEffect, ServiceEffect,
	DatabaseEffect, CredentialAccess, PersistenceEffect, PrivilegeEscalation, SecurityWeakening, CostEffect,
	ObfuscatedEffect, UnknownEffect,
}

// Reversibility is what it takes to undo an effect.
type Reversibility string

// How an effect can be undone.
const (
	Reversible   Reversibility = "reversible"
	Costly       Reversibility = "costly" // with work, or from a copy that may exist
	Irreversible Reversibility = "irreversible"
)

// BlastRadius is how far an effect reaches.
type BlastRadius string

// How far effects reach.
const (
	FileBlast       BlastRadius = "file"
	ProjectBlast    BlastRadius = "project"
	MachineBlast    BlastRadius = "machine"
	SharedBlast     BlastRadius = "shared" // what others work with: a remote repository, a cluster, a database
	ProductionBlast BlastRadius = "production"
	PublicBlast     BlastRadius = "public" // anybody can see it, or take it
)

// BlastRadii lists them all, the nearest first.
var BlastRadii = []BlastRadius{FileBlast, ProjectBlast, MachineBlast, SharedBlast, ProductionBlast, PublicBlast}

// Near says whether it stays on this machine.
func (b BlastRadius) Near() bool {
	return b == FileBlast || b == ProjectBlast || b == MachineBlast || b == ""
}

// Certainty is how well an effect is known from the call alone.
type Certainty string

// How well an effect is known.
const (
	Certain  Certainty = "certain"
	Likely   Certainty = "likely"   // a name or a verb says so
	Possible Certainty = "possible" // parts of the call are known only when it runs
)

// An Effect is one thing that a call would do.
type Effect struct {
	Verb          EffectVerb    `json:"verb"`
	Resource      string        `json:"resource,omitempty" doc:"What it is done to, as the call names it: a path, a host, a branch."`
	Thing         Code          `json:"thing,omitempty" doc:"Names resource where the call has no name for it, and resource is a sentence of the gatekeeper's."`
	Target        string        `json:"target,omitempty" doc:"The same resolved: an absolute path, a host. Empty where that is not known."`
	Certainty     Certainty     `json:"certainty" enum:"certain,likely,possible"`
	Risk          Risk          `json:"risk" enum:"none,low,medium,high,critical"`
	Reversibility Reversibility `json:"reversibility" enum:"reversible,costly,irreversible"`
	Blast         BlastRadius   `json:"blast_radius" enum:"file,project,machine,shared,production,public"`
	Rule          string        `json:"rule_id" doc:"The rule that found it."`
	HardLimit     bool          `json:"floor,omitempty" doc:"No trust, rule or model lowers it."`
	Words         string        `json:"words,omitempty" doc:"The effect in a sentence for people."`
	FileCounts
}

// A FileCounts is what there is at the path of an effect, where evidence was taken of it.
type FileCounts struct {
	Files int   `json:"files,omitempty" doc:"How many files it holds; 1 for a file. At most 100,000 are counted."`
	Bytes int64 `json:"bytes,omitempty"`
	Kept  Kept  `json:"kept,omitempty" enum:"absent,no_copy,made_here,committed,ignored" doc:"Where else its contents are."`
}

// Kept says where else the contents of a path are; empty where that is not known.
type Kept string

// Where the contents of a path are.
const (
	KeptAbsent    Kept = "absent"    // nothing is there
	KeptNowhere   Kept = "no_copy"   // in no commit, and no other copy is known
	KeptMadeHere  Kept = "made_here" // made by the agent in this session
	KeptCommitted Kept = "committed" // as it stands
	KeptIgnored   Kept = "ignored"   // by version control: build output
)

// Ruling is what happens to a call.
type Ruling string

// What a gatekeeper decides.
const (
	Allow Ruling = "allow"
	Ask   Ruling = "ask"
	Deny  Ruling = "deny"
)

// ChoiceAction is what picking a choice does.
type ChoiceAction string

// What choices do.
const (
	ChooseAllow      ChoiceAction = "allow"
	ChooseDeny       ChoiceAction = "deny"
	ChooseBackup     ChoiceAction = "backup"     // make a verified copy, tell where it is, then allow
	ChooseDifference ChoiceAction = "difference" // show what would change, and ask again
	ChooseInstead    ChoiceAction = "instead"    // deny, and offer Command in its place
	ChooseChange     ChoiceAction = "change"     // let it run with other arguments, which the operator wrote
	ChooseBox        ChoiceAction = "box"        // let it run in a box: on a copy, of which the operator keeps what they choose
)

// A Choice is one answer that an operator can give.
type Choice struct {
	Action      ChoiceAction `json:"action" enum:"allow,deny,backup,difference,instead,change,box"`
	Label       string       `json:"label"`
	Description string       `json:"description,omitempty"`
	Code        Code         `json:"code,omitempty" doc:"Names description."`
	Command     string       `json:"command,omitempty" doc:"Of instead: a command that itself passes the gate at a lower risk."`
	Default     bool         `json:"default,omitempty"`
}

// Form is how something is asked (G2).
type Form string

// The forms.
const (
	Confirm Form = "confirm" // yes or no
	Select  Form = "choice"  // one of several, with a default
	Enter   Form = "input"   // words must be typed before it may run
)

// An Input must be filled before a call may run.
type Input struct {
	Prompt      string `json:"prompt"`
	Code        Code   `json:"code,omitempty" doc:"Names prompt; its parameter is must."`
	Placeholder string `json:"placeholder,omitempty"`
	Must        string `json:"must,omitempty" doc:"What has to be typed, exactly; empty takes anything."`
}

// A Because is one reason for a decision.
type Because struct {
	Rule     string     `json:"rule_id" doc:"A rule of the engine, trust.VERB, rule.ID of one's own, or policy."`
	Verb     EffectVerb `json:"verb,omitempty"`
	Resource string     `json:"resource,omitempty"`
	Risk     Risk       `json:"risk,omitempty" enum:"none,low,medium,high,critical"`
	Trust    *float64   `json:"trust,omitempty" doc:"Of trust.VERB: between 0 and 1."`
	Text     string     `json:"text" doc:"What said says, in English."`
	Said     []Sentence `json:"said,omitempty" doc:"The reason in sentences. Of an effect the first is a does_VERB."`
}

// Reasoned is a reason in sentences.
func Reasoned(b Because, said ...Sentence) Because {
	b.Said, b.Text = said, TextOf(said)
	return b
}

// A Verdict is what the gatekeeper says about one call.
type Verdict struct {
	Decision      Ruling        `json:"decision" enum:"allow,ask,deny"`
	Risk          Risk          `json:"risk" enum:"none,low,medium,high,critical"`
	Reversibility Reversibility `json:"reversibility" enum:"reversible,costly,irreversible"`
	Blast         BlastRadius   `json:"blast_radius" enum:"file,project,machine,shared,production,public"`
	HardLimit     bool          `json:"floor,omitempty" doc:"It touches a hard limit."`
	Reason        string        `json:"reason" doc:"What said says, in English."`
	Said          []Sentence    `json:"said,omitempty" doc:"The weightiest reason in sentences."`
	Rules         []string      `json:"rule_ids" doc:"The rules that took part, the most severe first."`
	Because       []Because     `json:"because,omitempty" doc:"Every reason that counted, the weightiest first."`
	Effects       []Effect      `json:"effects" doc:"The most severe first."`
	Form          Form          `json:"form,omitempty" enum:"confirm,choice,input" doc:"How it is asked."`
	Input         *Input        `json:"input,omitempty" doc:"Of form input."`
	Choices       []Choice      `json:"choices,omitempty"`
	Digest        string        `json:"digest" doc:"sha256:... of the tool, its exact arguments and its folder; an approval holds for this digest only."`
}
