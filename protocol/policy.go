package protocol

// PolicySetting is the id of the setting for what runs without an approval.
const PolicySetting = "policy"

// PolicyFilePrefix begins the value of that setting if a PolicyFile decides; its name follows.
const PolicyFilePrefix = "file:"

// A PolicyFile decides the requests of a session instead of a user. A request that may match a rule
// of Deny is denied. Otherwise, if it may match a rule of Ask, a user is asked. Otherwise, if it
// certainly matches rules of Allow, it is allowed. For any other request a user is asked.
type PolicyFile struct {
	Name    string       `json:"name,omitempty"` // of the file, for people
	Deny    []PolicyRule `json:"deny,omitempty"`
	Ask     []PolicyRule `json:"ask,omitempty"`
	Allow   []PolicyRule `json:"allow,omitempty"`
	Timeout string       `json:"timeout,omitempty"` // after which a waiting request expires, such as 5m; 0s: immediately
}

// A PolicyRule matches requests that have everything it names.
type PolicyRule struct {
	Tool       string `json:"tool,omitempty"`       // name of the tool
	Program    string `json:"program,omitempty"`    // that a command runs; * in Deny and Ask: any
	Subcommand string `json:"subcommand,omitempty"` // words after the program
	Exact      bool   `json:"exact,omitempty"`      // nothing follows the words; of a path in Allow: it is one file, protected or not
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
