package doctor

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&doctorVerb}
