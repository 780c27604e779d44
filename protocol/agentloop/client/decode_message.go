package client

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// handleMessage records a message of the server.
func (c *Conn) handleMessage(f codec.Frame) {
	m, ok := wire.DecodeMessage(f)
	if !ok {
		c.raw("", f.Data)
		return
	}
	if m.Type != wire.ErrorType {
		c.confirmDecision()
	}
	if m.Type != wire.LoadingType {
		c.releaseFailure()
	}
	if !c.startsAt.IsZero() && m.Type != wire.ResponseItemType && m.Type != wire.LoadingType && c.sentAs(m.ID) == nil {
		c.startTurn(c.takeNextSend(), "")
	}
	if !c.decodePayload(&m) {
		if m.Type == "" {
			m.Type = "message"
		}
		c.raw(m.Type, f.Data)
	}
}

// decodePayload records a message. It returns false if the message has no native equivalent.
func (c *Conn) decodePayload(m *wire.Message) bool {
	switch m.Type {
	case wire.ResponseItemType:
		return c.handleItem(m.ID, m.Payload)
	case wire.LoadingType:
		var d struct {
			Loading *bool `json:"loading"`
		}
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil || d.Loading == nil {
			return false
		}
		c.handleLoading(*d.Loading)
	case wire.ApprovalRequestType:
		var d wire.ApprovalRequest
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		c.ensureTurn()
		c.closeParts("")
		c.replayEarlier()
		c.turn.failure.err = nil // the turn continues
		c.handleApprovalRequest(&d)
	case wire.FinishedType:
		if c.turn != nil {
			c.closeParts("")
			c.turn.failure.err = nil
		}
	case wire.ContextInfoType:
		var d wire.ContextInfo
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		info := protocol.ContextInfo{
			Tokens: d.TokenCount, MaxTokens: d.MaxTokens, Percent: d.UsagePercent,
			TranscriptLength: d.TranscriptLength, Strategy: truncate(d.Strategy),
		}
		c.add(protocol.ContextUpdated, info)
		if cmd := c.takeContextRequest(protocol.DoContext); cmd != nil {
			c.Answer(cmd, protocol.ContextResult{Context: info})
		}
	case wire.ContextCompactedType:
		var d wire.ContextCompacted
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		cmd := c.takeContextRequest(protocol.DoCompact)
		did := protocol.ContextCompactedData{
			Before: d.OldTokenCount, After: d.NewTokenCount, Percent: d.ReductionPercent,
			Strategy: truncate(d.Strategy), Automatic: cmd == nil,
		}
		c.add(protocol.ContextCompacted, did)
		if cmd != nil {
			c.Answer(cmd, protocol.CompactResult{Compacted: did})
		}
	case wire.ErrorType:
		var d wire.ErrorPayload
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		c.handleError(m.ID, &d)
	default:
		return false
	}
	return true
}

// handleLoading records the start or end of a turn. loading false alone is the end: agent_finished
// comes before or after it, any number of times. A server without a queue sends loading true again
// when a message joins the turn.
func (c *Conn) handleLoading(on bool) {
	if on {
		c.releaseFailure()
	}
	if on && !c.startsAt.IsZero() && !c.queues() && len(c.sends) > 1 { // the second message joins the first
		c.startPendingTurn()
	}
	switch {
	case on && c.turn != nil && !c.queues():
		c.turn.joinsAt = c.Now.Add(echoTimeout)
	case on && c.turn == nil && c.startsAt.IsZero():
		c.startsAt = c.Now.Add(echoTimeout)
	case !on:
		if !c.startsAt.IsZero() {
			c.startTurn(c.takeNextSend(), "")
		}
		if c.turn != nil {
			c.endTurn()
		}
	}
}

// handleError records an error of the server. It answers the pending decision, message or context
// request that it is about, or belongs to the turn. id is that of its frame.
func (c *Conn) handleError(id string, d *wire.ErrorPayload) {
	err, details := decodeError(d)
	if s := c.sentAs(id); s != nil {
		c.rejectSend(s, err)
		return
	}
	aboutApproval := strings.Contains(d.Message, "pproval")
	switch {
	case c.decision != nil && (aboutApproval || c.Now.Before(c.decision.due)):
		c.rejectDecision(d.Message, err)
		return
	case c.explanation != nil && aboutApproval:
		c.failExplanation(err)
		return
	}
	aboutContext := strings.Contains(d.Message, "ontext")
	switch {
	case aboutContext || c.turn == nil && len(c.contextRequests) > 0:
		if cmd := c.takeContextRequest(""); cmd != nil {
			c.Fail(cmd, err)
			return
		}
	case c.turn == nil && !c.queues() && c.oldestSend() != nil:
		c.rejectSend(c.oldestSend(), err)
		return
	}
	c.add(protocol.ErrorRaised, protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: err.Code, Message: err.Message, Details: details,
	})
	if c.turn != nil {
		c.turn.failure = failure{err: err}
	}
}

// decodeError returns the native error, and the details that are plain values.
func decodeError(d *wire.ErrorPayload) (*protocol.Error, map[string]string) {
	err := &protocol.Error{Code: protocol.CodeAgentFailed, Message: truncate(d.Message)}
	if strings.HasPrefix(d.Message, wire.NothingPending) {
		err.Code = protocol.CodeConflict
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.Details, &fields) != nil || len(fields) == 0 {
		return err, nil
	}
	details := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[name]
		if len(details) == 16 || len(name) > 80 {
			break
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		s = protocol.SplitText(protocol.ValidText(s), 1<<10)[0]
		switch {
		case name == "error" && s != "":
			err.Message += ": " + s
		case name == "code" && s != "":
			name = "provider_status"
			for _, code := range wire.KnownCodes {
				if string(code) == s {
					name, err.Code = "", code
				}
			}
		}
		if name != "error" && name != "" {
			details[protocol.ValidText(name)] = s
		}
	}
	if len(details) == 0 {
		details = nil
	}
	return err, details
}

// cancelApprovals ends the pending request without a decision.
func (c *Conn) cancelApprovals() {
	for _, a := range slices.Clone(c.log.State.Approvals) {
		c.resolveApproval(nil, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
	}
	c.releaseItems()
}
