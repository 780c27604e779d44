package item

import "agentctl/protocol"

// A Denial notes whether the agent of a turn said anything after its last denial. The zero value
// belongs to a turn without one. Tasks and nested calls do not count.
type Denial struct {
	silent bool
	tools  map[string]bool // whose requests were denied
}

// Resolved notes the outcome of a request about a tool; empty: about none.
func (d *Denial) Resolved(outcome protocol.Outcome, tool string) {
	if outcome != protocol.Denied && outcome != protocol.Expired {
		return
	}
	d.silent = true
	if tool != "" {
		if d.tools == nil {
			d.tools = map[string]bool{}
		}
		d.tools[tool] = true
	}
}

// ToolEnded notes the end of a tool. One that was denied without a request was denied now.
func (d *Denial) ToolEnded(e *protocol.ToolEndedData) {
	if e.Status == protocol.ToolDenied && !d.tools[e.Tool] {
		d.silent = true
	}
}

// Said notes that the agent said something.
func (d *Denial) Said() { d.silent = false }

// End returns the reason of the turn's end: denied if the agent completed it without a word after a
// denial.
func (d *Denial) End(reason protocol.Reason) protocol.Reason {
	if d.silent && reason == protocol.ReasonCompleted {
		return protocol.ReasonDenied
	}
	return reason
}
