package sessions

import "agentctl/internal/cli/verb"

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{
	&lsVerb, &watchVerb, &renameVerb, &labelVerb, &forkVerb, &rmVerb,
	&stateVerb, &importVerb,
}
