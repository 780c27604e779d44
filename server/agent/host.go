package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"agentctl/server/agent/process"
)

// Host serves an agent at all times, in a turn or not. It outlives the agent.
type Host interface {
	// Emit is Output.Emit outside a turn, for agent.options, context.updated, usage.updated, notice
	// and raw; and for session.updated with a title, which replaces only the agent's own title.
	Emit(e Event) error

	// Save is Output.Save.
	Save(state []byte) error

	// SaveBlob stores a blob with the session, in a commit no later than the commit of the events and
	// states that follow. The blob stays as long as the session.
	SaveBlob(b Blob) error

	// Blob returns a blob of the session. Without one the error has the code not_found.
	Blob(ctx context.Context, id string) (Blob, error)

	// Sync returns when all that was emitted and saved is durable. An agent calls it before an effect that
	// must not happen twice.
	Sync(ctx context.Context) error

	// RecordProcessGroup records that a process group runs, or has ended: a restarted server kills
	// the groups of a killed one. It returns when the record is durable.
	RecordProcessGroup(g ProcessGroup) error

	// Transcript returns the conversation of the finished turns as text, at most that many bytes of
	// its end. An agent that has lost its own record reads it.
	Transcript(ctx context.Context, most int) (string, error)

	// RecordConversation records a conversation from before the session: as the text of one
	// finished turn with that message, or of a notice if a turn runs. It returns after the session
	// has recorded it.
	RecordConversation(message, text string) error

	// Logf writes to the server's log.
	Logf(format string, args ...any)
}

// A StartWatcher is a Host that shows users the start of its agent.
type StartWatcher interface {
	// Starting reports that a step of the start begins, such as protocol.StepSession; empty: the start has
	// ended. It does not block.
	Starting(step string)
}

// RecordGroup returns a function that records with a host that a process group runs, or has ended.
func RecordGroup(h Host, ended bool) func(process.Group) error {
	return func(g process.Group) error {
		return h.RecordProcessGroup(ProcessGroup{PID: g.PID, Start: g.Start, Ended: ended})
	}
}

// A ProcessGroup is a process group of an agent. The host sets the session. In a batch, Ended removes the
// record.
type ProcessGroup struct {
	Session string
	PID     int    // of its leader
	Start   string // start time of the leader in the platform's format, to detect a reused pid
	Ended   bool
}

// A Blob is a payload too large for an event or a state. ID is unique within its session.
type Blob struct {
	ID        string
	MediaType string
	Data      []byte
}

// NewBlob makes a blob whose id is a hash of its data, so that equal data is stored once.
func NewBlob(mediaType string, data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{ID: "b_" + hex.EncodeToString(sum[:12]), MediaType: mediaType, Data: data}
}

// A WorkHost is a Host whose session shows work that no message asked for.
type WorkHost interface {
	Host

	// Begin begins a turn of work, and returns when its start is visible and Work.Run is called. During
	// another turn it waits for its end. When ctx ends first, or no turn may start, it returns an error
	// and Run is not called.
	Begin(ctx context.Context, w Work) error

	// SubAgent returns the session of a sub-agent. The first call makes it, and returns when it is
	// visible. A session that was closed has the code session_closed; if there are too many, the code
	// is session_limit.
	SubAgent(s SubAgent, title string) (SubAgentHost, error)
}

// Work is a turn that an agent begins itself.
type Work struct {
	Text string // the task, if the agent was given one: the message of the turn

	// Run runs the turn, which has no message, as Agent.Run does.
	Run func(ctx context.Context, turn Turn, out Output) (End, error)

	// Interruptible reports whether the agent can stop the work now; nil: always. It does not block.
	Interruptible func() bool
}
