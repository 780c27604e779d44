package tour

import "agentctl/internal/cli/verb"

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&tourVerb}
