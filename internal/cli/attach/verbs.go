package attach

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&attachVerb, &keysVerb}
