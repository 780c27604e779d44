package agents

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&agentsVerb}
