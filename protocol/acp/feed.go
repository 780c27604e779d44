package acp

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A feed follows a session and sends its updates to the client.
type feed struct {
	codec.Subscription
	client    *client
	abandoned bool // the client has it open no more
}

// update sends an update of a session. e is the event that it comes from, or nil.
func (f *feed) update(e *protocol.Event, update object) {
	about := object{}
	if e != nil {
		about["position"] = protocol.Position{Epoch: f.Epoch, Seq: e.Seq}.String()
		if e.By != nil {
			about["by"] = e.By.Name
		}
	}
	params := object{"sessionId": f.Session, "update": update}
	if len(about) > 0 {
		params["_meta"] = meta(about)
	}
	f.client.notify("session/update", params)
}

// sendText sends text of the agent. Text of a task or of a sub-agent is sent as a thought.
func (f *feed) sendText(e *protocol.Event, kind protocol.Kind, part, text string) {
	update := "agent_message_chunk"
	if kind == protocol.KindReasoning || e.Task != "" || e.Parent != "" {
		update = "agent_thought_chunk"
	}
	// Most messages are texts: encoded without a map.
	position := protocol.Position{Epoch: f.Epoch, Seq: e.Seq}.String()
	b := append(make([]byte, 0, len(text)+len(text)/8+384), `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":`...)
	b = append(protocol.AppendString(b, f.Session), `,"_meta":{"agentctl":{"position":`...)
	b = append(protocol.AppendString(b, position), `}},"update":{"sessionUpdate":"`...)
	b = append(append(b, update...), `","messageId":`...)
	b = append(protocol.AppendString(b, e.Turn+"/"+part), `,"content":{"type":"text","text":`...)
	f.client.Send(codec.Frame{Data: append(protocol.AppendString(b, text), `}}}}`...)})
}

// note sends a line for the user: as a notice, or as a thought to a client that knows none.
func (f *feed) note(e *protocol.Event, level, text string) {
	if text == "" { // a notice has a title
		return
	}
	severity := "info"
	switch level {
	case protocol.LevelWarning, protocol.LevelError:
		severity = level
	}
	if c := f.client; c.version == 2 || c.capabilities.Session != nil && c.capabilities.Session.Notices != nil {
		f.update(e, object{"sessionUpdate": "notice", "severity": severity, "title": text})
		return
	}
	turn := ""
	if e != nil {
		turn = e.Turn
	}
	f.update(e, object{
		"sessionUpdate": "agent_thought_chunk", "messageId": turn + "/note", "content": textBlock(text + "\n"),
	})
}
