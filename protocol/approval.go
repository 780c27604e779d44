package protocol

import (
	"encoding/json"
	"slices"
	"time"
)

// Types of the events of requests.
const (
	ApprovalRequested Type = "approval.requested"
	ApprovalExplained Type = "approval.explained"
	ApprovalResolved  Type = "approval.resolved"
)

var approvalEvents = []EventType{
	{
		Type: ApprovalRequested, New: of[Approval], Exported: true,
		reduce: decoded(func(s *State, e *Event, d *Approval) {
			d.Turn, d.Task = e.Turn, e.Task
			s.Approvals = append(s.Approvals, *d)
		}),
	},
	{
		Type: ApprovalExplained, New: of[ApprovalExplainedData], Exported: true,
		reduce: decoded(func(s *State, _ *Event, d *ApprovalExplainedData) {
			if a := s.PendingApproval(d.Request); a != nil {
				a.Explained = append(a.Explained, d.Text)
			}
		}),
	},
	{
		Type: ApprovalResolved, New: of[ApprovalResolvedData], Exported: true,
		reduce: decoded(func(s *State, _ *Event, d *ApprovalResolvedData) {
			s.Approvals = slices.DeleteFunc(s.Approvals, func(a Approval) bool { return a.Request == d.Request })
			if d.Rule != nil {
				s.Rules = append(s.Rules, *d.Rule)
			}
		}),
	},
}

// Commands about requests.
const (
	DoApprove  Verb = "approve"
	DoOpenPage Verb = "approval.page"
)

var approvalCommands = []CommandType{
	{
		Verb: DoApprove, Data: of[ApproveData], Result: of[ApproveResult],
		Role: RoleApprover, Session: true, Changes: true,
		Words:    "decisions on requests",
		Examples: [2]string{`{"decision":"allow_once"}`, `{"decision":"deny"}`},
		Routes: []Route{
			{
				Name: "decide", Method: "POST", Path: "/api/sessions/{id}/approvals/{request}/decision",
				Summary: "Decide a request.",
			},
		},
	},
	{
		Verb: DoOpenPage, Data: of[OpenPageData], Result: of[OpenPageResult], Role: RoleApprover, Session: true,
		Words:    "pages that agents ask to open",
		Examples: [2]string{`{"request":"r1"}`, `{"request":"r2"}`},
		Routes: []Route{
			{
				Name: "requestedPage", Method: "GET", Path: "/api/sessions/{id}/approvals/{request}/page",
				Summary: "The whole URL of the page that a request asks to open.", Query: true,
			},
		},
	},
}

// Kinds of approvals.
const (
	ApproveCommand  = "command"
	ApprovePatch    = "patch"
	ApproveTool     = "tool"
	ApprovePlan     = "plan"
	ApproveQuestion = "question"
)

// A Decision is an answer to an approval.
type Decision string

// The decisions.
const (
	AllowOnce   Decision = "allow_once"
	AllowAlways Decision = "allow_always"
	Deny        Decision = "deny"      // the agent continues
	DenyStop    Decision = "deny_stop" // the turn ends and the queue is held
	Explain     Decision = "explain"   // the agent explains, the request stays pending
)

// Valid reports whether d is one of the decisions.
func (d Decision) Valid() bool {
	switch d {
	case AllowOnce, AllowAlways, Deny, DenyStop, Explain:
		return true
	}
	return false
}

// Allows reports whether the agent may do what it asked for.
func (d Decision) Allows() bool { return d == AllowOnce || d == AllowAlways }

// An Outcome is how an approval ended.
type Outcome string

// The outcomes.
const (
	Allowed   Outcome = "allowed"
	Denied    Outcome = "denied"
	Expired   Outcome = "expired"   // no decision in time
	Cancelled Outcome = "cancelled" // the turn ended, the agent left or the server restarted
)

// An Approval is a request for a decision, the data of approval.requested. All its texts come from
// the agent and are untrusted.
type Approval struct {
	Request   string          `json:"request"` // unique within the session
	Kind      string          `json:"kind"`
	Title     string          `json:"title"`
	Tool      string          `json:"tool,omitempty"` // the tool call it is for
	Name      string          `json:"name,omitempty"` // of the tool
	Command   string          `json:"command,omitempty"`
	CWD       string          `json:"cwd,omitempty"`
	Why       string          `json:"why,omitempty"`
	Patch     string          `json:"patch,omitempty"`
	Editable  bool            `json:"editable,omitempty"` // the answer may contain an edited patch, or command
	Content   []Content       `json:"content,omitempty"`  // diffs
	Paths     []string        `json:"paths,omitempty"`
	Tasks     []Task          `json:"tasks,omitempty"`     // of a plan
	Questions []Question      `json:"questions,omitempty"` // of a question
	Page      *Page           `json:"page,omitempty"`      // of a question that asks to open it
	Input     json.RawMessage `json:"input,omitempty"`     // the tool's arguments
	Options   []Option        `json:"options"`
	Expires   *time.Time      `json:"expires,omitempty"`
	Asked     time.Time       `json:"asked"`
	Turn      string          `json:"turn,omitempty"`
	Task      string          `json:"task,omitempty"`

	ApprovalContext
}

// ApprovalContext holds the fields that the session adds to a request.
type ApprovalContext struct {
	AskedBy   *Actor   `json:"asked_by,omitempty"`  // the agent whose message the turn is; nil: a user's
	Explained []string `json:"explained,omitempty"` // explanations so far; only in a state
	Policy    string   `json:"policy,omitempty"`    // the policy that decides it immediately
	Refused   string   `json:"refused,omitempty"`   // why the sandbox refuses what it asks for; no option allows it

	// SubAgent is the sub-agent that asks. The request is pending in the session of its agent, the
	// root, and in its own: a decision in either is the decision. It may outlast the root's turn.
	SubAgent *SubAgent `json:"sub_agent,omitempty"`
}

// A SubAgent is a sub-agent of a session's agent.
type SubAgent struct {
	Session string `json:"session"` // its own session
	Title   string `json:"title,omitempty"`
}

// Mirrors reports whether a pending request of the session is one of its root: it is decided there.
func (s *State) Mirrors(a *Approval) bool {
	return a.SubAgent != nil && a.SubAgent.Session == s.Session
}

// An Option is one way to answer a request. Kind is the decision that it stands for.
type Option struct {
	ID    string   `json:"id"`
	Kind  Decision `json:"kind"`
	Label string   `json:"label"`
	Scope string   `json:"scope,omitempty"` // of allow_always: what the rule will allow
}

// Offered returns the options of a request, by default allow once and deny. No other decision
// exists.
func (a *Approval) Offered() []Option {
	if len(a.Options) > 0 {
		return a.Options
	}
	return []Option{{Kind: AllowOnce, Label: "Allow once"}, {Kind: Deny, Label: "Deny"}}
}

// Offers reports whether a request has an option of a kind.
func (a *Approval) Offers(kind Decision) bool {
	return slices.ContainsFunc(a.Offered(), func(o Option) bool { return o.Kind == kind })
}

// ApprovalInput is the input of an answer, in addition to its decision.
type ApprovalInput struct {
	Tasks   []Task              `json:"tasks,omitempty"`   // of a plan, edited
	Answers map[string][]string `json:"answers,omitempty"` // question id → answers
	Secrets map[string][]string `json:"secrets,omitempty"` // answers to secret questions; never in an event
	Patch   string              `json:"patch,omitempty"`   // edited
	Command string              `json:"command,omitempty"` // edited
	Replan  bool                `json:"replan,omitempty"`  // with deny of a plan and a reason: make a new one
}

// ApprovalExplainedData is the data of approval.explained; the event's By asked for it.
type ApprovalExplainedData struct {
	Request string `json:"request"`
	Text    string `json:"text"`
}

// ApprovalResolvedData is the data of approval.resolved; the event's By decided.
type ApprovalResolvedData struct {
	Request  string         `json:"request"`
	Outcome  Outcome        `json:"outcome"`
	Decision Decision       `json:"decision,omitempty"`
	Option   string         `json:"option,omitempty"`
	Reason   string         `json:"reason,omitempty"` // given with the decision
	Input    *ApprovalInput `json:"input,omitempty"`
	Rule     *Rule          `json:"rule,omitempty"`      // created by allow_always
	ByRule   string         `json:"by_rule,omitempty"`   // the rule that allowed it without asking
	ByPolicy string         `json:"by_policy,omitempty"` // the policy that decided it; its reason is in Reason
	At       *time.Time     `json:"-"`                   // of the event; only in a transcript
}

// ApproveData decides a request, by option or by decision. An empty Request means the only pending
// one.
type ApproveData struct {
	Request  string         `json:"request,omitempty"`
	Decision Decision       `json:"decision,omitempty"`
	Option   string         `json:"option,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Input    *ApprovalInput `json:"input,omitempty"`
}

// ApproveResult reports how the request ended. After explain the request is still pending and
// Outcome is empty.
type ApproveResult struct {
	Request  string   `json:"request"`
	Outcome  Outcome  `json:"outcome,omitempty"`
	Decision Decision `json:"decision"`
	Rule     *Rule    `json:"rule,omitempty"`
}
