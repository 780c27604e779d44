package effectiveagent

import (
	"time"

	"agentctl/protocol"
)

// A form is a way to write activities. Both are read; a peer is written to as it writes.
type activityForm struct {
	names        map[string]string // of the types; nil: the document's own
	milliseconds bool              // times are numbers
}

var (
	documentForm = activityForm{}
	systemForm   = activityForm{map[string]string{kindInput: "COMMAND", kindOutput: "EVENT", kindError: "ERROR", kindStatus: "STATE_CHANGE"}, true}
)

// formFromOptions returns the form that an option names, else the document's.
func formFromOptions(options map[string]string) activityForm {
	if options["activities"] == "system" {
		return systemForm
	}
	return documentForm
}

// update takes on the form that a peer's activity shows.
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
