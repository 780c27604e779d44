package effectiveagent

import (
	"time"

	"agentctl/protocol"
)

// A form is a way to write activities. Both are read; a peer is written to as it writes.
type form struct {
	names        map[string]string // of the types; nil: the document's own
	milliseconds bool              // times are numbers
}

var (
	documentForm = form{}
	systemForm   = form{map[string]string{kindInput: "COMMAND", kindOutput: "EVENT", kindError: "ERROR", kindStatus: "STATE_CHANGE"}, true}
)

// formOf returns the form that an option names, else the document's.
func formOf(options map[string]string) form {
	if options["activities"] == "system" {
		return systemForm
	}
	return documentForm
}

// learn takes on the form that a peer's activity shows.
func (f *form) learn(a *seen) {
	switch a.Type {
	case "COMMAND", "EVENT", "QUERY", "RESPONSE", "ERROR", "STATE_CHANGE", "SYSTEM":
		*f = systemForm
	case kindInput, kindOutput, kindError, kindStatus:
		*f = documentForm
	}
}

func (f form) kind(kind string) string {
	if name := f.names[kind]; name != "" {
		return name
	}
	return kind
}

func (f form) time(t time.Time) any {
	if f.milliseconds {
		return t.UnixMilli()
	}
	return t.UTC().Format(protocol.TimeFormat)
}
