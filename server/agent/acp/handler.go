package acp

import (
	"context"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
)

// garbageLen bounds what is kept of a line that is no message, in bytes.
const garbageLen = 64 << 10

var _ rpc.Handler = (*link)(nil)

// Notify implements rpc.Handler.
func (l *link) Notify(method string, params json.RawMessage) {
	if method != "session/update" {
		l.raw(method, params)
		return
	}
	var p updateParams
	var u update
	if read(params, &p) != nil || read(p.Update, &u) != nil || u.Kind == "" {
		l.raw(method, params)
		return
	}
	if l.aside(&u) {
		return
	}
	turn, replay := l.current(p.Session)
	if replay {
		select {
		case l.replayed <- struct{}{}:
		default:
		}
		return
	}
	if turn == nil || !turn.take(&u) {
		l.raw(method, params)
	}
}

// aside takes the updates that are about the agent and not about a turn.
func (l *link) aside(u *update) bool {
	switch u.Kind {
	case "available_commands_update":
		l.change(func(s *settings) { s.commands(u) })
	case "current_mode_update":
		l.change(func(s *settings) { s.set(modeID, u.Mode) })
	case "config_option_update":
		l.change(func(s *settings) { s.config(u.Config) })
	case "usage_update":
		l.usage(u)
	default:
		return false
	}
	return true
}

// Request implements rpc.Handler. Permission is asked for in a goroutine of the turn's, so that the agent can go on
// speaking; everything else was never offered.
func (l *link) Request(req *rpc.Request) {
	if req.Method == "session/request_permission" {
		var p permissionParams
		err := read(req.Params, &p)
		turn, _ := l.current(p.Session)
		if err != nil || turn == nil || !turn.permit(req, &p) {
			l.answer(req, permissionResult{permissionOutcome{Outcome: "cancelled"}})
		}
		return
	}
	l.raw(req.Method, req.Params)
	if err := req.Refuse(context.Background(), rpc.CodeMethodNotFound, "not offered: "+req.Method); err != nil {
		l.host.Logf("refuse %s: %v", l.config.Name, err)
	}
}

// answer waits for its turn to be written for as long as the connection lives.
func (l *link) answer(req *rpc.Request, result any) {
	if err := req.Reply(context.Background(), result); err != nil {
		l.host.Logf("answer %s: %v", l.config.Name, err)
	}
}

// Garbage implements rpc.Handler.
func (l *link) Garbage(line []byte, _ error) {
	l.raw("", protocol.AppendString(nil, string(line[:min(len(line), garbageLen)])))
}
