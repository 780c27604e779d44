package pipeline

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// Bounds of stored conversations, in bytes before their encoding as JSON.
const (
	maxConversations = 480 << 10 // all together, compressed
	maxPlain         = 1 << 20   // the state of one agent: the session's own bound
)

// A conversation is the stored state of a solver or an aggregator that works in the current turn.
// With it the agent continues after a restart of the server.
type conversation struct {
	ID      string         `json:"id"`              // of the attempt
	State   []byte         `json:"state,omitempty"` // compressed
	Dropped bool           `json:"dropped,omitempty"`
	Cuts    []string       `json:"cuts,omitempty"` // parts that were followed by a call of a tool
	Usage   protocol.Usage `json:"usage"`
	Calls   int            `json:"calls,omitempty"`
}

// errDropped is the failure of a task that cannot continue after a restart.
var errDropped = protocol.Errorf(protocol.CodeServerRestart,
	"the server was restarted, and the conversation of the agent was too large to be stored")

// errPlanLost is the failure of a turn that has no plan yet when the server stops.
var errPlanLost = protocol.Errorf(protocol.CodeServerRestart, "the server was restarted before the tasks were started")

// keep stores a conversation in place of its earlier state. While all are too large it drops the
// largest state. It returns the names of conversations that are dropped for the first time.
func (s *state) keep(c conversation) (dropped []string) {
	all := slices.Clone(s.Running) // an encoded state shares it
	was := false
	if i := slices.IndexFunc(all, func(o conversation) bool { return o.ID == c.ID }); i >= 0 {
		was, all[i] = all[i].Dropped, c
	} else {
		all = append(all, c)
	}
	for {
		size, largest := 0, 0
		for i := range all {
			if size += len(all[i].State); len(all[i].State) > len(all[largest].State) {
				largest = i
			}
		}
		if size <= maxConversations {
			break
		}
		o := &all[largest]
		o.State, o.Dropped = nil, true
		if o.ID != c.ID || !was {
			dropped = append(dropped, s.nameOf(o.ID))
		}
	}
	s.Running = all
	return dropped
}

// conversation returns the stored conversation with an id; nil: none.
func (s *state) conversation(id string) *conversation {
	for _, c := range s.Running {
		if c.ID == id {
			return &c
		}
	}
	return nil
}

// nameOf returns the name of a conversation for people.
func (s *state) nameOf(id string) string {
	for _, t := range s.Tasks {
		if attemptID(t.ID, t.Attempt) == id {
			return fmt.Sprintf("the task %q", t.Title)
		}
	}
	return "the aggregator"
}

// release removes the conversations of tasks that do not run.
func (s *state) release() {
	s.Running = slices.DeleteFunc(slices.Clone(s.Running), func(c conversation) bool {
		return c.ID != aggregatorID && !slices.ContainsFunc(s.Tasks, func(t savedTask) bool {
			return t.Status == protocol.StatusRunning && attemptID(t.ID, t.Attempt) == c.ID
		})
	})
}

// endTurn removes what continues a turn.
func (s *state) endTurn() { s.Turn, s.End, s.Running, s.Changed = "", nil, nil, nil }

// attemptID returns the id of the agent of an attempt at a task.
func attemptID(task string, attempt int) string { return fmt.Sprintf("%s.%d", task, attempt) }

// compressors are writers that compress uses again: a new one allocates 800 KB.
var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

func compress(b []byte) []byte {
	var c bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&c)
	_, _ = z.Write(b) // a buffer has no errors
	_ = z.Close()
	return c.Bytes()
}

func decompress(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decompress a conversation: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxPlain))
	if err != nil {
		return nil, fmt.Errorf("decompress a conversation: %w", err)
	}
	return plain, nil
}

// Save implements agent.Output and agent.Host: the pipeline stores the state with its own, as long
// as the turn of the agent runs. The state of a planner is not kept.
func (in *inner) Save(b []byte) error {
	if !in.stores() {
		return nil
	}
	return in.save(b, in.run.out.Save)
}

// stores reports whether the pipeline stores the agent's state.
func (in *inner) stores() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.running && in.role != plannerRole && in.run.agent.capabilities.Resumes
}

// save stores the state in one commit with what save sends.
func (in *inner) save(b []byte, save func([]byte) error) error {
	in.mu.Lock()
	c := conversation{
		ID: in.name, Cuts: slices.Clone(in.answer.cuts), Usage: in.spent.usage, Calls: in.spent.calls,
	}
	in.mu.Unlock()
	c.State = compress(b)
	var dropped []string
	err := in.run.agent.change(func(s *state) {
		dropped, s.Changed = s.keep(c), in.run.changed.store()
	}, save)
	for _, name := range dropped {
		_ = in.run.emit(protocol.Notice, protocol.NoticeData{ // fails only when the turn is over
			Level:   protocol.LevelWarning,
			Message: "the conversation of " + name + " is too large to be stored: it fails if the server is restarted",
		})
	}
	return err
}

// restore returns the stored state of an agent's conversation, and prepares the agent for it.
func (r *run) restore(in *inner) ([]byte, error) {
	if !r.continued {
		return nil, nil
	}
	r.agent.mu.Lock()
	c := r.agent.state.conversation(in.name)
	r.agent.mu.Unlock()
	if c == nil {
		return nil, nil // it had not begun, or begins now
	}
	in.restore(c, r.turn.Shown)
	if c.Dropped {
		in.closeItems(context.Background(), in.open)
		return nil, errDropped
	}
	return decompress(c.State)
}

// restore continues a stored conversation: the next turn of the agent is the resumed one.
func (in *inner) restore(c *conversation, shown []agent.ShownText) {
	in.resumed = true
	in.spent = spending{c.Usage, c.Calls}
	in.reported = c.Calls > 0
	for _, x := range shown {
		part, ok := strings.CutPrefix(x.Part, in.prefix)
		if !ok {
			continue
		}
		if x.Open {
			end := protocol.TextEnd
			if x.Kind == protocol.KindReasoning {
				end = protocol.ReasoningEnd
			}
			in.open = append(in.open, openItem{id: x.Part, end: end})
		}
		if x.Kind == protocol.KindText {
			in.answer.add(part, x.Text)
			if slices.Contains(c.Cuts, part) {
				in.answer.cut()
			}
		}
		x.Part = part
		in.shown = append(in.shown, x)
	}
}

// continuedPlan returns the plan of a turn that continues after a restart.
func (r *run) continuedPlan() *plan {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	s := &r.agent.state
	p := &plan{question: r.turn.Message.Text, summary: s.Summary}
	if given := r.turn.Plan; given != nil && given.Question != "" {
		p.question = given.Question
	}
	for _, t := range s.Tasks {
		p.tasks = append(p.tasks, t.Task)
	}
	return p
}
