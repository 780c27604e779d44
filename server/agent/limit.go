package agent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// A Limit is a usage limit of the agent's account that ended a turn.
type Limit struct {
	ResetsAt time.Time // zero: not known
	TookIn   bool      // the agent has the message, and worked on it: it is not sent again
}

// A LimitError ends a turn with reason limited.
type LimitError struct {
	Limit

	Message string
}

func (e *LimitError) Error() string { return e.Message }

// End returns the end of a turn that the error ended.
func (e *LimitError) End() End {
	return End{Reason: protocol.ReasonLimited, Code: protocol.CodeLimited, Message: e.Message, Limit: &e.Limit}
}

// AfterLimit is the choice of a user to continue a session after usage limits without a user.
type AfterLimit struct {
	Most       int             `json:"most"`            // continuations
	Used       int             `json:"used,omitempty"`  // of them
	Waits      int             `json:"waits,omitempty"` // in a row for a limit whose end is not known
	By         protocol.Actor  `json:"by"`              // who chose it, and continues
	Credential json.RawMessage `json:"credential,omitempty"`
}
