package access

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{&loginVerb, &tokenVerb}
