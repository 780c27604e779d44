package acp

import (
	"encoding/json"

	"agentctl/protocol"
)

// formOf returns the form that asks the client the questions of a request; nil: the client has no
// forms, or the request is not only questions.
func (c *Conn) formOf(a *protocol.Approval) object { return nil }

// formDecision returns the decision that an answered form is.
func formDecision(a *protocol.Approval, result json.RawMessage) (*protocol.ApproveData, bool) {
	return nil, false
}
