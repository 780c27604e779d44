package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/internal/cli/turn"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// Times of a call of wait.
const (
	defaultMCPWait  = 45 * time.Second // less than the limit of clients for a call
	maxMCPWait      = 10 * time.Minute
	mcpWaitProgress = 5 * time.Second // between reports
)

type mcpWaitInput struct {
	Session string `json:"session" jsonschema:"id or name of the session"`
	Message string `json:"message,omitempty" jsonschema:"wait for the turn of this message; default: until idle"`
	Seconds int    `json:"seconds,omitempty" jsonschema:"wait at most this long; default 45, at most 600"`
}

type mcpWait struct {
	Note        string          `json:"note"`
	Session     string          `json:"session"`
	Done        bool            `json:"done"`
	Status      protocol.Status `json:"status,omitempty"`
	NeedsPerson string          `json:"needs_person,omitempty"` // what the user must decide
	Turn        *mcpTurn        `json:"turn,omitempty"`         // that ended
}

// errMCPWaited ends a wait when its time is over.
var errMCPWaited = errors.New("the time of the wait is over")

// wait waits for the end of a turn. The log is followed only from the last boundary of turns.
func (c *mcpCall) wait(in *mcpWaitInput) (*mcpWait, error) {
	limit := defaultMCPWait
	if in.Seconds > 0 {
		limit = min(time.Duration(in.Seconds)*time.Second, maxMCPWait)
	}
	ctx, cancel := context.WithTimeoutCause(c.Context(), limit, errMCPWaited)
	defer cancel()
	progress := c.startProgress(ctx, limit)
	defer progress.stop()
	sub := c.Subscribe(in.Session, wsclient.SubscribeOptions{})
	defer sub.Close()
	w := turn.Waiter{Condition: turn.ForIdle, Message: in.Message}
	result := &mcpWait{Note: mcpNote}
	for item, err := range sub.Events(ctx) {
		if err != nil && context.Cause(ctx) != errMCPWaited {
			return nil, c.Cause(err)
		}
		if err != nil {
			break
		}
		done, err := w.Apply(&item)
		needsPerson := err != nil && exit.From(err).Status == exit.NeedsPerson
		if err != nil && !needsPerson {
			return nil, err
		}
		result.Session, result.Status = w.State.Session, w.State.Status()
		progress.report(result.Status)
		if needsPerson {
			result.NeedsPerson = output.OneLine(err.Error(), 0)
			return result, nil
		}
		if done {
			result.Done = true
			return result, c.addTurn(result, in.Message, w.State.Last)
		}
	}
	if context.Cause(ctx) != errMCPWaited {
		return nil, c.Cause(fmt.Errorf("wait for %s: %w", in.Session, context.Cause(ctx)))
	}
	return result, nil
}

// addTurn adds the turn of a message, or the last one, to the result of a wait.
func (c *mcpCall) addTurn(result *mcpWait, message string, last *protocol.LastTurn) error {
	if message == "" && last == nil {
		return nil
	}
	t, _, _, err := c.finishedTurns(result.Session, maxMCPItems)
	if err != nil {
		return err
	}
	for _, turn := range t.Turns {
		if message == "" && turn.Turn == last.Turn || message != "" && turn.Message.MessageID == message {
			budget := mcpBudget(maxMCPResult)
			v := newMCPTurn(turn, &budget)
			result.Turn = &v
			return nil
		}
	}
	if message == "" {
		return nil
	}
	return exit.From(protocol.Errorf(protocol.CodeNotFound,
		"message %.80s is neither queued nor in one of the last %d turns", message, maxMCPItems)).
		WithHint("somebody may have removed it from the queue: read the session")
}

// An mcpProgress reports to the client that a call is still running.
type mcpProgress struct {
	status atomic.Pointer[protocol.Status]
	first  chan struct{} // filled by the first report
	cancel context.CancelFunc
	done   chan struct{}
}

// startProgress starts to report, if the client asked for it.
func (c *mcpCall) startProgress(ctx context.Context, limit time.Duration) *mcpProgress {
	ctx, cancel := context.WithCancel(ctx)
	p := &mcpProgress{first: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	token := c.request.Params.GetProgressToken()
	go func() {
		defer close(p.done)
		if token == nil {
			return
		}
		start := time.Now()
		tick := time.NewTicker(mcpWaitProgress)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.first:
			case <-tick.C:
			}
			message := "connecting"
			if s := p.status.Load(); s != nil {
				message = string(*s)
			}
			_ = c.request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // the result follows anyway
				ProgressToken: token, Message: message, Progress: time.Since(start).Seconds(), Total: limit.Seconds(),
			})
		}
	}()
	return p
}

func (p *mcpProgress) report(s protocol.Status) {
	if p.status.Swap(&s) == nil {
		p.first <- struct{}{}
	}
}

func (p *mcpProgress) stop() {
	p.cancel()
	<-p.done
}
