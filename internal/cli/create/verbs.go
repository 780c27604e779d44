package create

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&newVerb, &runVerb, &upVerb}
