package pipeline

import (
	"encoding/json"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// A state is saved with each end of a task: the newest plan with the results of its completed
// tasks, the usage of the session, and settings that differ from the configuration.
type state struct {
	Question string         `json:"question,omitempty"`
	Summary  string         `json:"summary,omitempty"`
	Tasks    []savedTask    `json:"tasks,omitempty"`
	Ended    bool           `json:"ended,omitempty"` // the plan was aggregated
	Usage    protocol.Usage `json:"usage"`
	Parallel int            `json:"parallel,omitempty"` // 0: the configured value
	Confirm  *bool          `json:"confirm,omitempty"`  // nil: the configured value

	// For a restart.
	Turn    string         `json:"turn,omitempty"` // that solves the plan, or has ended
	End     *agent.End     `json:"end,omitempty"`  // of Turn; nil: it runs or failed
	Before  protocol.Usage `json:"before"`         // Usage before it
	Spent   protocol.Usage `json:"spent"`          // of its agents that have ended
	Calls   int            `json:"calls,omitempty"`
	Running []conversation `json:"running,omitempty"`
	Changed *storedChanges `json:"changed,omitempty"`
}

type savedTask struct {
	protocol.Task
	Attempt int    `json:"attempt,omitempty"`
	Result  string `json:"result,omitempty"` // shortened
	Failure string `json:"failure,omitempty"`
}

// The bounds of the state, in bytes: the session stores 1 MiB.
const (
	maxState  = 960 << 10
	maxResult = 16 << 10 // of a result, here and in messages to agents
)

func decodeState(b []byte) (s state, err error) {
	if len(b) > 0 && json.Unmarshal(b, &s) != nil {
		return s, protocol.Errorf(protocol.CodeInvalidState, "state is not from a pipeline")
	}
	return s, nil
}

// encode returns the state, with shorter results if it is too large. maxPlan bounds the tasks.
func (s *state) encode() []byte {
	for most := maxResult; ; most /= 2 {
		b, err := json.Marshal(s)
		if err != nil {
			panic("pipeline: encode state: " + err.Error()) // finite numbers and strings always encode
		}
		if len(b) <= maxState || most == 0 {
			return b
		}
		for i := range s.Tasks {
			t := &s.Tasks[i]
			t.Result, t.Failure = shorten(t.Result, most), shorten(t.Failure, most)
		}
	}
}

// setPlan sets the current plan. Long texts are shortened.
func (s *state) setPlan(p *plan, tasks []*task) {
	s.Question, s.Summary, s.Ended = shorten(p.question, maxResult), p.summary, false
	s.Tasks = make([]savedTask, len(tasks))
	for i, t := range tasks {
		s.Tasks[i] = savedTask{
			Task: t.Task.Task, Attempt: t.attempt,
			Result: shorten(t.result, maxResult), Failure: shorten(t.failure, 1<<10),
		}
	}
	s.release()
}

// find returns the saved task with the id and the title of t, or the zero task.
func (s *state) find(t *protocol.Task) savedTask {
	for _, saved := range s.Tasks {
		if saved.ID == t.ID && saved.Title == t.Title {
			return saved
		}
	}
	return savedTask{}
}

// shorten returns at most n bytes of the text, with a mark if more was there.
func shorten(text string, n int) string {
	const mark = " […]"
	if len(text) <= n {
		return text
	}
	if n < 4*len(mark) {
		return ""
	}
	return format.Cut(text, n-len(mark), mark)
}
