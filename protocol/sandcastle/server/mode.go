package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// modeSettingID returns the id of that setting. Before the agent's start it is not known.
func modeSettingID(s *protocol.Setting) string {
	if s == nil {
		return wire.SettingMode
	}
	return s.ID
}

// encodeModeChange sends the mode if it changed. An unchanged one would reset what users chose for
// their next message.
func (sub *subscription) encodeModeChange() {
	if mode := wire.ModeOf(sub.State); mode != sub.mode {
		sub.mode = mode
		sub.sendTransientChat(wire.ChatEvent{Type: wire.ChatModeChange, Mode: mode})
	}
}

// errPlanQueued refuses a message in mode plan that would wait: the mode may have changed by then.
var errPlanQueued = protocol.Errorf(protocol.CodeConflict,
	"a message in mode plan cannot wait in the queue: send it when the turn has ended")

// sendInMode sends a message after the agent has the message's mode. That starts the agent if
// necessary. A message whose turn would not be in mode plan is refused, because an agent that
// builds writes files. A message without a mode builds if an earlier one of this connection chose
// plan.
func (s *Conn) sendInMode(c *rpcCall, send func(refuseQueued bool)) {
	_, planned := s.planned[c.SessionID]
	if c.Mode != wire.ModePlan && c.Mode != wire.ModeBuild && !planned {
		send(false)
		return
	}
	s.setMode(c, nil, func() { send(c.Mode == wire.ModePlan) })
}

// setMode calls then when the agent has the message's mode. refused is why an agent that was not
// started has no setting mode: now its settings are known.
func (s *Conn) setMode(c *rpcCall, refused *protocol.Error, then func()) {
	before, planned := s.planned[c.SessionID]
	s.Request(protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SnapshotResult](a)
		st := r.Snapshot.State
		if err != nil || st == nil {
			s.failCall(c, orInternal(err))
			return
		}
		value, busy := "", st.Turn != nil || len(st.Queue) > 0 || st.BlockingHold() != nil
		setting := wire.ModeSetting(st)
		switch {
		case refused != nil && (setting == nil || setting.ID == wire.SettingMode):
			delete(s.planned, c.SessionID)
			s.failCall(c, refused)
			return
		case c.Mode == wire.ModePlan && busy:
			s.failCall(c, errPlanQueued)
			return
		case c.Mode == wire.ModePlan && wire.ModeOf(st) != wire.ModePlan:
			value = wire.ModePlan
			was := "" // unknown before the agent's start
			if setting != nil {
				was = setting.Value
			}
			if planned || len(s.planned) < wire.MaxSubscriptions {
				s.planned[c.SessionID] = was
			}
		case c.Mode != wire.ModePlan && wire.ModeOf(st) == wire.ModePlan && !busy:
			value = wire.BuildValue(setting, before)
			delete(s.planned, c.SessionID)
		}
		if value == "" {
			then()
			return
		}
		d := protocol.ConfigureData{Setting: modeSettingID(setting), Value: value}
		s.Request(protocol.DoConfigure, st.Session, "", d, func(a protocol.Answer) {
			if a.Error == nil {
				then()
				return
			}
			a.Error.Message = "the agent does not change to mode " + value + ": " + a.Error.Message
			if setting == nil && refused == nil {
				s.setMode(c, a.Error, then)
				return
			}
			s.failCall(c, a.Error)
		})
	})
}
