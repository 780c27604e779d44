package llm

import (
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

const (
	recentSteps = 10 // whose calls are compared
	toldRepeats = 4  // equal calls with equal results, from which the model is told
	maxRepeats  = 6  // of these, which end the turn
)

// repeatedNote follows the result of a call that was made before with the same result.
const repeatedNote = "\n\n[You have made this call several times, and nothing has changed since: the result is " +
	"always the same. Do something else, or end your turn and say what is missing.]"

// A recentCall is a call with its result.
type recentCall struct {
	Step int    `json:"step"` // the number of the request that made it
	Hash string `json:"hash"` // of the call and the result
}

// recentCalls are the calls of the last steps of a turn since the last change of a file, in order.
type recentCalls []recentCall

// add adds a call of a step and returns in how many steps there was an equal one, with this. A call
// that changed something starts the list again.
func (r *recentCalls) add(step int, c *model.Call, result *model.Result, changes bool) int {
	if changes && !result.Error {
		*r = nil
		return 0
	}
	call := recentCall{Step: step, Hash: hashOf(c.Name + "\x00" + string(c.Input) + "\x00" + result.Text + "\x00")}
	if !slices.Contains(*r, call) {
		*r = append(*r, call)
	}
	*r = slices.DeleteFunc(slices.Clone(*r), func(x recentCall) bool { return x.Step <= step-recentSteps })
	return r.repeats(call.Hash)
}

// repeats returns in how many steps a call was made.
func (r recentCalls) repeats(hash string) (n int) {
	for _, x := range r {
		if x.Hash == hash {
			n++
		}
	}
	return n
}

// inLoop returns how a turn ends in which the model repeats a call that changes nothing.
func (a *Agent) inLoop() (end agent.End, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	recent := a.state.Turn.Recent
	for _, x := range recent {
		if x.Step == recent[len(recent)-1].Step && recent.repeats(x.Hash) >= maxRepeats {
			return agent.End{
				Reason:  protocol.ReasonLoop,
				Message: "the model repeats a call that always has the same result",
			}, true
		}
	}
	return end, false
}
