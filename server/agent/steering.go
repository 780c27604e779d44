package agent

import "agentctl/protocol"

// A Steerer takes messages of users into a turn that runs: its Run uses Turn.Steering.
type Steerer interface {
	// Steers reports whether the agent takes messages now. While that is not known, such as during its
	// start, it returns true. It does not block.
	Steers() bool
}

// Steering hands messages of users to a turn. Its methods may be called from any goroutine until Run
// returns. An agent that never calls Take leaves the messages in the queue.
type Steering interface {
	// Waiting returns a channel that has a value when messages may wait.
	Waiting() <-chan struct{}

	// Take returns the messages that wait, oldest first; none if the turn is being stopped. They are
	// recorded as sent before it returns, so the agent must send and Resolve each. In a resumed turn it
	// also returns those that were sent before the restart and not resolved: an agent that resumes turns
	// saves its state when it resolves, so it does not have them.
	Take() ([]protocol.Message, error)

	// Resolve records the outcome of a message. save is the state to save in the same commit, as by
	// Output.Save; nil: none. A message without an outcome at the end of the turn is unknown.
	Resolve(d protocol.MessageResolvedData, save []byte) error
}
