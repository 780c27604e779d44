package cli

import (
	"agentctl/internal/cli/verb"
)

var programVerbs = []*verb.Verb{&versionVerb}
