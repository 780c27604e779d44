package tuitest

import "agentctl/protocol"

// subAgents is a session whose agent has sub-agents: one is done, one works, and one asks.
func subAgents() *Journal {
	j := NewJournal()
	j.UserMessage(Ada, "m1", "Review the packages.")
	j.Text("t1", "I give each package to a sub-agent.")
	for _, s := range []struct{ id, title, text string }{
		{"c1", "Review pkg/store", "The counter lacks a lock.\nAdd it to Value too.\n"},
		{"c2", "Review pkg/web", ""},
		{"c3", "Review the module", ""},
	} {
		j.Tool(s.id, protocol.ToolStartedData{
			Name: "sub-agent", Kind: protocol.ToolOther, Title: s.title, Session: "s_" + s.id,
			Input: protocol.MustEncode(map[string]string{"task": "Find faults in it, and name the line of each."}),
		}, s.text)
	}
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	a := CommandApproval()
	a.SubAgent = &protocol.SubAgent{Session: "s_c3", Title: "Review the module"}
	j.RequestApproval(a)
	j.CaughtUp()
	return j
}
