package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// history answers with finished turns: those that the log has, and where it began later than the session, those of a server that
// tells them. The seqs of both are in order, for the log begins behind the server's.
func (c *client) history(s *session, cmd *protocol.Command, d *protocol.HistoryData) {
	here := s.log.History(*d)
	if !c.can[canHistory] || s.origin == 0 || s.foreign != s.log.Session {
		c.desk.Answer(c.out, cmd, here)
		return
	}
	if len(here.Events) > 0 {
		here.More = true
		c.desk.Answer(c.out, cmd, here)
		return
	}
	before := s.origin + 1
	if d.Before > 0 && d.Before <= s.begun {
		before = min(before, d.Before)
	}
	f := frame{Session: s.foreign, Event: userRequestHistory, Content: meta{"before": before, "limit": d.Limit}}
	c.ask(f, s, func(result json.RawMessage, err *protocol.Error) {
		var there protocol.HistoryResult
		if err == nil && json.Unmarshal(result, &there) != nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server's history cannot be read")
		}
		if err != nil {
			c.desk.Fail(c.out, cmd, err)
			return
		}
		there.Epoch = s.log.Epoch
		if there.Events == nil {
			there.Events = []json.RawMessage{}
		}
		c.desk.Answer(c.out, cmd, there)
	})
}
