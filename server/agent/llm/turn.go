package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// A turnRun is the run of one turn.
type turnRun struct {
	agent   *Agent
	turn    agent.Turn
	out     agent.Output
	backend *model.Backend // of the present request
	toolbox Toolbox
	tools   toolSet
	unfit   int64     // bytes of a context that could not be compacted; 0: none
	open    *livePart // a text that a cut attempt left
}

// Texts for the model.
const (
	interruptedNote = "[The answer above was interrupted.]"
	resumeNote      = "[Go on where it stopped.]"
	cutNote         = "[The connection was cut. Continue exactly where the text above stops. Do not repeat it.]"
	invalidNote     = "[Your last call of a tool could not be read. Call one tool with valid JSON.]"
	notRun          = "The call was not run: the user interrupted the turn."
	notRunLength    = "The call was not run: the answer reached the limit of its length."
)

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	t := &turnRun{agent: a, turn: turn, out: out}
	a.setRunning(true)
	defer a.setRunning(false)
	if end := t.ended(); end != nil {
		return *end, nil
	}
	if err := t.addTranscript(ctx); err != nil {
		return agent.End{}, err
	}
	if err := t.begin(ctx); err != nil {
		return agent.End{}, err
	}
	end, err := t.run(ctx)
	if err != nil {
		end, err = t.endAtLimit(ctx, err)
	}
	if ctx.Err() != nil {
		end, err = agent.End{Reason: protocol.ReasonInterrupted}, nil
	}
	failed := a.update(a.host, func(s *state) {
		if s.Turn == nil {
			return
		}
		if used := s.Turn.Usage; used != (protocol.Usage{}) {
			end.Usage = &used
		}
		if ctx.Err() == nil { // a canceled turn may continue after a restart of the server
			s.finishCalls(notRun)
			if err == nil {
				s.Turn.End = &end // the server may stop before it knows
			}
		}
	})
	if failed != nil {
		a.host.Logf("save state of %s: %v", a.options.Name, failed)
	}
	return end, err
}

func (a *Agent) setRunning(running bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = running
}

// begin adds the message of the turn, unless the turn continues after a restart.
func (t *turnRun) begin(ctx context.Context) error {
	message, left, err := t.userMessage(ctx, &t.turn.Message, !t.turn.Resumed)
	if err != nil {
		return err
	}
	err = t.agent.update(t.out, func(s *state) {
		if t.resumes(s) {
			t.resume(s)
			return
		}
		s.finishCalls(notRun)
		s.markTurn(t.turn.ID)
		s.add(message)
		s.Turn = &turnState{ID: t.turn.ID}
	})
	if err != nil {
		return err
	}
	return t.reportLeft(left)
}

// run requests the model and runs its calls until it calls no more.
func (t *turnRun) run(ctx context.Context) (agent.End, error) {
	if err := t.agent.Start(ctx); err != nil {
		return agent.End{}, err
	}
	if err := t.endReasoning(); err != nil {
		return agent.End{}, err
	}
	if last := t.last(); last != nil {
		if added, err := t.takeSteered(ctx); !added || err != nil {
			end, failed := endOf(t.agent.options.Name, last)
			return end, cmp.Or(err, failed)
		}
	}
	for invalid, full := 0, 0; ; {
		backend, toolbox, err := t.agent.open(ctx)
		if err != nil {
			return agent.End{}, err
		}
		if err := prepare(ctx, toolbox); err != nil {
			return agent.End{}, err
		}
		t.backend = backend
		t.setToolbox(toolbox)
		if end, over, err := t.runCalls(ctx); over || err != nil {
			return end, err
		}
		if end, over := t.agent.overBudget(); over {
			return end, nil
		}
		if end, over := t.agent.inLoop(); over {
			return end, nil
		}
		if _, err := t.takeSteered(ctx); err != nil {
			return agent.End{}, err
		}
		response, err := t.request(ctx)
		if err != nil {
			return agent.End{}, err
		}
		switch response.Stop {
		case model.StopCalls, model.StopPause:
			continue
		case model.StopEnd:
			if added, err := t.takeSteered(ctx); added || err != nil {
				if err != nil {
					return agent.End{}, err
				}
				continue
			}
		case model.StopContext:
			if full++; full <= 2 {
				if err := t.makeRoom(ctx); err != nil {
					return agent.End{}, err
				}
				continue
			}
		case model.StopInvalid:
			if invalid++; invalid <= 3 {
				if err := t.note(invalidNote); err != nil {
					return agent.End{}, err
				}
				continue
			}
		}
		return endOf(t.backend.Origin(), answerOf(response))
	}
}

// endOf returns the end of a turn after its last response.
func endOf(name string, r *lastAnswer) (agent.End, error) {
	switch r.Stop {
	case model.StopLength:
		return agent.End{Reason: protocol.ReasonMaxTokens, Message: "the answer reached the limit of its length"}, nil
	case model.StopRefusal:
		return agent.End{Reason: protocol.ReasonRefusal, Message: r.Detail}, nil
	case model.StopContext:
		return agent.End{}, requestError(name, model.Errorf(model.Context, "the context is full"))
	case model.StopInvalid:
		return agent.End{}, protocol.Errorf(protocol.CodeAgentFailed, "%s: %s", name, r.Detail)
	}
	end := agent.End{Reason: protocol.ReasonCompleted}
	if r.Empty {
		end.Message = "the model answered nothing"
	}
	return end, nil
}

// emit emits an event that has nothing but data.
func (t *turnRun) emit(typ protocol.Type, data any) error {
	return t.out.Emit(agent.Event{Type: typ, Data: data})
}

// notice shows a text to users.
func (t *turnRun) notice(level, text string) error {
	return t.emit(protocol.Notice, protocol.NoticeData{Level: level, Message: text})
}

// reportLeft shows users what was left out, if anything was.
func (t *turnRun) reportLeft(left []string) error {
	if len(left) == 0 {
		return nil
	}
	return t.notice(protocol.LevelWarning, "left out: "+strings.Join(left, ", "))
}

// setToolbox sets the tools of the next request.
func (t *turnRun) setToolbox(toolbox Toolbox) {
	t.toolbox, t.tools = toolbox, toolSet{}
	for _, tool := range t.agent.offered(toolbox) {
		t.tools[tool.Name] = tool
	}
}

// note adds a text for the model to the conversation.
func (t *turnRun) note(text string) error {
	return t.agent.update(t.out, func(s *state) {
		s.add(model.Texts(model.User, text))
		s.Turn.Last = nil
	})
}

// newRequest returns a request with the conversation.
func (a *Agent) newRequest(b *model.Backend, toolbox Toolbox) *model.Request {
	r := &model.Request{CacheKey: a.spec.Session, MaxOut: b.MaxOut}
	for _, tool := range a.offered(toolbox) {
		r.Tools = append(r.Tools, model.Tool{Name: tool.Name, About: tool.About, Schema: tool.Schema})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.System = a.prompt
	r.Messages = append(r.Messages, a.state.Conversation...)
	r.Effort = fitEffort(a.effort(), a.models.efforts(a.modelName()))
	return r
}

// request requests the next message, again after failures that may pass, and records it.
func (t *turnRun) request(ctx context.Context) (*model.Response, error) {
	var retries retryPolicy
	for overflows := 0; ; {
		if err := t.brief(); err != nil {
			return nil, err
		}
		if err := t.fitContext(ctx); err != nil {
			return nil, err
		}
		if err := t.brief(); err != nil { // of what a summary has replaced
			return nil, err
		}
		r := t.agent.newRequest(t.backend, t.toolbox)
		if err := t.agent.loadFiles(ctx, r); err != nil {
			return nil, err
		}
		live := t.newResponse(t.open)
		response, err := t.backend.Stream(ctx, r, live.emit)
		if err == nil {
			t.open = nil
			return response, t.recordResponse(live, response)
		}
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), t.recordPartial(live, response, interruptedNote))
		}
		if model.AsError(err).Class == model.Context {
			again, failed := t.overflow(ctx, overflows)
			if failed != nil {
				return nil, failed
			}
			if overflows++; again {
				continue
			}
		}
		t.open, err = t.retry(ctx, &retries, live, response, err)
		if err != nil {
			return nil, err
		}
	}
}

// newResponse begins an attempt, with a number that no other attempt of the turn has.
func (t *turnRun) newResponse(open *livePart) *liveResponse {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	t.agent.state.Turn.Step++
	return &liveResponse{turn: t, step: t.agent.state.Turn.Step, parts: map[int]*livePart{}, open: open}
}

// retry waits before the next attempt, or returns the error that ends the turn. Text that came is
// kept, and the next attempt continues it.
func (t *turnRun) retry(
	ctx context.Context, retries *retryPolicy, live *liveResponse, response *model.Response, cause error,
) (open *livePart, err error) {
	e := model.AsError(cause)
	if e.Class == model.Auth {
		t.agent.forgetModel()
	}
	if err := live.abandon(); err != nil {
		return nil, err
	}
	delay, again := retries.next(e, live.text)
	note := cutNote
	if !again {
		note = interruptedNote
	}
	if err := t.recordPartial(live, response, note); err != nil {
		return nil, err
	}
	if !again {
		return nil, requestError(t.backend.Origin(), e)
	}
	if err := t.showRetry(retries, e, delay); err != nil {
		return nil, err
	}
	return live.open, wait(ctx, delay)
}

// recordPartial keeps the text of a response that was cut, and a note for the model.
func (t *turnRun) recordPartial(live *liveResponse, response *model.Response, note string) error {
	text := response.Message.Text()
	if text == "" || !live.text {
		return nil
	}
	return t.agent.update(t.agent.host, func(s *state) {
		if response.Usage != (model.Usage{}) {
			s.countUsage(response.Usage, t.backend)
		}
		s.add(model.Texts(model.Assistant, text))
		s.add(model.Texts(model.User, note))
		if s.Turn.Open, s.Turn.Recorded = "", 0; live.open != nil && live.open.kind == model.Text {
			s.Turn.Open, s.Turn.Recorded = live.open.id, live.open.shown
		}
	})
}

// recordResponse records a complete response and its calls before any of them runs.
func (t *turnRun) recordResponse(live *liveResponse, r *model.Response) error {
	calls, ids := r.Message.Calls(), live.tools()
	if len(ids) != len(calls) {
		return fmt.Errorf("the response has %d calls, and %d were shown", len(calls), len(ids))
	}
	change := func(s *state) {
		s.countUsage(r.Usage, t.backend)
		s.Turn.Open, s.Turn.Recorded, s.Turn.Last = "", 0, answerOf(r)
		s.add(r.Message)
		s.setContext(r.Usage.Input+r.Usage.Output, t.agent.measure(s, t.toolbox).size())
		for i, c := range calls {
			s.Turn.Calls = append(s.Turn.Calls, callState{Tool: ids[i], Call: c})
		}
		if r.Stop == model.StopLength || r.Stop == model.StopRefusal || r.Stop == model.StopContext {
			s.finishCalls(notRunLength)
		}
	}
	var err error
	if live.open != nil {
		err = t.agent.record(t.out, live.ending(), change)
	} else {
		err = t.agent.update(t.out, change)
	}
	if err != nil {
		return err
	}
	return t.emitUsage(t.backend)
}
