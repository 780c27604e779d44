package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// handleHistory answers with finished turns: those of the log, then those before it if the server
// has them. Their seqs are in order, because the log starts behind the server's.
func (c *Conn) handleHistory(s *session, cmd *protocol.Command, d *protocol.HistoryData) {
	local := s.log.History(*d)
	if !c.capabilities[wire.CapHistory] || s.serverStart == 0 || s.serverID != s.log.Session {
		c.Answer(cmd, local)
		return
	}
	if len(local.Events) > 0 {
		local.More = true
		c.Answer(cmd, local)
		return
	}
	before := s.serverStart + 1
	if d.Before > 0 && d.Before <= s.logStart {
		before = min(before, d.Before)
	}
	f := wire.Frame{Session: s.serverID, Event: wire.UserRequestHistory, Content: wire.Meta{"before": before, "limit": d.Limit}}
	c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) {
		var remote protocol.HistoryResult
		if err == nil && json.Unmarshal(result, &remote) != nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server's history cannot be read")
		}
		if err != nil {
			c.Fail(cmd, err)
			return
		}
		remote.Epoch = s.log.Epoch
		if remote.Events == nil {
			remote.Events = []json.RawMessage{}
		}
		c.Answer(cmd, remote)
	})
}
