package protocol

import (
	"cmp"
	"strings"
	"time"
)

// A TurnOutcome is the end of a turn in one object, for scripts: the last line of a verb that
// waited for it, and the answer of an HTTP request that did.
type TurnOutcome struct {
	Type       string        `json:"type"` // "outcome"
	Session    string        `json:"session"`
	MessageID  string        `json:"message_id,omitempty"`
	Turn       string        `json:"turn,omitempty"`
	Reason     Reason        `json:"reason"`
	Code       Code          `json:"code,omitempty"`
	Message    string        `json:"message,omitempty"` // why it did not complete, for people
	Text       string        `json:"text"`              // of the answer
	Usage      *Usage        `json:"usage,omitempty"`
	Cost       float64       `json:"cost,omitempty"`
	DurationMS int64         `json:"duration_ms"`
	Files      []ChangedFile `json:"files,omitempty"`
	Denied     []Denial      `json:"denied,omitempty"`    // what the agent was denied in the turn
	ResetsAt   *time.Time    `json:"resets_at,omitempty"` // of the usage limit, with reason limited, if known
}

// A ChangedFile is a file that tool calls of a turn changed, as far as they reported the change.
type ChangedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
}

// A Denial is a request of a turn that was denied or expired, or a tool call that was denied without
// a request.
type Denial struct {
	Request  string  `json:"request,omitempty"`
	Tool     string  `json:"tool,omitempty"`
	Kind     string  `json:"kind,omitempty"`
	Action   string  `json:"action"` // what was asked for, or the title; at most maxDeniedAction bytes
	Outcome  Outcome `json:"outcome"`
	By       *Actor  `json:"by,omitempty"`
	ByPolicy string  `json:"by_policy,omitempty"`
	Reason   string  `json:"reason,omitempty"` // given with the decision
}

// maxDeniedAction is the size limit of the action of a denial.
const maxDeniedAction = 1000

// Denials returns what was denied in a turn, requests first.
func Denials(items []*Item) (list []Denial) {
	asked := map[string]bool{} // tools with a request that was denied
	for _, it := range items {
		if r := it.Resolved; r != nil && it.Approval != nil && (r.Outcome == Denied || r.Outcome == Expired) {
			a := it.Approval
			asked[a.Tool] = true
			list = append(list, Denial{
				Request: r.Request, Tool: a.Tool, Kind: a.Kind, Action: deniedAction(cmp.Or(a.Action(), a.Title, a.Name, a.Kind)),
				Outcome: r.Outcome, By: it.By, ByPolicy: r.ByPolicy, Reason: r.Reason,
			})
		}
	}
	for _, it := range items {
		if t := it.Tool; t != nil && t.End != nil && t.End.Status == ToolDenied && !asked[it.ID] {
			list = append(list, Denial{
				Tool: it.ID, Kind: t.Kind, Action: deniedAction(cmp.Or(t.Title, t.Name, it.ID)), Outcome: Denied,
			})
		}
	}
	return list
}

func deniedAction(s string) string { return SplitText(s, maxDeniedAction)[0] }

// NewTurnOutcome returns the outcome of a turn, without its changed files. A nil turn means that
// only its end is known.
func NewTurnOutcome(session string, turn *Turn, end *TurnEndedData) TurnOutcome {
	o := TurnOutcome{
		Type: "outcome", Session: session, Reason: end.Reason, Code: end.Code, Message: end.Message, Usage: end.Usage,
		DurationMS: end.DurationMS, ResetsAt: end.ResetsAt,
	}
	if end.Usage != nil {
		o.Cost = end.Usage.Cost
	}
	if turn != nil {
		o.Turn, o.MessageID, o.Text = turn.Turn, turn.Message.MessageID, AnswerText(turn.Items)
		o.Denied = Denials(turn.Items)
	}
	return o
}

// AnswerText joins the texts of the agent by lines, without texts of its tasks and sub-agents.
func AnswerText(items []*Item) string {
	var parts []string
	for _, it := range items {
		if it.Kind == ItemText && it.Task == "" && it.Parent == "" && len(it.Text) > 0 {
			parts = append(parts, it.Text.String())
		}
	}
	return strings.Join(parts, "\n")
}
