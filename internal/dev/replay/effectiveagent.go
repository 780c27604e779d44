package replay

import (
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/effectiveagent"
)

func effectiveagentDialect() *Dialect {
	const (
		unrecorded = "the system has no server: an activity in a form that its code or its document defines"
		never      = "code of the document, not provoked by the recorded client"
	)
	return &Dialect{
		Dialect: effectiveagent.Dialect,
		Grammar: Grammar{
			Split: oneMessage(effectiveagentType), TypeFields: []string{"type", "code"}, NoServer: true,
			OpenKeys: func(path string) bool {
				return strings.HasPrefix(path, ".activity.payload") || strings.HasPrefix(path, ".payload.payload")
			},
		},
		Session: `.agentRuntimeId // .targetAgentRuntimeId`,
		Commands: []Command{
			{Type: "subscribe", Verb: protocol.DoSubscribe, Data: `select((.agentRuntimeId // "") != "")`},
			{Type: "unsubscribe", Verb: protocol.DoUnsubscribe},
			{Type: "send", Verb: protocol.DoSend, Data: `.payload.payload | {
				text: (strings // ((objects | .text | select(. != "")) // (objects | .content)) // "")}`},
		},
		Unsent: []Unsent{
			{"activity/", `[$type] | inside(["activity/agentctl/input", "activity/agentctl/COMMAND",
				"activity/agentctl/error", "activity/agentctl/ERROR"]) | not`, "depends on the agent"},
			{
				"error/", `[$type] | inside(["error/AGENT_RUNTIME_SEND_FAILED", "error/AGENT_RUNTIME_SUBSCRIBE_FAILED",
				"error/UNKNOWN_MESSAGE_TYPE", "error/PARSE_ERROR", "error/VALIDATION_ERROR"]) | not`,
				"not caused by the client",
			},
			{"send", "", "a mock server of the system relays the messages of other clients"},
			{"unknown", "", "no message of a server"},
		},
		Sessions: `["ea1", "ea2"]`,
		Unrecorded: map[string]string{
			"activity/document": unrecorded, "activity/system": unrecorded, "activity/service": unrecorded,
			"send":                        "a mock server of the system relays the messages of other clients",
			"error/PARSE_ERROR":           never,
			"error/VALIDATION_ERROR":      never,
			"error/SERIALIZATION_ERROR":   never,
			"error/UNAUTHORIZED":          never,
			"error/INTERNAL_SERVER_ERROR": never,
			"error/UNKNOWN_ERROR":         never,
		},
		Script: `
{"on":"tool*"}
{"think":"Which one?"}
{"tool":"read","kind":"read","title":"Read a file","input":{"path":"notes.txt"},"output":"three lines","exit":0}
{"say":"It has three lines."}
{"on":"slow*"}
{"say":"one two three","words":1,"delay":"1s"}
{"on":"*fail*"}
{"say":"so far"}
{"fail":"it broke"}
{"on":"cmd"}
{"ask":"command","title":"Remove","command":"rm notes.txt","then":[{"say":"removed"}]}
{"on":"*"}
{"say":"You wrote: {message}"}
`,
	}
}

// effectiveagentType returns a message's type, with the code of an error and the form of an
// activity: agentctl's with its type, and the activities of the system's document, server code and
// service.
func effectiveagentType(d Direction, v any) string {
	typ := textAt(v, "type")
	known := []string{"activity", "error", "send"}
	if d == ToServer {
		known = []string{"send", "subscribe", "unsubscribe"}
	}
	activity := at(v, "activity")
	_, isText := at(activity, "timestamp").(string)
	switch {
	case !slices.Contains(known, typ):
		return "unknown"
	case typ == "error":
		return typ + "/" + textAt(v, "code")
	case typ != "activity":
		return typ
	case at(activity, "metadata", "agentctl") != nil:
		return "activity/agentctl/" + textAt(activity, "type")
	case isText:
		return "activity/document"
	case at(activity, "sequence") != nil:
		return "activity/system"
	}
	return "activity/service"
}
