package multiagent

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// executedByServer is the example as agentctl's server sends it: like the real system, it omits the
// error of a tool that succeeded.
var executedByServer = strings.Replace(multiagenttest.ExecutedExample, ",\n    \"errorMessage\": null", "", 1)

// MA-5 to MA-15: the server and the client send or accept each example of the document, equal
// except for whitespace.
func TestEveryExampleOfTheDocument(t *testing.T) {
	for example, server := range map[string]func(*multiagenttest.Server){
		multiagenttest.PongExample:    func(h *multiagenttest.Server) { h.Receive(multiagenttest.PingExample) },
		multiagenttest.StartedExample: func(h *multiagenttest.Server) { h.Receive(multiagenttest.StartExample) },
		multiagenttest.ChunkExample: func(h *multiagenttest.Server) {
			h.StartTurn("uuid")
			h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "partial text"})
		},
		multiagenttest.CompleteExample: func(h *multiagenttest.Server) {
			h.StartTurn("uuid")
			h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "full response text"})
			h.TakeSent()
			h.Emit(protocol.TurnEnded, protocol.TurnEndedData{
				Reason: protocol.ReasonCompleted, Usage: &protocol.Usage{Output: 150}, DurationMS: 2500,
			})
		},
		multiagenttest.ApprovalExample: func(h *multiagenttest.Server) {
			h.StartTurn("uuid")
			h.Emit(protocol.ApprovalRequested, protocol.Approval{
				Request: "uuid", Kind: protocol.ApproveTool, Name: "Tool Name", Title: "Tool description",
				Input: []byte("{}"),
			})
		},
		executedByServer: func(h *multiagenttest.Server) {
			h.StartTurn("uuid")
			h.Emit(protocol.ToolStarted, protocol.ToolStartedData{Tool: "uuid", Name: "Tool Name"})
			h.Emit(protocol.ToolEnded, protocol.ToolEndedData{
				Tool: "uuid", Status: protocol.ToolCompleted,
				Output: []byte("{}"),
			})
		},
		multiagenttest.ErrorExample: func(h *multiagenttest.Server) {
			f := wire.NewError("uuid", "error_code", "Error message")
			h.Deliver(codec.Output{Foreign: []codec.Frame{f.Encode()}})
		},
	} {
		h := multiagenttest.NewServer(t, Dialect.Server, codec.ServerOptions{})
		h.UseConversation()
		server(h)
		h.WantSent(example)
	}
	for example, verb := range map[string]protocol.Verb{
		multiagenttest.StartExample: protocol.DoCreate, multiagenttest.SendExample: protocol.DoSend, multiagenttest.CancelExample: protocol.DoInterrupt,
		multiagenttest.ApproveExample: protocol.DoApprove,
	} {
		h := multiagenttest.NewServer(t, Dialect.Server, codec.ServerOptions{})
		h.UseConversation()
		h.Receive(example)
		if len(h.Commands) != 1 || h.Commands[0].Command != verb {
			t.Errorf("the server executes %v for %s", h.Commands, example)
		}
	}
	for example, act := range map[string]func(*multiagenttest.Client){
		multiagenttest.PingExample: func(c *multiagenttest.Client) { c.Command(protocol.DoPing, "", nil) },
		multiagenttest.StartExample: func(c *multiagenttest.Client) {
			c.Command(protocol.DoCreate, "", protocol.CreateData{Agent: "software_development"})
		},
		multiagenttest.SendExample: func(c *multiagenttest.Client) {
			c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "Hello, help me with..."})
		},
		multiagenttest.CancelExample: func(c *multiagenttest.Client) { c.Command(protocol.DoInterrupt, "uuid", nil) },
		multiagenttest.ApproveExample: func(c *multiagenttest.Client) {
			c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{
				Request: "uuid", Decision: protocol.AllowOnce, Reason: "optional rejection reason",
			})
		},
	} {
		c := multiagenttest.NewClient(t, Dialect.Client, false, nil)
		c.Subscribe()
		act(c)
		c.WantSent(example)
	}
	for example, want := range map[string][]protocol.Type{
		multiagenttest.ChunkExample: {protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta},
		multiagenttest.CompleteExample: {
			protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta, protocol.TextEnd,
			protocol.TurnEnded,
		},
		multiagenttest.ApprovalExample: {protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ApprovalRequested},
		multiagenttest.ExecutedExample: {protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ToolEnded},
		multiagenttest.ErrorExample:    {protocol.Notice}, // no turn or request that it could concern
		multiagenttest.PongExample:     nil,
		multiagenttest.StartedExample:  {protocol.Raw}, // unrequested
	} {
		c := multiagenttest.NewClient(t, Dialect.Client, false, nil)
		c.Subscribe()
		before := len(c.Events)
		c.Receive(example)
		var got []protocol.Type
		for _, e := range c.Events[before:] {
			got = append(got, e.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the client records %v for %s", got, example)
		}
	}
}
