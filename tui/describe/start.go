package describe

import (
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
)

// Starting returns the step of the start of an agent, with the time since the step began, and since the
// start began if that is another time. now zero: without times.
func Starting(p *protocol.AgentProcess, now time.Time) string {
	text := "the agent starts"
	since := func(at *time.Time) string {
		if at == nil || now.IsZero() || now.Sub(*at) < time.Second {
			return ""
		}
		return " " + format.Duration(now.Sub(*at).Truncate(time.Second))
	}
	if p.Step == "" {
		return text + since(p.Since)
	}
	text += ": " + Line(p.Step, 20) + since(p.StepAt)
	if all := since(p.Since); all != "" && p.Since != nil && p.StepAt != nil && p.StepAt.Sub(*p.Since) >= time.Second {
		text += "," + all + " in all"
	}
	return text
}
