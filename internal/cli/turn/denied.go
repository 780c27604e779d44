package turn

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/exit"
	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// maxDenied is the number of denials that a line names.
const maxDenied = 3

// AddDeniedFlag adds --fail-on-denied.
func AddDeniedFlag(cmd *cobra.Command, fail *bool) {
	cmd.Flags().BoolVar(fail, "fail-on-denied", false, "exit 7 if a request was denied")
}

// CheckDeniedFlag returns a usage error if --fail-on-denied was passed to a verb that does not wait.
func CheckDeniedFlag(fail, waits bool) error {
	if fail && !waits {
		return exit.Usagef("--fail-on-denied needs --wait or --follow")
	}
	return nil
}

// Result returns the error of a turn's end. A completed turn with a denial is an error if fail is
// set; else a note names what was denied.
func Result(out output.Printer, end *protocol.TurnEndedData, denied []protocol.Denial, fail bool) error {
	names := deniedNames(denied)
	switch {
	case end.Reason == protocol.ReasonDenied:
		text := "a denial ended the turn"
		for _, detail := range []string{names, end.Message} {
			if detail != "" {
				text += ": " + detail
			}
		}
		return exit.Errorf(exit.TurnFailed, exit.CodeDenied, "%s", text)
	case len(denied) == 0:
	case end.Reason == protocol.ReasonCompleted && fail:
		return exit.Errorf(exit.TurnFailed, exit.CodeDenied, "the turn completed with %s", names)
	default:
		out.Notef("%s", names)
	}
	return failure(end)
}

// deniedNames returns denials as a line, or "".
func deniedNames(list []protocol.Denial) string {
	if len(list) == 0 {
		return ""
	}
	var names []string
	for i := range list[:min(len(list), maxDenied)] {
		names = append(names, describe.Line(list[i].Action, 200))
	}
	text := fmt.Sprintf("%s denied: %s", format.Count(len(list), "request"), strings.Join(names, "; "))
	if more := len(list) - len(names); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// DeniedIn returns what was denied in a finished turn, one of the last two.
func DeniedIn(c *connection.Conn, session, turn string) ([]protocol.Denial, error) {
	var events []*protocol.Event
	for before := uint64(0); ; {
		page, err := connection.Call[protocol.HistoryResult](c, protocol.DoHistory, session,
			protocol.HistoryData{Before: before, Limit: 2})
		if err != nil {
			return nil, err
		}
		var of []*protocol.Event
		for e, err := range page.Decoded() {
			if err != nil {
				return nil, err
			}
			if e.Turn == turn {
				of = append(of, e)
			}
		}
		events = append(of, events...)
		older := page.OlderThan()
		if len(of) == 0 || of[0].Type == protocol.MessageUser || older == 0 || older == before {
			break
		}
		before = older
	}
	var t protocol.Transcript
	for _, e := range events {
		if _, err := t.Apply(e); err != nil {
			return nil, err
		}
	}
	if t.Current() == nil {
		return nil, nil
	}
	return protocol.Denials(t.Current().Items), nil
}
