package turn

import (
	"strings"
	"testing"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

func TestADenialDecidesTheExitCodeAndIsNamed(t *testing.T) {
	one := []protocol.Denial{{Action: "rm -rf x"}}
	four := append(one, protocol.Denial{Action: "a"}, protocol.Denial{Action: "b\nc"}, protocol.Denial{Action: "left out"})
	for name, c := range map[string]struct {
		end    protocol.TurnEndedData
		denied []protocol.Denial
		fail   bool
		code   protocol.Code // of the error; "": none
		says   string        // in the error
		note   string
	}{
		"completed":          {end: protocol.TurnEndedData{Reason: protocol.ReasonCompleted}, fail: true},
		"completed after it": {end: protocol.TurnEndedData{Reason: protocol.ReasonCompleted}, denied: one, note: "agentctl: 1 request denied: rm -rf x\n"},
		"completed after four": {
			end: protocol.TurnEndedData{Reason: protocol.ReasonCompleted}, denied: four,
			note: "agentctl: 4 requests denied: rm -rf x; a; b⏎c; and 1 more\n",
		},
		"not to happen": {
			end: protocol.TurnEndedData{Reason: protocol.ReasonCompleted}, denied: one, fail: true, code: exit.CodeDenied,
			says: "the turn completed with 1 request denied: rm -rf x",
		},
		"ended by it": {
			end: protocol.TurnEndedData{Reason: protocol.ReasonDenied}, denied: one, code: exit.CodeDenied,
			says: "a denial ended the turn: 1 request denied: rm -rf x",
		},
		"ended by it with a reason": {
			end:    protocol.TurnEndedData{Reason: protocol.ReasonDenied, Message: "wrong way"},
			denied: one, code: exit.CodeDenied, says: "a denial ended the turn: 1 request denied: rm -rf x: wrong way",
		},
		"failed after it": {
			end: protocol.TurnEndedData{Reason: protocol.ReasonError}, denied: one, fail: true, code: exit.CodeTurnFailed,
			says: "the turn failed", note: "agentctl: 1 request denied: rm -rf x\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			err := Result(output.Printer{Stderr: &notes}, &c.end, c.denied, c.fail)
			if notes.String() != c.note {
				t.Errorf("note %q, want %q", &notes, c.note)
			}
			if c.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := exit.From(err); e.Status != exit.TurnFailed || e.Code != c.code || !strings.HasPrefix(e.Error(), c.says) {
				t.Errorf("exit %d, code %s, %v", e.Status, e.Code, e)
			}
		})
	}
}
