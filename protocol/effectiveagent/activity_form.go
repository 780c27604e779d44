package effectiveagent

import (
	"time"

	"agentctl/protocol"
)

// An activityForm is a form of activities. Both forms are decoded; a peer gets the form that it
// sends.
type activityForm struct {
	names        map[string]string // names of the types; nil: the document's
	milliseconds bool              // times are numbers of milliseconds
}

var (
	documentForm = activityForm{}
	systemForm   = activityForm{
		map[string]string{kindInput: "COMMAND", kindOutput: "EVENT", kindError: "ERROR", kindStatus: "STATE_CHANGE"},
		true,
	}
)

// formFromOptions returns the form that the option "activities" names, by default the document's.
func formFromOptions(options map[string]string) activityForm {
	if options["activities"] == "system" {
		return systemForm
	}
	return documentForm
}

// update adopts the form of a peer's activity.
func (f *activityForm) update(a *receivedActivity) {
	switch a.Type {
	case "COMMAND", "EVENT", "QUERY", "RESPONSE", "ERROR", "STATE_CHANGE", "SYSTEM":
		*f = systemForm
	case kindInput, kindOutput, kindError, kindStatus:
		*f = documentForm
	}
}

func (f activityForm) typeName(kind string) string {
	if name := f.names[kind]; name != "" {
		return name
	}
	return kind
}

func (f activityForm) encodeTime(t time.Time) any {
	if f.milliseconds {
		return t.UnixMilli()
	}
	return t.UTC().Format(protocol.TimeFormat)
}
