package plugins

// A Confined is what the system keeps from plug-ins here, and what it cannot.
type Confined struct {
	Files     bool     `json:"files" doc:"They read and write nothing but their own."`
	Network   bool     `json:"network" doc:"They have no network."`
	Apart     bool     `json:"apart" doc:"They see and signal no other process."`
	Processes bool     `json:"processes" doc:"The number of their processes is held by the system; else they are counted and ended."`
	Enforced  []string `json:"enforced" doc:"What is kept from them, each in words."`
	Missing   []string `json:"missing" doc:"What cannot be kept from them here, and why."`
}
