package llm

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/compaction"
	"agentctl/server/agent/llm/model"
	"agentctl/server/policy"
)

// state is the stored state of an agent: its conversation and the current turn.
type state struct {
	Format       int               `json:"llm"` // of the state; 1
	Conversation []model.Message   `json:"conversation"`
	Turn         *turnState        `json:"turn,omitempty"`  // the current turn
	Usage        protocol.Usage    `json:"usage"`           // of the session
	Requests     int               `json:"requests"`        // of the session
	Turns        []turnMark        `json:"turns,omitempty"` // that begin in the conversation
	Files        []compaction.File `json:"files,omitempty"` // of calls, the newest last
	Seen         []SeenFile        `json:"seen,omitempty"`  // the newest last
	Steps        []protocol.Task   `json:"steps,omitempty"` // of the work
	Asked        []string          `json:"asked,omitempty"` // messages of the user that a summary replaced
	Model        string            `json:"model,omitempty"`
	Effort       string            `json:"effort,omitempty"`
	Policy       policy.Policy     `json:"policy,omitempty"`

	contextState

	encoded []encodedMessage // the conversation as of the last encoding
}

// contextState is the part of the state about the context of the model.
type contextState struct {
	Context    int64  `json:"context"`              // tokens of the last request and its response
	Counted    int64  `json:"counted,omitempty"`    // bytes that have the tokens of Context; 0: not known
	Compacted  int64  `json:"compacted,omitempty"`  // bytes after the last compaction
	Strategy   string `json:"strategy,omitempty"`   // threshold or manual; empty: as configured
	Transcript bool   `json:"transcript,omitempty"` // the conversation lacks the session's transcript
}

// stateFormat is the present format of the state.
const stateFormat = 1

// turnState is the progress of a turn. Calls are the calls of the last message, in order; when all
// have results, the results become the next message.
type turnState struct {
	ID       string         `json:"id"`
	Step     int            `json:"step"` // attempts of requests so far: they number parts and calls
	Requests int            `json:"requests"`
	Usage    protocol.Usage `json:"usage"`
	Calls    []callState    `json:"calls,omitempty"`
	Recent   recentCalls    `json:"recent,omitempty"`
	Joined   bool           `json:"joined,omitempty"` // messages have joined the turn

	// For a restart.
	Open     string      `json:"open,omitempty"`     // the text that a cut answer left open
	Recorded int         `json:"recorded,omitempty"` // bytes of it in the conversation
	Last     *lastAnswer `json:"last,omitempty"`     // the last complete answer, unless a note followed
	End      *agent.End  `json:"end,omitempty"`      // the turn is over
}

// lastAnswer is how an answer ended.
type lastAnswer struct {
	Stop   model.Stop `json:"stop"`
	Detail string     `json:"detail,omitempty"`
	Empty  bool       `json:"empty,omitempty"` // it has no parts
}

// callState is the progress of a call.
type callState struct {
	Tool    string        `json:"tool"` // id in the session
	Call    model.Call    `json:"call"`
	Basis   string        `json:"basis,omitempty"`   // of its preview when users were asked
	Started bool          `json:"started,omitempty"` // stored before it runs
	Result  *model.Result `json:"result,omitempty"`

	Questions int `json:"questions,omitempty"` // that the running call has asked

	// Below are the open calls of a task. True: one waits for a decision.
	Below map[string]bool `json:"below,omitempty"`
}

// decodeState decodes a stored state. The error for a state of another agent has the code
// invalid_state.
func decodeState(b []byte) (state, error) {
	var s state
	if len(b) == 0 {
		return state{Format: stateFormat}, nil
	}
	invalid := protocol.Errorf(protocol.CodeInvalidState, "the state is not from an llm agent")
	if b[0] != '{' {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return s, invalid
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxPlain)); err != nil {
			return s, invalid
		}
	}
	if json.Unmarshal(b, &s) != nil || s.Format != stateFormat || !s.complete() {
		return s, invalid
	}
	return s, nil
}

// complete reports whether every message has parts, and every part the fields of its type.
func (s *state) complete() bool {
	for _, m := range s.Conversation {
		for _, p := range m.Parts {
			if p.Type == model.ToolCall && p.Call == nil || p.Type == model.ToolResult && p.Result == nil ||
				p.Type == model.FilePart && p.File == nil {
				return false
			}
		}
		if len(m.Parts) == 0 {
			return false
		}
	}
	return true
}

const (
	maxStored = 1 << 20  // bytes of an agent's state
	maxPlain  = 64 << 20 // bytes of a state before compression
	smallest  = 1 << 19  // bytes from which a state is compressed
)

// encode returns the state, compressed if it is large. A conversation that is too large is cut.
// cut: it was.
func (s *state) encode() (b []byte, cut bool, err error) {
	for {
		plain, err := s.plain()
		if err != nil {
			return nil, cut, err
		}
		if len(plain) < smallest {
			return plain, cut, nil
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
		_, _ = z.Write(plain)                           // a buffer has no errors
		_ = z.Close()
		if b.Len() <= maxStored && len(plain) <= maxPlain {
			return b.Bytes(), cut, nil
		}
		if cut = s.shorten(); !cut {
			return nil, cut, protocol.Errorf(protocol.CodeTooLarge,
				"the conversation is too large to be stored: compact it or start a new session")
		}
	}
}

// shorten makes the conversation smaller, and reports whether it could.
func (s *state) shorten() bool {
	size := compaction.Size(s.Conversation)
	s.Conversation = compaction.Fit(s.Conversation, size*3/4)
	return compaction.Size(s.Conversation) < size
}

// add appends a message.
func (s *state) add(m model.Message) { s.Conversation = model.Append(s.Conversation, m) }

// endsWith reports whether the conversation ends with a text for the model.
func (s *state) endsWith(text string) bool {
	n := len(s.Conversation)
	if n == 0 {
		return false
	}
	parts := s.Conversation[n-1].Parts
	return parts[len(parts)-1].Text == text
}

// finishCalls makes a message of the results of the calls. Calls without one get the text.
func (s *state) finishCalls(missing string) {
	if s.Turn == nil || len(s.Turn.Calls) == 0 {
		return
	}
	s.add(results(s.Turn.Calls, missing))
	s.Turn.Calls = nil
}

// results returns the message with the results of calls.
func results(calls []callState, missing string) model.Message {
	m := model.Message{Role: model.User}
	for _, c := range calls {
		r := c.Result
		if r == nil {
			r = &model.Result{ID: c.Call.ID, Name: c.Call.Name, Text: missing, Error: true}
		}
		m.Parts = append(m.Parts, model.Part{Type: model.ToolResult, Result: r})
	}
	return m
}
