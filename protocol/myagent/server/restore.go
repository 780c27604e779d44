package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// restore creates a session from a signed state and replays the events of the old session that the
// client missed. The old session continues to exist.
func (a *attacher) restore(c *request) {
	if a.deferUntilJoined(func(*protocol.Error) { a.restore(c) }) {
		return
	}
	raw := c.Signed
	for _, o := range []wire.Fields{wire.ParseObject(c.Content), c.meta} {
		if wire.ParseObject(raw) == nil {
			raw = o["signed_state"]
		}
	}
	if wire.ParseObject(raw) == nil {
		c.refuse(protocol.Errorf(protocol.CodeInvalidState, "Missing signed_state in reconnect request"))
		return
	}
	state, err := verifyState(raw, a.x.Now, a.x.stateTTL, a.x.Options.Sign)
	if err != nil {
		c.refuse(protocol.Errorf(protocol.CodeInvalidState, "Invalid state: %s", err))
		return
	}
	if !a.checkRoom(c, "") {
		return
	}
	j := a.startJoin()
	a.x.Request(protocol.DoRestore, "", c.key(), protocol.RestoreData{State: *state.Native}, func(answer protocol.Answer) {
		r, err := codec.DecodeResult[protocol.CreateResult](answer)
		if err != nil {
			if err.Code == protocol.CodeInvalidState {
				err.Message = "Invalid state: " + err.Message
			}
			c.refuse(err)
			a.finishJoin(j, "", err)
			return
		}
		a.x.send(wire.Frame{
			Session: r.Session, Step: wire.StepID(string(c.Step)), Event: wire.AgentStateRestored,
			Content: "State restored successfully", Show: showRestored,
			Meta: wire.Meta{
				"original_session_id": state.Session, "current_step": *state.Step, "restored_step": *state.Step,
				"message_count": *state.Step, "agent_name": state.agentName(), "warnings": []string{},
				"position": r.Position,
			}.With("reply_to", c.meta.Str("reply_to")),
		})
		a.replayOldSession(c, j, state, r)
	})
}

// replayOldSession replays the old session in the new one, then attaches the new one.
func (a *attacher) replayOldSession(c *request, j *join, state *carriedState, r protocol.CreateResult) {
	from := state.Boundary
	rp := &replay{target: r.Session, connection: state.Connection, done: func() { a.joinSession(c, j, r, true) }}
	if had, known := a.subs.resumePoint(c, state.Session, state.Connection); known {
		rp.received, from = &had, protocol.Position{Epoch: had.position.Epoch, Seq: had.boundary}
	}
	if connection, _, _ := c.LastReceived(); connection != "" {
		rp.connection = connection
	}
	rp.sentFrames = a.subs.framesOf(rp.connection)
	a.subs.subscribe(state.Session, &from, func(sub *subscription, at *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil || sub.replay != nil {
			a.subs.sendNothingToReplay(r.Session)
			rp.done()
			return
		}
		if at.Mode != protocol.ModeResume {
			rp.received = nil
		}
		rp.epoch, rp.state = at.Position.Epoch, codec.InitialState(at).Clone()
		sub.replay = rp
	})
}
