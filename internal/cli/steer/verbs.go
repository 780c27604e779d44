package steer

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{
	&sendVerb, &waitVerb, &interruptVerb, &queueVerb, &approvalsVerb, &approveVerb, &denyVerb,
	&explainVerb, &rulesVerb, &planVerb, &taskVerb, &compactVerb, &undoVerb, &retryVerb, &setVerb,
}
