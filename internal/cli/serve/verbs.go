package serve

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{
	&serveVerb, &stopVerb, &logsVerb, &connectVerb,
}
