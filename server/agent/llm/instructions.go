package llm

import (
	"strings"

	"agentctl/server/policy"
)

// baseInstructions are the instructions for every model. They do not change within a session, so
// that providers can cache them.
const baseInstructions = `You are an agent that helps a user at a terminal. Answer briefly and precisely, in Markdown.
Say what you did and what you did not do. When a call of a tool is denied, do not reach the same in
another way: ask, or go on with something else.`

// instructions returns the system prompt.
func (a *Agent) instructions(t Toolbox) string {
	texts := []string{baseInstructions}
	if a.spec.CWD != "" {
		texts = append(texts, "The working directory is "+a.spec.CWD+".")
	}
	if t != nil {
		texts = append(texts, t.Instructions())
	}
	texts = append(texts, a.options.Config.Instructions)
	if a.parent != nil {
		texts = append(texts, taskInstructions)
	} else if a.policy() == policy.Plan {
		texts = append(texts, planInstructions)
	}
	var b strings.Builder
	for _, text := range texts {
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
	return b.String()
}
