package describe

import "agentctl/protocol"

// HitKinds name what holds a hit.
var HitKinds = map[protocol.HitKind]string{
	protocol.HitUser:      "message",
	protocol.HitText:      "answer",
	protocol.HitReasoning: "reasoning",
	protocol.HitTool:      "tool",
	protocol.HitApproval:  "approval",
	protocol.HitError:     "error",
}
