package policy

import (
	"slices"

	"agentctl/protocol"
)

// A Policy is a name of a policy, as users write it. The empty one is Ask.
type Policy string

// The policies. In each of them calls run that only read, within the directory of the session.
const (
	Ask      Policy = "ask"       // asks for all others
	AutoRead Policy = "auto-read" // reads outside of the directory too
	AutoEdit Policy = "auto-edit" // changes files within the directory too, but for those of git
	Full     Policy = "full"      // runs everything
	Deny     Policy = "deny"      // denies all others: nobody is there to be asked
	Plan     Policy = "plan"      // denies all others, until a plan is approved
)

// A Description describes a policy to users.
type Description struct {
	Policy Policy
	Label  string
	About  string
}

// All are the policies.
var All = []Description{
	{Ask, "Ask", "reads in the directory run; asks for everything else"},
	{AutoRead, "Reads run", "reads run everywhere; asks for everything else"},
	{AutoEdit, "Edits run", "reads and edits in the directory run; asks for everything else"},
	{Full, "Everything runs", "never asks"},
	{Deny, "Never ask", "reads in the directory run; everything else is denied"},
	{Plan, "Plan", "reads in the directory run; the agent makes a plan to be approved"},
}

// Valid reports whether p is a policy.
func (p Policy) Valid() bool {
	return p == "" || slices.ContainsFunc(All, func(d Description) bool { return d.Policy == p })
}

// A Call is what a policy knows of a call.
type Call struct {
	Kind      string // protocol.ToolRead and others
	Safe      bool   // it only reads, within the directory
	Contained bool   // it reads and changes files within the directory only, and none of git's own
	Plan      bool   // it presents a plan
}

// An Action is what happens to a call.
type Action int

// The actions.
const (
	AskUser Action = iota
	Allow
	Refuse
)

// A Ruling is the judgement of a call. Of a refused call the model gets the reason.
type Ruling struct {
	Action Action
	Reason string
}

// Judge decides about a call.
func (p Policy) Judge(c Call) Ruling {
	reads := c.Kind == protocol.ToolRead || c.Kind == protocol.ToolSearch
	switch {
	case c.Plan:
		return Ruling{Action: AskUser}
	case c.Safe, p == Full, p == AutoRead && reads, p == AutoEdit && c.Kind == protocol.ToolEdit && c.Contained:
		return Ruling{Action: Allow}
	case p == Deny:
		return Ruling{Refuse, "Only reading in the working directory is allowed, and nobody can be asked."}
	case p == Plan && !reads:
		return Ruling{Refuse, "Only reading is allowed until the user approves a plan."}
	}
	return Ruling{Action: AskUser}
}
