package protocol

import "time"

// Types of the events of turns.
const (
	TurnStarted Type = "turn.started"
	TurnEnded   Type = "turn.ended"
)

var turnEvents = []EventType{
	{Type: TurnStarted, New: of[TurnStartedData], Exported: true},
	{Type: TurnEnded, New: of[TurnEndedData], Exported: true, reduce: decoded((*State).endTurn)},
}

// Commands about the current turn.
const (
	DoInterrupt Verb = "interrupt"
)

var turnCommands = []CommandType{
	{
		Verb: DoInterrupt, Data: of[InterruptData], Result: of[InterruptResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "interrupting a turn",
		Examples: [2]string{"{}", `{"queue":"clear"}`},
		Routes: []Route{
			{
				Name: "interrupt", Method: "POST", Path: "/api/sessions/{id}/interrupt",
				Summary: "End the current turn.",
			},
		},
	},
}

// InterruptData ends the current turn. If Turn is set and another turn runs, nothing happens.
type InterruptData struct {
	Turn  string `json:"turn,omitempty"`
	Queue string `json:"queue,omitempty"` // keep (default), hold, clear
}

// InterruptResult is answered once turn.ended is visible. Interrupted is false if the turn was
// over.
type InterruptResult struct {
	Interrupted bool   `json:"interrupted"`
	Turn        string `json:"turn,omitempty"`
}

func (s *State) endTurn(e *Event, d *TurnEndedData) {
	at := e.Time
	s.Last = &LastTurn{
		Turn: e.Turn, Reason: d.Reason, Code: d.Code, Message: d.Message, Ended: at, ResetsAt: d.ResetsAt,
	}
	s.Turns++
	s.Turn = nil
	s.endSteering()
	s.History = Cursor{LastMessageID: e.Turn, LastMessageAt: &at}
}

// A Reason is the reason of a turn's end.
type Reason string

// The reasons.
const (
	ReasonCompleted   Reason = "completed"
	ReasonInterrupted Reason = "interrupted"
	ReasonError       Reason = "error"
	ReasonTimeout     Reason = "timeout"
	ReasonMaxTokens   Reason = "max_tokens"
	ReasonMaxRequests Reason = "max_requests"
	ReasonRefusal     Reason = "refusal"
	ReasonBudget      Reason = "budget"  // a limit of cost
	ReasonDenied      Reason = "denied"  // a denial ended it
	ReasonLimited     Reason = "limited" // a usage limit of the agent's account
	ReasonLoop        Reason = "loop"    // the agent repeated a call that changed nothing
)

// TurnStartedData is the data of turn.started.
type TurnStartedData struct {
	MessageID string `json:"message_id"`
	Agent     string `json:"agent,omitempty"`
	Resumed   bool   `json:"resumed,omitempty"` // the agent continues a turn that a restart interrupted
}

// TurnEndedData is the data of turn.ended.
type TurnEndedData struct {
	Reason     Reason `json:"reason"`
	Code       Code   `json:"code,omitempty"`    // with the reasons error and limited
	Message    string `json:"message,omitempty"` // for people
	Usage      *Usage `json:"usage,omitempty"`
	DurationMS int64  `json:"duration_ms"`

	ResetsAt *time.Time `json:"resets_at,omitempty"` // of the limit, with reason limited, if known
}

// Failed reports whether the turn ended for a reason other than completed or interrupted.
func (d *TurnEndedData) Failed() bool {
	switch d.Reason {
	case ReasonCompleted, ReasonInterrupted, ReasonDenied:
		return false
	}
	return true
}
