package describe

import "agentctl/protocol"

// HitKinds has the names of the kinds of search hits.
var HitKinds = map[protocol.HitKind]string{
	protocol.HitUser:      "message",
	protocol.HitText:      "answer",
	protocol.HitReasoning: "reasoning",
	protocol.HitTool:      "tool",
	protocol.HitApproval:  "approval",
	protocol.HitError:     "error",
}
