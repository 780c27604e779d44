package agent

// A StartWatcher is a Host that shows users the start of its agent.
type StartWatcher interface {
	// Starting reports that a step of the start begins, such as protocol.StepSession; empty: the start has
	// ended. It does not block.
	Starting(step string)
}
