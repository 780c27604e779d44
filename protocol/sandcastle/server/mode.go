package server

import (
	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// modeSettingID returns the id of that setting. Before the agent's start it is not known.
func modeSettingID(s *protocol.Setting) string {
	if s == nil {
		return wire.SettingMode
	}
	return s.ID
}

// encodeModeChange sends the mode if it changed. An unchanged mode would reset the users' choice
// for their next message.
func (sub *subscription) encodeModeChange() {
	if mode := wire.ModeOf(sub.State); mode != sub.mode {
		sub.mode = mode
		sub.sendTransientChat(wire.ChatEvent{Type: wire.ChatModeChange, Mode: mode})
	}
}

// errPlanQueued refuses a message in mode plan that would wait: the mode may have changed by then.
var errPlanQueued = protocol.Errorf(protocol.CodeConflict,
	"a message in mode plan cannot wait in the queue: send it when the turn has ended")

// modes changes the modes of agents for the messages of a connection.
type modes struct {
	x       *exchange
	planned map[string]string // the mode before plan of sessions that a send put into plan
}

// send sends a message after the agent has the message's mode. That starts the agent if necessary. A
// message whose turn would not be in mode plan is refused, because an agent that builds writes files.
// A message without a mode builds if an earlier one of this connection chose plan.
func (m *modes) send(c *rpcCall, send func(refuseQueued bool)) {
	_, planned := m.planned[c.SessionID]
	if c.Mode != wire.ModePlan && c.Mode != wire.ModeBuild && !planned {
		send(false)
		return
	}
	m.set(c, nil, func() { send(c.Mode == wire.ModePlan) })
}

// set calls then when the agent has the message's mode. refused is why an agent that was not started
// has no setting mode: now its settings are known.
func (m *modes) set(c *rpcCall, refused *protocol.Error, then func()) {
	before, planned := m.planned[c.SessionID]
	m.x.readState(c, func(st *protocol.State) {
		value, busy := "", st.Turn != nil || len(st.Queue) > 0 || st.BlockingHold() != nil
		setting := wire.ModeSetting(st)
		switch {
		case refused != nil && (setting == nil || setting.ID == wire.SettingMode):
			delete(m.planned, c.SessionID)
			m.x.fail(c, refused)
			return
		case c.Mode == wire.ModePlan && busy:
			m.x.fail(c, errPlanQueued)
			return
		case c.Mode == wire.ModePlan && wire.ModeOf(st) != wire.ModePlan:
			value = wire.ModePlan
			was := "" // unknown before the agent's start
			if setting != nil {
				was = setting.Value
			}
			if planned || len(m.planned) < wire.MaxSubscriptions {
				m.planned[c.SessionID] = was
			}
		case c.Mode != wire.ModePlan && wire.ModeOf(st) == wire.ModePlan && !busy:
			value = wire.BuildValue(setting, before)
			delete(m.planned, c.SessionID)
		}
		if value == "" {
			then()
			return
		}
		d := protocol.ConfigureData{Setting: modeSettingID(setting), Value: value}
		m.x.Request(protocol.DoConfigure, st.Session, "", d, func(a protocol.Answer) {
			if a.Error == nil {
				then()
				return
			}
			a.Error.Message = "the agent does not change to mode " + value + ": " + a.Error.Message
			if setting == nil && refused == nil {
				m.set(c, a.Error, then)
				return
			}
			m.x.fail(c, a.Error)
		})
	})
}
