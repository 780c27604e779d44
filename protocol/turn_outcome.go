package protocol

import (
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
	ResetsAt   *time.Time    `json:"resets_at,omitempty"` // of the usage limit, with reason limited, if known
}

// A ChangedFile is a file that tool calls of a turn changed, as far as they reported the change.
type ChangedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
}

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
