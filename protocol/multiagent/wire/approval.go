package wire

import (
	"encoding/json"

	"agentctl/protocol"
)

// ApprovalArgs returns the arguments of a request. The protocol requires an object.
func ApprovalArgs(a *protocol.Approval) json.RawMessage {
	if a.TellsInput() && a.Input[0] == '{' {
		return a.Input
	}
	return protocol.MustEncode(struct {
		Input     json.RawMessage     `json:"input,omitempty"`
		Command   string              `json:"command,omitempty"`
		CWD       string              `json:"cwd,omitempty"`
		Patch     string              `json:"patch,omitempty"`
		Content   []protocol.Content  `json:"content,omitempty"`
		Paths     []string            `json:"paths,omitempty"`
		Tasks     []protocol.Task     `json:"tasks,omitempty"`
		Questions []protocol.Question `json:"questions,omitempty"`
	}{a.Input, a.Command, a.CWD, a.Patch, a.Content, a.Paths, a.Tasks, a.Questions})
}
