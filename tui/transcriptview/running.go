package transcriptview

import "time"

// RunningTool returns the title of the last tool call that runs, and when it started. It returns ""
// if none runs. A call that waits for a decision does not run.
func (v *View) RunningTool() (title string, started time.Time) {
	last := v.List.First() - 1
	for it, id := range v.runningTools {
		call, ok := v.List.Item(id).(*toolCall)
		if ok && it.Open && !call.waiting && id > last {
			title, started, last = call.plainTitle(), it.Started, id
		}
	}
	return title, started
}
