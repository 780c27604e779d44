package acp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

// maxInvalidLine is the maximum length of an invalid line to keep, in bytes.
const maxInvalidLine = 64 << 10

// errInexactNames is returned for a request whose names are given twice or in another case.
var errInexactNames = errors.New("the request can be read in more than one way")

var _ rpc.Handler = (*client)(nil)

// HandleNotification implements rpc.Handler.
func (c *client) HandleNotification(method string, params json.RawMessage) {
	c.account.applyStatus(method, params)
	if method == "elicitation/complete" && c.completePage(params) {
		return
	}
	if method != "session/update" {
		c.keepRaw(method, "", params)
		return
	}
	var p updateParams
	err := decode(params, &p)
	to := c.targetOf(p.Session)
	if err == nil && c.applySubAgents(to, &p) {
		return
	}
	list, ok := c.updates(to, p.Update)
	if err != nil || !ok {
		c.keepRaw(method, "", params)
		return
	}
	keep := sync.OnceFunc(func() { c.keepRaw(method, p.kind(), params) })
	for _, u := range list {
		c.applyUpdate(to, u, keep)
	}
}

// applyUpdate applies an update of a session to the agent's options, the replay or the turn. keep
// keeps one that belongs to none.
func (c *client) applyUpdate(to target, u *update, keep func()) {
	applied := false
	switch {
	case to.sub != nil:
		applied = to.replay != nil || to.sub.applyOptions(u) // its session has the past
	case to.own:
		applied = c.applyAgentUpdate(u)
		if to.lane != nil && to.replay == nil {
			to.lane.applyActivity(u)
		}
	}
	if applied {
		return
	}
	if to.replay != nil {
		to.replay.add(u)
		select {
		case c.replayed <- struct{}{}:
		default:
		}
		return
	}
	if to.lane == nil {
		keep()
		return
	}
	to.lane.pass(arrival{work: u.isWork(), apply: func(t *turn) bool { return t.apply(u) }, drop: keep})
}

// applyAgentUpdate applies an update about the agent rather than a turn. It reports whether u is
// one.
func (c *client) applyAgentUpdate(u *update) bool {
	switch u.Kind {
	case "available_commands_update":
		c.updateSettings(func(s *settings) { s.setCommands(u.Commands) })
	case "current_mode_update":
		c.updateSettings(func(s *settings) { s.set(modeID, u.Mode) })
	case "config_option_update":
		c.updateSettings(func(s *settings) { s.applyConfig(u.Config) })
	case "usage_update":
		c.applyUsage(u)
	case "session_info_update":
		c.applyInfo(u)
	case "notice":
		c.applyNotice(u)
	case "compaction_update":
		c.applyCompaction(u)
	default:
		return false
	}
	return true
}

// applyInfo sets the title of the session, and notes a failure of the model that the agent reports
// as the end of its turn.
func (c *client) applyInfo(u *update) {
	if u.Meta.ModelFailed() {
		if turn := c.lane.current(); turn != nil {
			turn.markFailed()
		}
	}
	if u.Title == "" {
		return
	}
	c.emit(agent.Event{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &u.Title}})
}

// HandleRequest implements rpc.Handler. Permission is requested in a goroutine of the turn, so the
// agent can continue to send. Other methods are refused: they were not offered.
func (c *client) HandleRequest(req *rpc.Request) {
	if req.Method == "session/request_permission" {
		p, err := c.wire.permission(req.Params)
		if errors.Is(err, errInexactNames) {
			c.keepRaw(req.Method, "", req.Params)
		}
		refuse := func() { c.reply(req, permissionResult{Outcome: permissionOutcome{Outcome: "cancelled"}}) }
		lane := c.targetOf(p.Session).lane
		if err != nil || lane == nil {
			refuse()
			return
		}
		lane.pass(arrival{work: true, apply: func(t *turn) bool { return t.requestPermission(req, &p) }, drop: refuse})
		return
	}
	if req.Method == drainMethod {
		c.drain(req)
		return
	}
	if req.Method == "elicitation/create" {
		c.elicit(req)
		return
	}
	c.keepRaw(req.Method, "", req.Params)
	if err := req.ReplyError(context.Background(), rpc.CodeMethodNotFound, "not supported: "+req.Method); err != nil {
		c.host.Logf("refuse %s: %v", c.config.Name, err)
	}
}

// reply sends a result. It blocks until the result is queued or the connection ends.
func (c *client) reply(req *rpc.Request, result any) {
	if err := req.Reply(context.Background(), result); err != nil {
		c.host.Logf("answer %s: %v", c.config.Name, err)
	}
}

// HandleInvalid implements rpc.Handler.
func (c *client) HandleInvalid(line []byte, _ error) {
	c.keepRaw("", "", protocol.AppendString(nil, string(line[:min(len(line), maxInvalidLine)])))
}
