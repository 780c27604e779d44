package acp

import (
	"context"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
)

// maxInvalidLine bounds what is kept of a line that is no message, in bytes.
const maxInvalidLine = 64 << 10

var _ rpc.Handler = (*client)(nil)

// HandleNotification implements rpc.Handler.
func (l *client) HandleNotification(method string, params json.RawMessage) {
	if method != "session/update" {
		l.emitRaw(method, params)
		return
	}
	var p updateParams
	var u update
	if decode(params, &p) != nil || decode(p.Update, &u) != nil || u.Kind == "" {
		l.emitRaw(method, params)
		return
	}
	if l.applyAgentUpdate(&u) {
		return
	}
	turn, replay := l.turnFor(p.Session)
	if replay {
		select {
		case l.replayed <- struct{}{}:
		default:
		}
		return
	}
	if turn == nil || !turn.apply(&u) {
		l.emitRaw(method, params)
	}
}

// applyAgentUpdate takes the updates that are about the agent and not about a turn.
func (l *client) applyAgentUpdate(u *update) bool {
	switch u.Kind {
	case "available_commands_update":
		l.updateSettings(func(s *settings) { s.setCommands(u) })
	case "current_mode_update":
		l.updateSettings(func(s *settings) { s.set(modeID, u.Mode) })
	case "config_option_update":
		l.updateSettings(func(s *settings) { s.applyConfig(u.Config) })
	case "usage_update":
		l.applyUsage(u)
	default:
		return false
	}
	return true
}

// HandleRequest implements rpc.Handler. Permission is asked for in a goroutine of the turn's, so that the agent can go on
// speaking; everything else was never offered.
func (l *client) HandleRequest(req *rpc.Request) {
	if req.Method == "session/request_permission" {
		var p permissionParams
		err := decode(req.Params, &p)
		turn, _ := l.turnFor(p.Session)
		if err != nil || turn == nil || !turn.requestPermission(req, &p) {
			l.reply(req, permissionResult{permissionOutcome{Outcome: "cancelled"}})
		}
		return
	}
	l.emitRaw(req.Method, req.Params)
	if err := req.ReplyError(context.Background(), rpc.CodeMethodNotFound, "not offered: "+req.Method); err != nil {
		l.host.Logf("refuse %s: %v", l.config.Name, err)
	}
}

// reply waits for its turn to be written for as long as the connection lives.
func (l *client) reply(req *rpc.Request, result any) {
	if err := req.Reply(context.Background(), result); err != nil {
		l.host.Logf("answer %s: %v", l.config.Name, err)
	}
}

// HandleInvalid implements rpc.Handler.
func (l *client) HandleInvalid(line []byte, _ error) {
	l.emitRaw("", protocol.AppendString(nil, string(line[:min(len(line), maxInvalidLine)])))
}
