package server

import (
	"strings"
	"testing"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
)

// AL-7: calls and output of the local shell have their own item types; any other command is a
// function.
func TestALocalShellHasItemsOfItsOwn(t *testing.T) {
	for name, want := range map[string][]string{
		"local_shell": {"shell c1 ls -l", `local_shell_call_output c1 {"output":"f","metadata":{"exit_code":2,"duration_seconds":0.1}}`},
		"shell":       {`call c1 shell {"command":["ls","-l"]}`, `function_call_output c1 {"output":"f","metadata":{"exit_code":2,"duration_seconds":0.1}}`},
	} {
		h := newServerHarness(t, "/s", true)
		code := 2
		h.Record(agentlooptest.Asks("x"))
		h.SentMessages()
		h.Record(
			agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{
				Tool: "c1", Name: name, Kind: protocol.ToolExecute,
				Input: []byte(`{"command":["ls","-l"]}`),
			}),
			agentlooptest.Entry(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "f"}),
			agentlooptest.Entry(protocol.ToolEnded, protocol.ToolEndedData{
				Tool: "c1", Status: protocol.ToolCompleted,
				ExitCode: &code, DurationMS: 100,
			}),
		)
		h.ExpectMessages(want...)
	}
}

// AL-11: a change is shown with the lines around it.
func TestAChangeIsShownWithTheLinesAroundIt(t *testing.T) {
	old := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	var b strings.Builder
	wire.WriteChange(&b, &protocol.Content{Path: "f", Old: &old, New: strings.Replace(old, "5", "five", 1)})
	if want := "*** Update File: f\n@@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"; b.String() != want {
		t.Errorf("shown as\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	wire.WriteChange(&b, &protocol.Content{Path: "new", New: "a\nb\n"})
	if want := "*** Add File: new\n+a\n+b\n"; b.String() != want {
		t.Errorf("shown as\n%s\nwant\n%s", b.String(), want)
	}
}
