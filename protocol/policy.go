package protocol

// PolicySetting is the id of the setting that says what runs without an approval.
const PolicySetting = "policy"

// PolicyFilePrefix begins the value of that setting if a PolicyFile decides; its name follows.
const PolicyFilePrefix = "file:"

// A PolicyFile decides about the requests of a session in place of a user. A request that a rule of
// Deny may match is denied; else one that a rule of Ask may match is asked; else one that rules of
// Allow certainly match is allowed; every other one is asked.
type PolicyFile struct {
	Name    string       `json:"name,omitempty"` // of the file, for people
	Deny    []PolicyRule `json:"deny,omitempty"`
	Ask     []PolicyRule `json:"ask,omitempty"`
	Allow   []PolicyRule `json:"allow,omitempty"`
	Timeout string       `json:"timeout,omitempty"` // after which a waiting request expires, such as 5m; 0s: at once
}

// A PolicyRule matches requests that have all of what it names.
type PolicyRule struct {
	Tool       string `json:"tool,omitempty"`       // name of the tool
	Program    string `json:"program,omitempty"`    // that a command runs; * in Deny and Ask: any
	Subcommand string `json:"subcommand,omitempty"` // words after the program
	Exact      bool   `json:"exact,omitempty"`      // nothing follows them
	Path       string `json:"path,omitempty"`       // of files: a pattern with * and **, relative to the directory
}

// Policy returns the policy of the session; empty: not known.
func (s *State) Policy() string {
	if s.Options == nil {
		return ""
	}
	for i := range s.Options.Settings {
		if o := &s.Options.Settings[i]; o.ID == PolicySetting {
			return o.Value
		}
	}
	return ""
}
