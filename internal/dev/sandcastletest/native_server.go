package sandcastletest

import (
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
)

// Noon is the time at which every test begins.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A NativeServer is a native server with one session.
type NativeServer struct {
	*codectest.NativeServer
	*codectest.Log
}

// NewNativeServer returns a server with an empty session.
func NewNativeServer(t codectest.T) *NativeServer {
	h := &NativeServer{Log: codectest.NewLog(t, "s", "e1")}
	h.Joins = true
	h.NativeServer = &codectest.NativeServer{T: t, Answers: map[protocol.Verb]any{}, Log: h.find}
	return h
}

func (h *NativeServer) find(session string) *codectest.Log {
	if session != h.Session {
		return nil
	}
	return h.Log
}

// Append appends an event, a second after the last one.
func (h *NativeServer) Append(typ protocol.Type, turn string, data any) *protocol.Event {
	e := codectest.Event(typ, turn, data)
	e.Time = Noon.Add(time.Duration(len(h.Events)) * time.Second)
	return h.Add(e)
}

// StartTurn starts a turn.
func (h *NativeServer) StartTurn(turn, text string) {
	h.Append(protocol.MessageUser, turn, protocol.MessageUserData{
		Message: protocol.Message{MessageID: "m" + turn, Text: text, ClientMessageID: "c" + turn},
	})
	h.Append(protocol.TurnStarted, turn, protocol.TurnStartedData{MessageID: "m" + turn})
}

// AppendText appends a text part.
func (h *NativeServer) AppendText(turn, part string, texts ...string) {
	h.Append(protocol.TextStart, turn, protocol.PartStartData{Part: part})
	for _, text := range texts {
		h.Append(protocol.TextDelta, turn, protocol.PartDeltaData{Part: part, Text: text})
	}
	h.Append(protocol.TextEnd, turn, protocol.PartEndData{Part: part})
}

// EndTurn ends a turn.
func (h *NativeServer) EndTurn(turn string, reason protocol.Reason) {
	h.Append(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: reason})
}
