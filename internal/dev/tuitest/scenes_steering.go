package tuitest

import "agentctl/protocol"

// Steer adds a message that joins the turn that runs.
func (j *Journal) Steer(by protocol.Actor, id, text string) {
	j.AddBy(by, protocol.MessageSteered, protocol.MessageSteeredData{
		Message: protocol.Message{MessageID: id, ClientMessageID: "client-" + id, Text: text, By: &by},
	})
}

// ResolveSteered adds the outcome of a message that joined the turn.
func (j *Journal) ResolveSteered(id string, outcome protocol.SteerOutcome, reason string) {
	j.Add(protocol.MessageResolved, protocol.MessageResolvedData{MessageID: id, Outcome: outcome, Reason: reason})
}

// steering is a turn that messages join, with one in each state.
func steering() *Journal {
	j := NewJournal()
	j.Add(protocol.AgentOptions, protocol.Options{Name: "claude", Features: []string{protocol.FeatureSteer}})
	j.UserMessage(Ada, "m1", "Write the store of the sessions.")
	j.Text("t1", "I begin with the tables.")
	j.Steer(Bob, "m2", "Use Postgres, not SQLite.")
	j.ResolveSteered("m2", protocol.SteerTakenIn, "")
	j.Text("t2", "Postgres it is.")
	j.Steer(Ada, "m3", "And no migrations yet.")
	j.ResolveSteered("m3", protocol.SteerRefused, "it failed")
	j.Steer(Bob, "m4", "Which version?")
	j.ResolveSteered("m4", protocol.SteerUnknown, "the turn ended before the agent answered")
	j.Steer(Ada, "m5", "Name the tables in the plural.")
	j.QueueMessage(Ada, "m3", "And no migrations yet.")
	j.QueueMessage(Bob, "m6", "Then write its tests.")
	at := j.At
	j.AddBy(Ada, protocol.QueueAdded, protocol.QueueAddedData{
		Message: protocol.Message{
			MessageID: "m7", Text: "Log the slow queries.", By: &Ada, QueuedAt: &at, Delivery: protocol.DeliverSteer,
		},
		Index: new(int),
	})
	j.CaughtUp()
	return j
}
