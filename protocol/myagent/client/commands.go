package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// verbs lists the commands that the dialect supports in addition to hello and ping.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch, protocol.DoList,
	protocol.DoSnapshot, protocol.DoHistory, protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt,
	protocol.DoApprove, protocol.DoTaskCancel, protocol.DoTaskRestart, protocol.DoPlanRun,
	protocol.DoExport, protocol.DoRestore,
}

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{protocol.DoList: "it has no list of sessions, name one"}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{
	Dialect: wire.Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoList}, Reasons: unsupportedReasons,
	Window: protocol.DefaultWindow,
}

// handleCommand executes a command of the client.
func (c *Conn) handleCommand(cmd *protocol.Command) {
	switch {
	case cmd.Command == protocol.DoList, cmd.Command == protocol.DoWatch, cmd.Command == protocol.DoAck:
	case c.Options.OneShot && !c.receiver.sawFrame:
		c.Failf(cmd, protocol.CodeTimeout, "no greeting: the server is busy, or does not speak %s", wire.Name)
		return
	case c.Options.OneShot && !c.capabilities[wire.CapReply]: // a MyAgent server
		c.FailUnsupported(cmd,
			string(cmd.Command)+": its sessions end with their connection, so attach to one, or send and wait")
		return
	}
	switch cmd.Command {
	case protocol.DoList, protocol.DoWatch:
		c.handleList(cmd)
	case protocol.DoCreate:
		c.openings.createNew(cmd)
	case protocol.DoRestore:
		c.openings.restoreState(cmd)
	case protocol.DoAck:
		c.handleAck(cmd)
	case protocol.DoUnsubscribe:
		c.handleUnsubscribe(cmd)
	default:
		data := protocol.CommandOf(cmd.Command).Data()
		if !c.DecodeData(cmd, data) {
			return
		}
		sub, _ := data.(*protocol.SubscribeData)
		fromStart := sub != nil && sub.Position != nil && sub.Position.Seq == 0
		c.openings.open(cmd.Session, fromStart, func(s *session, err *protocol.Error) {
			if err != nil {
				c.Fail(cmd, err)
				return
			}
			c.sessions.current = s
			command{cmd, s, &c.exchange}.run(data)
		})
	}
}

// handleList answers list and watch with the sessions that this client knows: the protocol has no
// session list.
func (c *Conn) handleList(cmd *protocol.Command) {
	if cmd.Command == protocol.DoWatch {
		open := c.sessions.logs(false)
		c.AnswerWatch(cmd, open, nil)
		for _, s := range c.sessions.resume.sessions {
			if c.Watching && slices.Contains(open, s.log) {
				s.publishedSeq = s.log.State.Seq
			}
		}
		return
	}
	var d protocol.ListData
	if !c.DecodeData(cmd, &d) {
		return
	}
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for _, l := range c.sessions.logs(d.Closed) {
		r.Sessions = append(r.Sessions, l.Summary())
	}
	c.Answer(cmd, r)
}

// handleAck acknowledges the frames behind the client's position, in both forms that servers read.
func (c *Conn) handleAck(cmd *protocol.Command) {
	var d protocol.AckData
	if !c.DecodeData(cmd, &d) {
		return
	}
	s := c.sessions.find(cmd.Session)
	if s == nil || !s.connected {
		return
	}
	if seq := c.receiver.acks.ack(s, d.Seq); seq > 0 {
		c.send(wire.Frame{Session: s.serverID, Event: wire.UserAck, Seq: seq, Content: wire.Meta{"last_seq": seq}})
	}
}

// handleUnsubscribe ends a subscription. The protocol has no frame for it, so the server keeps
// sending.
func (c *Conn) handleUnsubscribe(cmd *protocol.Command) {
	s := c.sessions.find(cmd.Session)
	if s == nil || !s.log.Following() {
		c.Failf(cmd, protocol.CodeNotSubscribed, "this connection does not follow session %s", cmd.Session)
		return
	}
	c.Unsubscribe(cmd, s.log)
}
