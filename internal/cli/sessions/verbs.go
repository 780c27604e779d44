package sessions

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{
	&lsVerb, &watchVerb, &renameVerb, &labelVerb, &forkVerb, &rmVerb,
	&stateVerb, &importVerb,
}
