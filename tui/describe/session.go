package describe

import (
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// Agent returns the short name of an agent. For an ad hoc command it is the program or file without
// its directory.
func Agent(agent string) string {
	name := transcript.CleanLine(agent)
	if _, command, ok := strings.Cut(name, ":"); ok {
		name, _, _ = strings.Cut(strings.TrimSpace(command), " ")
		name = name[strings.LastIndexAny(name, `/\`)+1:]
	}
	return name
}

// Resubscribed describes how a session continues after a new subscription. It returns "" if the
// session continues where it was.
func Resubscribed(mode, reason string) string {
	switch {
	case reason == "":
		return ""
	case reason == protocol.ResumeReplayed:
		return "what was missed was replayed"
	case reason == protocol.ResumeRestored:
		return "restored from its saved state"
	case mode != protocol.ModeReset:
		return ""
	case reason == protocol.ResetFresh:
		return "a fresh snapshot: the current state"
	case reason == protocol.ResetResubscribed:
		return "resubscribed: turns that ended since then are not shown"
	}
	return "the session's log was replaced: its current state"
}

// HitKinds has the names of the kinds of search hits.
var HitKinds = map[protocol.HitKind]string{
	protocol.HitUser:      "message",
	protocol.HitText:      "answer",
	protocol.HitReasoning: "reasoning",
	protocol.HitTool:      "tool",
	protocol.HitApproval:  "approval",
	protocol.HitError:     "error",
}

// SettingChoice returns the choice of a value of a setting, or nil.
func SettingChoice(set *protocol.Setting, value string) *protocol.Choice {
	if i := slices.IndexFunc(set.Choices, func(c protocol.Choice) bool { return c.ID == value }); i >= 0 {
		return &set.Choices[i]
	}
	return nil
}

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
