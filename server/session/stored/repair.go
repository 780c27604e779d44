package stored

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// LostEvents returns the lines that stand for damaged events of a session in a repaired store, one
// per seq: a notice with the range, then events that show nothing.
func LostEvents(session string, first, last uint64) []byte {
	var lines []byte
	e := protocol.Event{Session: session, Time: record.Time(time.Now())}
	for seq := first; seq <= last; seq++ {
		e.Seq = seq
		if seq == first {
			notice := protocol.Errorf(protocol.CodeCorrupt, "events %d to %d were damaged and are lost", first, last)
			e.Type, e.Data = protocol.Notice, protocol.MustEncode(protocol.NoticeData{
				Level: protocol.LevelWarning, Code: notice.Code, Message: notice.Message,
			})
		} else {
			nothing := protocol.JoinedData{Parts: []protocol.JoinedPart{}}
			e.Type, e.Data = protocol.JoinedDeltas, protocol.MustEncode(nothing)
		}
		lines = append(e.AppendJSON(lines), '\n')
	}
	return lines
}

// RecordFromEvent returns a record for a session that has only events left, from its first readable
// event. If that event is not the creation, the session gets the default agent.
func RecordFromEvent(line []byte) (eventlog.Record, bool) {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil || e.Session == "" {
		return eventlog.Record{}, false
	}
	var created protocol.SessionCreatedData
	if e.Type == protocol.SessionCreated {
		_ = e.Decode(&created) // an agent that is not known is the default one
	}
	found := agent.Spec{Agent: created.Agent, CWD: created.CWD, Parent: created.Parent, Sandbox: created.Sandbox}
	if created.SubAgent {
		found.SubAgent = new(agent.SubAgent)
	}
	spec, err := record.Encode(found)
	if err != nil {
		return eventlog.Record{}, false
	}
	summary := protocol.Summary{
		Session: e.Session, Name: created.Name, Title: created.Title, Agent: created.Agent, CWD: created.CWD,
		Status: protocol.Idle, Updated: time.Now().UTC(),
		Attributes: protocol.Attributes{
			Created: e.Time, Parent: created.Parent, SubAgent: created.SubAgent, Sandbox: created.Sandbox,
		},
	}
	return eventlog.Record{ID: e.Session, Created: e.Time, Spec: spec, Summary: protocol.MustEncode(summary)}, true
}
