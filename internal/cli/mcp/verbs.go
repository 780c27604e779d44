package mcp

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&mcpVerb, &skillVerb}
