package replay

import (
	"fmt"
	"io"
	"strings"

	"agentctl/protocol"
)

// writeSession writes a session as text: its turns with every item, and its state.
func writeSession(w io.Writer, s *view) {
	for i, t := range s.transcript.Turns {
		fmt.Fprintf(w, "\nturn %d: %q", i+1, t.Message.Text)
		if t.Message.By != nil {
			fmt.Fprintf(w, " by %s", t.Message.By.Name)
		}
		fmt.Fprintln(w)
		for _, it := range t.Items {
			indent := "  "
			if it.Parent != "" {
				indent = "    "
			}
			fmt.Fprint(w, indent)
			if it.Task != "" {
				fmt.Fprintf(w, "[task %s] ", it.Task)
			}
			writeItem(w, it)
			if it.Open {
				fmt.Fprint(w, " (open)")
			}
			fmt.Fprintln(w)
		}
		if end := t.End; end == nil {
			fmt.Fprintln(w, "  running")
		} else {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %s %s %s", end.Reason, end.Code, end.Message), " "))
		}
	}
	writeState(w, s.state)
}

func writeItem(w io.Writer, it *protocol.Item) {
	switch it.Kind {
	case protocol.ItemText, protocol.ItemReasoning:
		fmt.Fprintf(w, "%s: %q", it.Kind, it.Text)
	case protocol.ItemTool:
		t := it.Tool
		fmt.Fprintf(w, "tool %s", t.Name)
		if t.Title != "" {
			fmt.Fprintf(w, " %q", t.Title)
		}
		if len(t.Input) > 0 {
			fmt.Fprintf(w, " input %s", t.Input)
		} else if len(t.InputText) > 0 {
			fmt.Fprintf(w, " input %q", t.InputText)
		}
		if len(it.Text) > 0 {
			fmt.Fprintf(w, " output %q", it.Text)
		}
		if len(t.Content) > 0 {
			fmt.Fprintf(w, " content %s", protocol.MustEncode(t.Content))
		}
		if t.End != nil {
			fmt.Fprintf(w, " end %s", protocol.MustEncode(t.End))
		}
	case protocol.ItemApproval:
		fmt.Fprintf(w, "approval %s", approval(it.Approval))
		if it.Resolved != nil {
			fmt.Fprintf(w, " -> %s %s", it.Resolved.Outcome, it.Resolved.Decision)
			if it.Resolved.Reason != "" {
				fmt.Fprintf(w, " %q", it.Resolved.Reason)
			}
		}
		if it.By != nil {
			fmt.Fprintf(w, " by %s", it.By.Name)
		}
	case protocol.ItemSteered:
		fmt.Fprintf(w, "steered %q %s", it.Steered.Message.Text, it.Steered.Outcome)
		if it.By != nil {
			fmt.Fprintf(w, " by %s", it.By.Name)
		}
	default:
		fmt.Fprintf(w, "%s %s", it.Type, it.Data)
	}
}

// approval returns a request without what differs from run to run.
func approval(a *protocol.Approval) string {
	copied := *a
	copied.Turn, copied.Asked = "", playStart
	return strings.Replace(string(protocol.MustEncode(copied)), `,"asked":"2026-11-22T12:00:00Z"`, "", 1)
}

func writeState(w io.Writer, s *protocol.State) {
	fmt.Fprintf(w, "\n%s", s.Status())
	for _, m := range s.Queue {
		fmt.Fprintf(w, ", queued %q", m.Text)
	}
	for _, h := range s.Holds {
		fmt.Fprintf(w, ", held: %s", h.Reason)
	}
	for _, part := range []struct {
		name  string
		value any
		given bool
	}{
		{"name", s.Name, s.Name != ""},
		{"title", s.Title, s.Title != ""},
		{"agent", s.Agent, s.Agent != ""},
		{"plan", s.Plan, s.Plan != nil},
		{"context", s.Context, s.Context != nil},
		{"usage", s.Usage, s.Usage != nil},
		{"options", s.Options, s.Options != nil},
	} {
		if part.given {
			fmt.Fprintf(w, ", %s %s", part.name, protocol.MustEncode(part.value))
		}
	}
	fmt.Fprintln(w)
}
