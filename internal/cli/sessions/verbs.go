package sessions

import (
	"slices"

	"agentctl/internal/cli/verb"
)

// Verbs are the verbs of this package.
var Verbs = slices.Concat(
	[]*verb.Verb{&lsVerb, &watchVerb, &labelVerb, &rmVerb, &stateVerb, &importVerb},
	calls.Below(""),
)
