package acp

import (
	"context"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

// Bounds of the silence that ends work. They apply unless the agent reports when its work ends.
const (
	workQuiet   = 10 * time.Second // without an open call or request
	workStuck   = 10 * time.Minute // with an open call
	cancelQuiet = time.Second      // after a cancel
)

// isWork reports whether an update shows that the agent works, in a prompt or not. Updates of known
// calls do not: an agent may report the end of a command long after its turn.
func (u *update) isWork() bool {
	switch u.Kind {
	case messageChunk, thoughtChunk, "tool_call":
		return true
	}
	return false
}

// applyActivity applies what an update reports of the agent's activity.
func (l *lane) applyActivity(u *update) {
	end := agent.End{Reason: protocol.ReasonCompleted}
	if active, reported := u.Meta.Active(); reported {
		l.applyState(end, active)
	} else if u.Meta.EndsOwnTurn() {
		l.endWork(end)
	}
}

// applyState applies a report that the agent works, which begins a turn, or how its work ended.
func (l *lane) applyState(end agent.End, works bool) {
	l.setActive(works)
	if works {
		l.pass(arrival{work: true, drop: func() {}, apply: func(t *turn) bool { t.activity.setReports(); return true }})
		return
	}
	l.endWork(end)
}

// endWork ends the current turn of work.
func (l *lane) endWork(end agent.End) {
	l.pass(arrival{drop: func() {}, apply: func(t *turn) bool { t.endWork(end); return true }})
}

// work runs the turns of a session that its agent begins itself.
type work struct {
	agent   *Agent
	client  *client
	session string // ACP session id
	cwd     string
	lane    *lane
	sub     *subAgent // whose work it is; nil: the agent's own
}

// run runs a turn of work until the agent reports its end, is silent for too long, or exits. The
// agent is killed if it does not end its own work after an interrupt.
func (w *work) run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	return w.runTurn(ctx, newTurn(ctx, turn.ID, out, w.cwd, w.client.known()), turn)
}

// runTurn runs a turn of the work.
func (w *work) runTurn(ctx context.Context, t *turn, turn agent.Turn) (agent.End, error) {
	w.lane.setTurn(t)
	steerCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	steered := w.client.steer(steerCtx, t, turn.Steering)
	defer steered.close(stop)
	defer w.endTurn(t)
	end, err := w.await(ctx, t)
	if ctx.Err() != nil {
		end, err = w.cancel(ctx, t), nil
	}
	steered.end(time.Second)
	if w.sub == nil {
		end = w.agent.recordUsage(w.client, t, promptResult{}, end)
	}
	return t.settle(end), err
}

// endTurn detaches the turn and waits for its pending requests.
func (w *work) endTurn(t *turn) {
	if w.sub == nil {
		w.client.endTurn(t)
		return
	}
	w.client.subs.awaitBegins()
	w.lane.endTurn(t)
}

// await waits for the end of the work, or of ctx.
func (w *work) await(ctx context.Context, t *turn) (agent.End, error) {
	quiet := time.NewTimer(workQuiet)
	defer quiet.Stop()
	for {
		select {
		case end := <-t.over:
			return end, nil
		case <-ctx.Done():
			return agent.End{}, nil
		case <-w.client.conn.Done():
			select {
			case end := <-t.over:
				return end, nil
			default:
			}
			return agent.End{}, w.agent.translateError(w.client, rpc.ErrClosed)
		case now := <-quiet.C:
			left := t.silenceLeft(now)
			if left <= 0 {
				return agent.End{Reason: protocol.ReasonCompleted}, nil
			}
			quiet.Reset(left)
		}
	}
}

// cancel cancels the work and waits until it has ended.
func (w *work) cancel(ctx context.Context, t *turn) agent.End {
	end := agent.End{Reason: protocol.ReasonInterrupted}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.agent.config.CancelTimeout)
	defer cancel()
	if w.sub != nil && !w.sub.canCancel() { // its session was closed
		return end
	}
	if err := w.client.conn.Notify(ctx, "session/cancel", cancelParams{w.session}); err != nil {
		w.agent.host.Logf("interrupt the work of %s: %v", w.agent.config.Name, err)
	}
	check := time.NewTicker(cancelQuiet)
	defer check.Stop()
	for {
		select {
		case <-t.over:
			return end
		case <-w.client.conn.Done():
			return end
		case now := <-check.C:
			if t.activity.left(now, cancelQuiet) <= 0 {
				return end
			}
		case <-ctx.Done():
			if w.sub == nil {
				w.agent.kill(w.client, t)
			}
			return end
		}
	}
}

// endWork reports that the agent has ended its work in the turn. Turns of messages end with their
// prompt.
func (t *turn) endWork(end agent.End) {
	select {
	case t.over <- end:
	default:
	}
}

// silenceLeft returns after which further silence the work is over.
func (t *turn) silenceLeft(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := workQuiet
	for _, tool := range t.tools {
		if !tool.ended {
			most = workStuck
		}
	}
	return t.activity.left(now, most)
}
