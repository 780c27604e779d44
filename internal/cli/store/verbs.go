package store

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{
	&backupVerb, &restoreVerb, &checkVerb, &repairVerb,
}
