package mcp

import (
	"context"
	_ "embed"
	"io"

	"agentctl/internal/cli/verb"
)

// skillText is the text that teaches an agent to use agentctl, in the format of skills: Markdown
// with a name and a description.
//
//go:embed skill.md
var skillText string

type skillOptions struct {
	verb.Options
}

var skillVerb = verb.Verb{
	Use:   "skill",
	Short: "Print what an agent needs to know to use agentctl",
	Long: `Print a text for agents: how to run other agents with agentctl from a shell, the exit codes, and
what an agent may not do. It has the format of a skill. Put it where your agent reads skills or
instructions, for Claude Code into .claude/skills/agentctl/SKILL.md, for agents that read AGENTS.md
at its end.`,
	Example: "  mkdir -p .claude/skills/agentctl\n" +
		"  agentctl skill >.claude/skills/agentctl/SKILL.md",
	Group: verb.GroupServer,

	Do: &verb.Steps[skillOptions]{Run: runSkill},
}

func runSkill(_ context.Context, o *skillOptions) error {
	return o.CLI.Out.Print(struct {
		Skill string `json:"skill"`
	}{skillText}, func(w io.Writer) { _, _ = io.WriteString(w, skillText) })
}
