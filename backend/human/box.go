package human

// Box is the kind of operation by which `deskbell box` asks whether what a command wrote in a box is kept. Agents do not ask for it
// by name: the program does, with the agent's key.
const Box Kind = "box"

// A BoxResult is the details of an operation of kind box. What a command printed or wrote stands in it as it was, but for secrets,
// which are masked.
type BoxResult struct {
	Command string    `json:"command" doc:"What ran, as one would type it."`
	Folder  string    `json:"folder" doc:"In which it ran."`
	Project string    `json:"project" doc:"The folder that was copied: the working tree around it."`
	Code    int       `json:"exit_code"`
	Reason  string    `json:"reason,omitempty" doc:"Why it was ended, where it did not end by itself."`
	Seconds float64   `json:"seconds" doc:"How long it took."`
	Output  string    `json:"output,omitempty" doc:"The last lines that it printed."`
	Lines   int       `json:"output_lines,omitempty" doc:"How many lines it printed in all."`
	Files   []BoxFile `json:"files" doc:"What can be kept, each by itself."`
	More    int       `json:"more,omitempty" doc:"How many more there are, which are discarded."`
	Lost    []string  `json:"lost,omitempty" doc:"What was written and cannot be kept: to secrets, and what is no plain file."`
	Written int64     `json:"written" doc:"Bytes of all that was written."`
	Masked  []string  `json:"masked,omitempty" doc:"Files with secrets of the project, which were empty for it."`
	Limits  BoxLimits `json:"limits"`
	With    string    `json:"made_with,omitempty" doc:"What the box is made of."`
	Risk    Risk      `json:"risk_level" enum:"low,medium,high,critical"`
}

// A BoxFile is a file that a command in a box wrote, or a repository's own files together.
type BoxFile struct {
	Path    string   `json:"path" doc:"Within the project, with slashes. One that ends with a slash is all in that folder but what is listed by itself."`
	Change  string   `json:"change" enum:"added,changed,deleted,mode"`
	Files   int      `json:"files,omitempty" doc:"Of a folder: how many files in it."`
	Sizes   [2]int64 `json:"sizes" doc:"Bytes before and after."`
	Before  string   `json:"mode_before,omitempty" doc:"Permissions, such as -rw-r--r--, where they changed."`
	After   string   `json:"mode_after,omitempty"`
	Link    string   `json:"link,omitempty" doc:"Where a link leads."`
	Warning string   `json:"warning,omitempty" enum:"runs_by_itself,leads_out" doc:"Why it may do more than its text says."`
	Diff    string   `json:"diff,omitempty" doc:"Unified; secrets are masked. Absent for what is no text, or too long."`
}

// BoxLimits are those of a run.
type BoxLimits struct {
	Seconds   float64 `json:"seconds"`
	Memory    int64   `json:"memory" doc:"In bytes."`
	Disk      int64   `json:"disk" doc:"In bytes."`
	Processes int     `json:"processes"`
}

// A BoxAnswer is the part of an answer that boxes have beside the words.
type BoxAnswer struct {
	Keep []string `json:"keep,omitempty" doc:"Of a box: the paths of details.files that are kept. All others are discarded."`
}
