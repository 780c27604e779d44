package script

import (
	"agentctl/protocol"
	"agentctl/server/agent"
)

// A turnRun is the run of one turn.
type turnRun struct {
	agent  *scriptAgent
	turn   agent.Turn
	out    agent.Output
	number int          // number of the message in the session, from 1
	prior  turnProgress // progress before a restart
}

// newRunner returns a runner that skips the first done events.
func (t *turnRun) newRunner(key, task string, done int) *runner {
	return &runner{turnRun: t, key: key, task: task, skip: done, done: done}
}

// steps returns the steps for the message or plan of the turn.
func (t *turnRun) steps() steps {
	var all steps
	if options := t.agent.script.options; options != nil && t.number == 1 {
		all = append(all, &emit{Type: protocol.AgentOptions, data: t.agent.options()})
	}
	if t.turn.Plan != nil {
		return append(all, t.agent.script.planFor(t.turn.Plan))
	}
	if found, ok := t.agent.script.match(t.number, t.turn.Message.Text); ok {
		return append(all, found...)
	}
	return append(all, &say{Text: "You said: {message}"})
}
