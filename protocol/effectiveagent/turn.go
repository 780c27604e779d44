package effectiveagent

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// turns begins and ends the turns of a session.
type turns struct {
	x           *exchange
	state       *sessionState
	idleTimeout time.Duration // after which a local turn is over

	isLocal   bool      // the client started the current turn: the server does not report turns
	lastError string    // of the last activity, if it was an error
	idleAt    time.Time // when the local turn is over, without further activities; zero: after the agent's first
}

func (t *turns) record(events ...codec.Entry) { t.x.Record(t.state.log, events...) }

// start starts a turn with a message, or with the entry's data if set. It ends the current turn.
func (t *turns) start(id string, m protocol.Message, en codec.Entry) {
	t.end()
	en.Type, en.Turn = protocol.MessageUser, id
	if en.Data == nil {
		en.Data = protocol.MessageUserData{Message: m}
	}
	t.record(en)
	if t.state.log.Turn() == "" { // the message was too large to be recorded
		m.Text, m.Parts = protocol.SplitText(m.Text, protocol.MaxText)[0], nil
		en.Data = protocol.MessageUserData{Message: m}
		t.record(en)
	}
}

// startLocal starts a turn that the server does not report.
func (t *turns) startLocal(m protocol.Message, en codec.Entry) (id string) {
	id = t.x.Options.ID("t")
	t.start(id, m, en)
	t.isLocal = t.state.log.Turn() == id
	t.record(codec.Entry{
		Type: protocol.TurnStarted, Turn: id, Data: protocol.TurnStartedData{MessageID: m.MessageID},
	})
	return id
}

// ensure returns the local id of the server's turn and makes it the current turn: its start may have
// been missed.
func (t *turns) ensure(remote string) (id string) {
	id = t.state.alias.toLocal(remote)
	if t.state.log.Turn() == id {
		return id
	}
	if last := t.state.log.State.Last; last != nil && last.Turn == id { // ended as lost, and continues
		id = t.x.Options.ID("t")
		t.state.alias = turnAlias{remote, id}
	}
	m := protocol.Message{MessageID: t.x.Options.ID("m")}
	t.start(id, m, codec.Entry{})
	t.record(codec.Entry{
		Type: protocol.TurnStarted, Turn: id, Data: protocol.TurnStartedData{MessageID: m.MessageID, Resumed: true},
	})
	return id
}

// noteActivity notes activity of the agent and returns the id of its turn. With must it starts a
// turn if none is current.
func (t *turns) noteActivity(must bool) (id string) {
	if id = t.state.log.Turn(); id == "" && must {
		id = t.startLocal(protocol.Message{MessageID: t.x.Options.ID("m")}, codec.Entry{})
	}
	if t.isLocal {
		t.idleAt = t.x.Now.Add(t.idleTimeout)
	}
	return id
}

// expire ends a local turn whose agent is idle.
func (t *turns) expire() {
	if !t.idleAt.IsZero() && !t.x.Now.Before(t.idleAt) {
		t.end()
	}
}

// end ends the current turn, if any.
func (t *turns) end() {
	switch {
	case t.state.log.Turn() == "":
	case !t.isLocal:
		t.endLost()
	case t.lastError != "":
		t.endWith(protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: t.lastError,
		})
	default:
		t.endWith(protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
}

// endLost ends the current turn, if any, whose end was missed.
func (t *turns) endLost() {
	t.endWith(protocol.TurnEndedData{
		Reason:  protocol.ReasonError,
		Message: "the connection was lost; what else the turn brought is not known",
	})
}

func (t *turns) endWith(d protocol.TurnEndedData) {
	current := t.state.log.State.Turn
	if current == nil {
		return
	}
	d.DurationMS = max(0, t.x.Now.Sub(current.Started).Milliseconds())
	t.record(codec.Entry{Type: protocol.TurnEnded, Turn: current.Turn, Data: d})
	t.clear()
}

// clear notes that the current turn is not local.
func (t *turns) clear() { t.isLocal, t.lastError, t.idleAt = false, "", time.Time{} }

// A turnAlias is another local id of a turn at the server. The zero value means no alias.
type turnAlias struct{ remote, local string }

// toLocal returns the local id of the server's turn.
func (a turnAlias) toLocal(remote string) string {
	if remote != "" && remote == a.remote {
		return a.local
	}
	return remote
}

// toRemote returns the server's id of a turn.
func (a turnAlias) toRemote(local string) string {
	if local != "" && local == a.local {
		return a.remote
	}
	return local
}
