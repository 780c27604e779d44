package llm

import (
	"context"

	"agentctl/protocol"
)

// isVoid reports whether the request for a call was made before a restart of the server, and what
// the call was checked against has changed since. The first time it stores the basis, before users
// are asked.
func (t *turnRun) isVoid(i int, basis string) (bool, error) {
	t.agent.mu.Lock()
	asked := t.agent.state.Turn.Calls[i].Basis
	t.agent.mu.Unlock()
	if asked == basis || asked != "" {
		return asked != basis, nil
	}
	return false, t.agent.update(t.out, func(s *state) { s.Turn.Calls[i].Basis = basis })
}

// withdrawRequest cancels a request of the turn that was made before a restart, if it is still
// pending. A decision does not count.
func (t *turnRun) withdrawRequest(ctx context.Context, request string) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, _ = t.out.Ask(ctx, protocol.Approval{Request: request, Kind: protocol.ApproveTool})
}
