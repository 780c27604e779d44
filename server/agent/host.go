package agent

import "context"

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

// A ProcessGroup is a process group of an agent. In a batch, Ended removes the record.
type ProcessGroup struct {
	Session string
	PID     int    // of its leader
	Start   string // start time of the leader in the platform's format, to detect a reused pid
	Ended   bool
}
