package steer

import "agentctl/internal/cli/verb"

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{
	&sendVerb, &waitVerb, &interruptVerb, &queueVerb, &approvalsVerb, &approveVerb, &denyVerb,
	&explainVerb, &rulesVerb, &planVerb, &taskVerb, &compactVerb, &undoVerb, &retryVerb, &setVerb,
}
