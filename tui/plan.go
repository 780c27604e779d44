package tui

import (
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// planRows is the most tasks that show at once.
const planRows = 6

// renderPlan is the plan while it runs: one line per task.
func renderPlan(l *look, s *protocol.State, width int) []string {
	p := s.Plan
	if p == nil || s.Turn == nil || len(p.Tasks) == 0 {
		return nil
	}
	done := tasksDone(p)
	out := []string{l.rule("plan · "+count(done, "task")+" done of "+count(len(p.Tasks), "task"), width)}
	first := max(0, min(done-1, len(p.Tasks)-planRows))
	for i := first; i < min(len(p.Tasks), first+planRows); i++ {
		t := &p.Tasks[i]
		mark, style := "·", l.dim
		switch t.Status {
		case protocol.StatusRunning:
			mark, style = "▸", l.warn
		case protocol.StatusCompleted:
			mark, style = "✓", l.good
		case protocol.StatusFailed:
			mark, style = "✗", l.bad
		case protocol.StatusCancelled:
			mark = "⊘"
		}
		out = append(out, fit("   "+style.Render(mark)+" "+oneLine(transcript.Clean(t.Title)), width))
	}
	return out
}

func tasksDone(p *protocol.Plan) int {
	done := 0
	for i := range p.Tasks {
		if p.Tasks[i].Status == protocol.StatusCompleted {
			done++
		}
	}
	return done
}
