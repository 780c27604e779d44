package server

import (
	"encoding/json"

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
func (s *Conn) handleContext() {
	s.whenKnown(func(*protocol.Error) {
		if s.phase != present {
			s.sendEstimate(transcriptSize{})
			return
		}
		s.Request(protocol.DoContext, s.sub.Session, "", nil, func(a protocol.Answer) {
			if r, err := codec.DecodeResult[protocol.ContextResult](a); err == nil {
				s.sendContext(&r.Context)
				return
			}
			s.estimateHistory(0, s.size)
		})
	})
}

// estimateHistory adds the finished turns before a seq (0: all) to the size of the current turn,
// and answers. It stops at the size of a full context.
func (s *Conn) estimateHistory(before uint64, size transcriptSize) {
	data := protocol.HistoryData{Before: before, Limit: 100}
	s.Request(protocol.DoHistory, s.sub.Session, "", data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.HistoryResult](a)
		for _, line := range r.Events {
			var e protocol.Event
			if json.Unmarshal(line, &e) == nil {
				size.add(&e)
			}
		}
		if err == nil && r.More && r.First > 0 && size.bytes < estimatedWindow*bytesPerToken {
			s.estimateHistory(r.First, size)
			return
		}
		s.sendEstimate(size)
	})
}

func (s *Conn) sendEstimate(size transcriptSize) {
	tokens := int64(size.bytes+bytesPerToken-1) / bytesPerToken
	s.sendContext(&protocol.ContextInfo{
		Tokens: tokens, MaxTokens: estimatedWindow, Percent: 100 * float64(tokens) / estimatedWindow,
		TranscriptLength: size.items, Strategy: estimatedStrategy,
	})
}

func (s *Conn) sendContext(c *protocol.ContextInfo) {
	s.send(wire.ContextInfoType, wire.ContextInfo{TokenCount: c.Tokens, UsagePercent: c.Percent, TranscriptLength: c.TranscriptLength, MaxTokens: c.MaxTokens, Strategy: c.Strategy})
}

// A transcriptSize is the size of a part of the transcript: its items and the bytes of their text.
type transcriptSize struct{ items, bytes int }

// add adds what an event adds to the transcript.
func (t *transcriptSize) add(e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		t.items++
		t.bytes += len(wire.MessageText(&codec.DecodeEvent[protocol.MessageUserData](e).Message))
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

func (s *Conn) handleCompact() {
	s.withSession(func() {
		s.Request(protocol.DoCompact, s.sub.Session, "", nil, func(a protocol.Answer) {
			if a.Error != nil {
				s.failWith("", wire.CompactingFailed, a.Error)
			} // else the event follows
		})
	})
}
