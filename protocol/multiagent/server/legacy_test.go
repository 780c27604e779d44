package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// takeRun returns the type of the one frame sent, and its run, or the code of its error.
func takeRun(h *multiagenttest.Server) (typ, status, code string) {
	h.T.Helper()
	var sent struct {
		Type    string
		Run     struct{ Status string }
		Runs    []struct{ ID, Status string }
		Payload struct{ Code string }
	}
	frames := h.TakeSent()
	i := slices.IndexFunc(frames, func(f string) bool { return !strings.Contains(f, `"type":"tool_executed"`) })
	if i < 0 || json.Unmarshal([]byte(frames[i]), &sent) != nil {
		h.T.Fatalf("sent %s", frames)
	}
	for _, r := range sent.Runs {
		status += r.ID + " " + r.Status
	}
	return sent.Type, status + sent.Run.Status, sent.Payload.Code
}

// The older messages about tool runs list and decide the pending requests. Other messages about
// tool runs have no counterpart.
func TestToolRunsArePendingRequests(t *testing.T) {
	for _, c := range []struct {
		frame             string
		role              protocol.Role
		typ, status, code string
	}{
		{`{"type":"tool_run.list"}`, "", "tool_run.listed", "r pending_approval", ""},
		{`{"type":"tool_run.approve","run_id":"r"}`, "", "tool_run.approved", "approved", ""},
		{`{"type":"tool_run.reject","run_id":"r","reason":"no"}`, "", "tool_run.rejected", "rejected", ""},
		{`{"type":"tool_run.approve","run_id":"s"}`, "", "error", "", wire.CodeNotFound},
		{`{"type":"tool_run.approve","run_id":"r"}`, protocol.RoleOperator, "error", "", wire.CodeForbidden},
		{`{"type":"tool_run.request","tool_id":"rm","parameters":{}}`, "", "error", "", wire.CodeNotConfigured},
		{`{"type":"tool_run.execute","run_id":"r"}`, "", "error", "", wire.CodeNotConfigured},
	} {
		h := newServerTest(t, codec.ServerOptions{Role: c.role})
		h.UseConversation()
		h.StartTurn("t")
		h.Emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: protocol.ApproveTool, Name: "rm"})
		h.TakeSent()
		h.Receive(c.frame)
		if typ, status, code := takeRun(h); typ != c.typ || status != c.status || code != c.code {
			t.Errorf("%s: %s %q %s", c.frame, typ, status, code)
		}
	}
}
