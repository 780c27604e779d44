package sandcastletest

import (
	"encoding/json"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
)

// Noon is the time at which every test begins.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A NativeServer is a native server with one session. It answers from a list of events.
type NativeServer struct {
	TB            codectest.T
	Session       string
	Epoch         string
	Events        []protocol.Event
	After         uint64 // last seq written to the subscriber
	Following     bool
	RawHistory    bool // the deltas of past events are not joined
	AllowRefusals bool // the client's commands may be invalid
	Commands      []protocol.Command
	Answers       map[protocol.Verb]any // in place of the default answers
	Errors        map[protocol.Verb]*protocol.Error
}

// NewNativeServer returns a server with an empty session.
func NewNativeServer(t codectest.T) *NativeServer {
	return &NativeServer{
		TB: t, Session: "s", Epoch: "e1", Answers: map[protocol.Verb]any{}, Errors: map[protocol.Verb]*protocol.Error{},
	}
}

// Append appends an event.
func (h *NativeServer) Append(typ protocol.Type, turn string, data any) *protocol.Event {
	h.Events = append(h.Events, protocol.Event{
		Session: h.Session, Seq: uint64(len(h.Events) + 1), Turn: turn, Type: typ, Data: protocol.MustEncode(data),
		Time: Noon.Add(time.Duration(len(h.Events)) * time.Second),
	})
	return &h.Events[len(h.Events)-1]
}

// StateAt returns the state after an event.
func (h *NativeServer) StateAt(upto uint64) *protocol.State {
	s := &protocol.State{Session: h.Session}
	for i := range h.Events[:upto] {
		if err := s.Apply(&h.Events[i]); err != nil {
			h.TB.Fatalf("own event: %v", err)
		}
	}
	return s
}

// boundary returns the seq of the last end of a turn.
func (h *NativeServer) boundary() uint64 {
	for i := len(h.Events) - 1; i >= 0; i-- {
		if h.Events[i].Type == protocol.TurnEnded {
			return h.Events[i].Seq
		}
	}
	return 0
}

// Handle answers a command.
func (h *NativeServer) Handle(line []byte) (lines [][]byte) {
	h.TB.Helper()
	c, err := protocol.DecodeCommand(line)
	if ct := protocol.CommandOf(c.Command); err == nil && ct != nil {
		err = c.DecodeData(ct.Data())
	}
	if err != nil && (!h.AllowRefusals || c.ID == "") {
		h.TB.Fatalf("invalid command %s: %v", line, err)
	}
	if err != nil {
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: protocol.AsError(err)})}
	}
	h.Commands = append(h.Commands, c)
	answer := func(v any) {
		lines = append(lines, protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(v)}))
	}
	if e := h.Errors[c.Command]; e != nil {
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: e})}
	}
	if c.Session != "" && c.Session != h.Session {
		e := protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session)
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: e})}
	}
	if v, ok := h.Answers[c.Command]; ok {
		answer(v)
		return lines
	}
	end := uint64(len(h.Events))
	switch c.Command {
	case protocol.DoSubscribe:
		var d protocol.SubscribeData
		_ = c.DecodeData(&d)
		r := protocol.SubscribeResult{
			Session: h.Session, Mode: protocol.ModeSnapshot, Position: protocol.Position{Epoch: h.Epoch, Seq: end},
			Clients: []protocol.Client{},
		}
		r.After = protocol.Position{Epoch: h.Epoch, Seq: h.boundary()}
		if p := d.Position; p != nil && p.Epoch == h.Epoch {
			r.Mode, r.After.Seq = protocol.ModeResume, p.Seq
		} else {
			if p != nil {
				r.Mode, r.Reason = protocol.ModeReset, protocol.ResetEpoch
			}
			r.Snapshot = &protocol.Snapshot{Epoch: h.Epoch, State: h.StateAt(r.After.Seq)}
			if r.After.Seq == 0 {
				r.Snapshot.State = &protocol.State{Session: h.Session}
			}
		}
		answer(r)
		past := h.Events[r.After.Seq:]
		if !h.RawHistory {
			past = protocol.JoinDeltas(past)
		}
		for _, e := range past {
			lines = append(lines, e.AppendJSON(nil))
		}
		caught := protocol.Event{
			Session: h.Session, Time: Noon, Type: protocol.CaughtUp,
			Data: protocol.MustEncode(protocol.CaughtUpData{Position: r.Position}),
		}
		lines = append(lines, caught.AppendJSON(nil))
		h.After, h.Following = end, true
	case protocol.DoUnsubscribe:
		h.Following = false
		answer(protocol.Empty{})
	case protocol.DoSnapshot:
		s := h.StateAt(end)
		answer(protocol.SnapshotResult{
			Snapshot: protocol.Snapshot{Epoch: h.Epoch, State: s}, Status: s.Status(), Clients: []protocol.Client{},
		})
	case protocol.DoHistory:
		var list []json.RawMessage
		for _, e := range protocol.JoinDeltas(h.Events[:h.boundary()]) {
			list = append(list, e.AppendJSON(nil))
		}
		answer(protocol.HistoryResult{Epoch: h.Epoch, First: 1, Events: list})
	default:
		answer(protocol.Empty{})
	}
	return lines
}

// NewLines returns the events that the subscriber does not have yet.
func (h *NativeServer) NewLines() (lines [][]byte) {
	if !h.Following {
		return nil
	}
	for i := range h.Events[h.After:] {
		lines = append(lines, h.Events[h.After:][i].AppendJSON(nil))
	}
	h.After = uint64(len(h.Events))
	return lines
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
