package agentloop

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// hear takes a message of the server.
func (c *Client) hear(f codec.Frame) {
	m, ok := decode(f)
	if !ok {
		c.raw("", f.Data)
		return
	}
	if m.Type != errorType {
		c.settle()
	}
	if !c.starts.IsZero() && m.Type != responseItemType && m.Type != loadingType {
		c.begin(c.unnamed(), "")
	}
	if !c.understand(&m) {
		if m.Type == "" {
			m.Type = "message"
		}
		c.raw(m.Type, f.Data)
	}
}

// understand takes a message; false when it maps to nothing.
func (c *Client) understand(m *message) bool {
	switch m.Type {
	case responseItemType:
		return c.response(m.Payload)
	case loadingType:
		var d struct {
			Loading *bool `json:"loading"`
		}
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil || d.Loading == nil {
			return false
		}
		c.loading(*d.Loading)
	case approvalRequestType:
		var d approvalRequest
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		c.need()
		c.closeParts("")
		c.recall()
		c.turn.fault = nil // it goes on
		c.requested(&d)
	case finishedType:
		if c.turn != nil {
			c.closeParts("")
			c.turn.fault = nil
		}
	case contextInfoType:
		var d contextInfo
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		info := protocol.ContextInfo{
			Tokens: d.TokenCount, MaxTokens: d.MaxTokens, Percent: d.UsagePercent, TranscriptLength: d.TranscriptLength, Strategy: clip(d.Strategy),
		}
		c.add(protocol.ContextUpdated, info)
		if cmd := c.answered(protocol.DoContext); cmd != nil {
			c.desk.Answer(c.out, cmd, protocol.ContextResult{Context: info})
		}
	case contextCompactedType:
		var d contextCompacted
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		cmd := c.answered(protocol.DoCompact)
		did := protocol.ContextCompactedData{
			Before: d.OldTokenCount, After: d.NewTokenCount, Percent: d.ReductionPercent, Strategy: clip(d.Strategy), Automatic: cmd == nil,
		}
		c.add(protocol.ContextCompacted, did)
		if cmd != nil {
			c.desk.Answer(c.out, cmd, protocol.CompactResult{Compacted: did})
		}
	case errorType:
		var d fault
		if m.Payload == nil || json.Unmarshal(m.Payload, &d) != nil {
			return false
		}
		c.fault(&d)
	default:
		return false
	}
	return true
}

// loading takes the start or the end of a turn. The end is loading false alone: agent_finished comes before or after it, once or
// often.
func (c *Client) loading(on bool) {
	switch {
	case on && c.turn == nil && c.starts.IsZero():
		c.starts = c.now.Add(echoWait)
	case !on:
		if !c.starts.IsZero() {
			c.begin(c.unnamed(), "")
		}
		if c.turn != nil {
			c.end()
		}
	}
}

// fault takes an error of the server: it belongs to what was asked last, or to the turn. A decision, a message and a question
// about the context are answered with it.
func (c *Client) fault(d *fault) {
	err, details := faultOf(d)
	aboutApproval := strings.Contains(d.Message, "pproval")
	switch {
	case c.verdict != nil && (aboutApproval || c.now.Before(c.verdict.due)):
		c.refused(d.Message, err)
		return
	case c.why != nil && aboutApproval:
		c.unexplained(err)
		return
	}
	aboutContext := strings.Contains(d.Message, "ontext")
	switch {
	case aboutContext || c.turn == nil && len(c.waits) > 0:
		if cmd := c.answered(""); cmd != nil {
			c.desk.Fail(c.out, cmd, err)
			return
		}
	case c.turn == nil && c.refuse(err):
		return
	}
	c.add(protocol.ErrorRaised, protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: err.Code, Message: err.Message, Details: details,
	})
	if c.turn != nil {
		c.turn.fault = err
	}
}

// known are the codes that a server of ours gives in details.
var known = []protocol.Code{
	protocol.CodeNoSession, protocol.CodeSessionClosed, protocol.CodeForbidden, protocol.CodeUnsupported, protocol.CodeConflict,
	protocol.CodeNotFound, protocol.CodeTooLarge, protocol.CodeTooMany, protocol.CodeNoAgent, protocol.CodeAgentAuth,
	protocol.CodeTimeout, protocol.CodeAgentFailed, protocol.CodeShuttingDown, protocol.CodeStorage, protocol.CodeServerRestart, protocol.CodeInvalidMessage,
}

// faultOf says an error natively, with the details that are plain.
func faultOf(d *fault) (*protocol.Error, map[string]string) {
	err := &protocol.Error{Code: protocol.CodeAgentFailed, Message: clip(d.Message)}
	if strings.HasPrefix(d.Message, nothingPending) {
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
			for _, code := range known {
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

// withdraw ends the request that is pending: nobody can decide it any more.
func (c *Client) withdraw() {
	for _, a := range slices.Clone(c.log.State.Approvals) {
		c.resolve(nil, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
	}
	c.release()
}
