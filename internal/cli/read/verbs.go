package read

import (
	"agentctl/internal/cli/verb"
)

var Verbs = []*verb.Verb{
	&statusVerb, &eventsVerb, &historyVerb, &searchVerb, &exportVerb, &blobVerb, &contextVerb, &optionsVerb,
}
