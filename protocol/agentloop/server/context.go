package server

import (
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// An agent that does not report its context is estimated, as AgentLoop does: from the transcript,
// with these numbers.
const (
	estimatedWindow   = 200_000 // tokens
	bytesPerToken     = 4
	estimatedStrategy = "estimate"
)

// handleContext answers with the context usage that the agent reports, else with an estimate. There
// is always an answer: clients compute with its numbers.
func (c *Conn) handleContext() {
	c.session.whenKnown(func(*protocol.Error) {
		if c.session.phase != present {
			c.send(contextMessage(transcriptSize{}.estimate()))
			return
		}
		c.Request(protocol.DoContext, c.session.Session, "", nil, func(a protocol.Answer) {
			if r, err := codec.DecodeResult[protocol.ContextResult](a); err == nil {
				c.send(contextMessage(&r.Context))
				return
			}
			c.estimateHistory(0, c.session.view.size)
		})
	})
}

// estimateHistory adds the finished turns before a seq (0: all) to the size of the current turn,
// and answers. It stops at the size of a full context.
func (c *Conn) estimateHistory(before uint64, size transcriptSize) {
	data := protocol.HistoryData{Before: before, Limit: 100}
	c.Request(protocol.DoHistory, c.session.Session, "", data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.HistoryResult](a)
		for e, err := range r.Decoded() {
			if err == nil {
				size.add(e)
			}
		}
		if older := r.OlderThan(); err == nil && older > 0 && size.bytes < estimatedWindow*bytesPerToken {
			c.estimateHistory(older, size)
			return
		}
		c.send(contextMessage(size.estimate()))
	})
}

// contextMessage returns the message for a context usage.
func contextMessage(c *protocol.ContextInfo) message {
	return message{wire.ContextInfoType, wire.ContextInfo{
		TokenCount: c.Tokens, UsagePercent: c.Percent, TranscriptLength: c.TranscriptLength, MaxTokens: c.MaxTokens,
		Strategy: c.Strategy,
	}}
}

// A transcriptSize is the size of a part of the transcript: its items and the bytes of their text.
type transcriptSize struct{ items, bytes int }

// add adds the size of an event in the transcript.
func (t *transcriptSize) add(e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		t.items++
		t.bytes += len(wire.MessageText(&codec.DecodeEvent[protocol.MessageUserData](e).Message))
	case protocol.MessageSteered:
		t.items++
		t.bytes += len(wire.MessageText(&codec.DecodeEvent[protocol.MessageSteeredData](e).Message))
	case protocol.TextStart, protocol.ReasoningStart, protocol.ToolEnded:
		t.items++
	case protocol.TextDelta, protocol.ReasoningDelta:
		t.bytes += len(codec.DecodeEvent[protocol.PartDeltaData](e).Text)
	case protocol.JoinedDeltas:
		for _, p := range codec.DecodeEvent[protocol.JoinedData](e).Parts {
			t.bytes += len(p.Text)
		}
	case protocol.ToolStarted:
		t.items++
		t.bytes += len(codec.DecodeEvent[protocol.ToolStartedData](e).Input)
	case protocol.ToolInput:
		d := codec.DecodeEvent[protocol.ToolInputData](e)
		t.bytes += len(d.Input) + len(d.Text)
	case protocol.ToolOutput:
		t.bytes += len(codec.DecodeEvent[protocol.ToolOutputData](e).Text)
	}
}

// estimate returns the context usage of a transcript.
func (t transcriptSize) estimate() *protocol.ContextInfo {
	tokens := int64(t.bytes+bytesPerToken-1) / bytesPerToken
	return &protocol.ContextInfo{
		Tokens: tokens, MaxTokens: estimatedWindow, Percent: 100 * float64(tokens) / estimatedWindow,
		TranscriptLength: t.items, Strategy: estimatedStrategy,
	}
}
