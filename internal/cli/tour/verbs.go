package tour

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&tourVerb}
