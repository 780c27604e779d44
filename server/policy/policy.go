package policy

import (
	"cmp"
	"slices"

	"agentctl/protocol"
)

// A Policy is a name of a policy, as users write it. The empty one is Ask.
type Policy string

// SettingID is the id of the setting that holds the policy of a session.
const SettingID = protocol.PolicySetting

// The policies. With each of them, calls that only read within the session's directory run.
const (
	Ask      Policy = "ask"       // asks for all others
	AutoRead Policy = "auto-read" // reads outside of the directory too
	AutoEdit Policy = "auto-edit" // changes files within the directory too, except protected ones
	Full     Policy = "full"      // runs everything
	Deny     Policy = "deny"      // denies all others: no user can be asked
	Plan     Policy = "plan"      // denies all others, until a plan is approved
)

// A Description describes a policy to users.
type Description struct {
	Policy   Policy
	Label    string
	About    string // calls of an agent that judges itself
	Requests string // requests of any other agent
}

// All are the policies.
var All = []Description{
	{Ask, "Ask", "reads in the directory run; asks for everything else", "asks for everything that the agent requests"},
	{
		AutoRead, "Reads run", "reads run everywhere; asks for everything else",
		"allows requests to read files in the directory",
	},
	{
		AutoEdit, "Edits run", "reads and edits in the directory run; asks for everything else",
		"allows requests to read or change files in the directory",
	},
	{Full, "Everything runs", "never asks", "allows every request"},
	{
		Deny, "Never ask", "reads in the directory run; everything else is denied",
		"allows requests to read files in the directory, denies all others",
	},
	{
		Plan, "Plan", "reads in the directory run; the agent makes a plan to be approved",
		"allows requests to read files in the directory, until you approve a plan",
	},
}

// Effective returns the policy of a session: the chosen one, or else the configured one. Full holds
// only if it is configured.
func Effective(chosen, configured Policy) Policy {
	configured = cmp.Or(configured, Ask)
	p := cmp.Or(chosen, configured)
	if !p.Valid() || p == Full && configured != Full {
		return configured
	}
	return p
}

// Valid reports whether p is a policy.
func (p Policy) Valid() bool {
	return p == "" || slices.ContainsFunc(All, func(d Description) bool { return d.Policy == p })
}

// Setting returns the policy as a setting of a session. Full is a choice if it is configured.
func Setting(value, configured Policy) protocol.Setting {
	s := protocol.Setting{ID: SettingID, Name: "Policy", Value: string(value), Default: string(configured)}
	for _, d := range All {
		if d.Policy != Full || configured == Full {
			s.Choices = append(s.Choices, protocol.Choice{ID: string(d.Policy), Label: d.Label, About: d.About})
		}
	}
	return s
}

// RequestSetting returns the policy as a setting of a session whose agent does not judge itself.
func RequestSetting(value, configured Policy) protocol.Setting {
	s := Setting(value, configured)
	s.RequestsOnly = true
	for i := range s.Choices {
		at := slices.IndexFunc(All, func(d Description) bool { return string(d.Policy) == s.Choices[i].ID })
		s.Choices[i].About = All[at].Requests
	}
	return s
}

// A Call holds the facts that a policy uses of a call.
type Call struct {
	Kind      string // protocol.ToolRead and others
	Safe      bool   // it only reads, within the directory
	Contained bool   // it reads and changes files within the directory only, none that Protected names
	Plan      bool   // it presents a plan
	Question  bool   // it asks the user something
	Unclear   bool   // its effect is not known

	// Confined: it runs a command that only reads, in a sandbox that writes nothing and has no network. With
	// Contained it names only files within the directory.
	Confined bool

	// Further facts that a policy file uses.

	Dir    string   // of the session
	Tool   string   // its name
	Opaque bool     // its arguments can be read in different ways
	Line   string   // the command, if nothing else runs and it runs in the directory
	Start  string   // where the command runs, absolute; empty: in Dir, or the call is more than a command
	Text   string   // everything known about the call
	Files  []string // that it reads or changes, without links: relative to the directory, or absolute
	Named  []string // the same files as the call names them

	// Protected are the files of Files that Protected names, if the call is otherwise Contained.
	Protected []string
}

// An Action is the outcome of a ruling.
type Action int

// The actions.
const (
	AskUser Action = iota
	Allow
	Refuse
)

// A Ruling is the judgement of a call. The model gets the reason of a refusal.
type Ruling struct {
	Action Action
	Reason string
	Note   string // for users: what a rule means that names the call and does not match it
}

// Judge decides about a call.
func (p Policy) Judge(c Call) Ruling {
	reads := c.Kind == protocol.ToolRead || c.Kind == protocol.ToolSearch
	switch {
	case c.Plan, c.Question && p != Deny:
		return Ruling{Action: AskUser}
	case c.Safe, p == Full, p == AutoRead && reads, p == AutoEdit && c.Kind == protocol.ToolEdit && c.Contained,
		c.Confined && (p == AutoRead || p == Plan && c.Contained):
		return Ruling{Action: Allow}
	case p == Deny:
		return Ruling{
			Action: Refuse,
			Reason: "Only reading in the working directory is allowed, and no user can be asked.",
		}
	case p == Plan && !reads && !c.Unclear:
		return Ruling{Action: Refuse, Reason: "Only reading is allowed until the user approves a plan."}
	}
	return Ruling{Action: AskUser}
}
