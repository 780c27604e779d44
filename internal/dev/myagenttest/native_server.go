package myagenttest

import (
	"fmt"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
)

// A NativeServer is a native server whose sessions the client creates, or the test.
type NativeServer struct {
	codectest.NativeServer
	Logs        map[string]*codectest.Log
	made        int
	connections int
}

const nativeEpoch = "epoch1"

// NewNativeServer returns a server without sessions.
func NewNativeServer(t codectest.T) *NativeServer {
	p := &NativeServer{Logs: map[string]*codectest.Log{}}
	p.NativeServer = codectest.NativeServer{
		T: t, Answers: map[protocol.Verb]any{}, Default: p.result,
		Log: func(session string) *codectest.Log { return p.Logs[session] },
	}
	return p
}

// Append appends events to a session and returns the lines for a subscriber. An event without a time
// is a second after the last one.
func (p *NativeServer) Append(session string, events ...protocol.Event) [][]byte {
	l := p.Logs[session]
	if l == nil {
		l = codectest.NewLog(p.T, session, nativeEpoch)
		p.Logs[session] = l
	}
	for _, e := range events {
		if e.Time.IsZero() {
			e.Time = codectest.Start.Add(time.Duration(len(l.Events)+1) * time.Second)
		}
		l.Add(e)
	}
	return l.NewLines()
}

// result returns the result of a command.
func (p *NativeServer) result(c *protocol.Command, data any) any {
	switch d := data.(type) {
	case *protocol.HelloData:
		return protocol.HelloResult{Version: "v1", Connection: "c1"}
	case *protocol.CreateData:
		return p.create(codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script", Title: d.Title}))
	case *protocol.RestoreData:
		return p.create(codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}),
			codectest.Event(protocol.StateRestored, "", protocol.StateRestoredData{Session: "s1"}))
	case *protocol.SendData:
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1", Seq: 7}
	case *protocol.ApproveData:
		return protocol.ApproveResult{Request: d.Request, Outcome: protocol.Allowed, Decision: protocol.AllowOnce}
	case *protocol.InterruptData:
		return protocol.InterruptResult{Interrupted: d.Turn != "", Turn: d.Turn}
	case *protocol.PlanRunData:
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1"}
	}
	if c.Command == protocol.DoExport {
		return protocol.ExportResult{
			State:   protocol.SignedState{Version: "1", State: []byte("{}"), Signature: "x"},
			Expires: codectest.Start,
		}
	}
	return nil
}

// create creates the next session.
func (p *NativeServer) create(events ...protocol.Event) protocol.CreateResult {
	p.made++
	id := fmt.Sprintf("s%d", p.made)
	p.Append(id, events...)
	return protocol.CreateResult{
		Session: id, Position: protocol.Position{Epoch: nativeEpoch, Seq: uint64(len(events))},
	}
}
