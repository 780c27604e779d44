package turn

import (
	"testing"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

func TestATurnsEndDecidesTheExitCode(t *testing.T) {
	tests := []struct {
		end    protocol.TurnEndedData
		status int
		code   protocol.Code
	}{
		{protocol.TurnEndedData{Reason: protocol.ReasonCompleted}, exit.OK, ""},
		{protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}, exit.Interrupted, exit.CodeInterrupted},
		{protocol.TurnEndedData{Reason: protocol.ReasonDenied}, exit.TurnFailed, exit.CodeDenied},
		{
			protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed},
			exit.TurnFailed,
			protocol.CodeAgentFailed,
		},
		{protocol.TurnEndedData{Reason: protocol.ReasonRefusal}, exit.TurnFailed, exit.CodeTurnFailed},
		{protocol.TurnEndedData{Reason: protocol.ReasonMaxTokens}, exit.TurnFailed, exit.CodeTurnFailed},
		{protocol.TurnEndedData{Reason: protocol.ReasonTimeout}, exit.TurnFailed, exit.CodeTurnFailed},
		{protocol.TurnEndedData{Reason: "a reason of a later version"}, exit.TurnFailed, exit.CodeTurnFailed},
	}
	for _, tt := range tests {
		t.Run(string(tt.end.Reason), func(t *testing.T) {
			err := Result(output.Printer{}, &tt.end, nil, false)
			if tt.status == exit.OK {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := exit.From(err); e.Status != tt.status || e.Code != tt.code {
				t.Errorf("exit %d code %s, want %d %s", e.Status, e.Code, tt.status, tt.code)
			}
		})
	}
}
