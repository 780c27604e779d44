package client

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A decoder decodes the frames of a session. Its methods add events to the frame.
type decoder struct {
	answerState
	parts      int
	endedSeq   uint64 // seq of the frame that ended the last turn on this connection
	aggregate  string // result of the aggregation
	runsTasks  bool   // user.solve_tasks started the turn
	planDenied bool   // this client denied the plan

	recoveryAction string // of the current recovery
	turnDeadline   time.Time
	replaying      bool            // frames come from the previous session
	replayingList  bool            // frames come in a list: the turn continues
	pendingSteps   map[string]bool // steps that still await an answer at the server
	numericTasks   map[string]bool // tasks whose ids are numbers at the server
	decisions      codec.Decisions // of the client, which the server does not confirm
}

// An answerState is the state of a turn's text, for servers without part ids.
type answerState struct {
	openText      string // open text part
	openReasoning string // open reasoning part
	turnText      []byte // the turn's text, without gaps
	textEnded     bool   // the server announced its end; the final answer may continue it
	textLost      bool   // a piece of the text is missing
	pieceSeq      uint64 // seq of the last piece, or the highest one before the turn
}

// decoders maps the events of frames to their decoders.
var decoders = map[string]func(*decoder, *frame){
	wire.AgentLLMMessage:    func(*decoder, *frame) {}, // repeats the conversation
	wire.AgentThinking:      (*decoder).thinking,
	wire.AgentPartialAnswer: (*decoder).partialAnswer,
	wire.AgentToolCall:      (*decoder).toolCall,
	wire.AgentToolResult:    (*decoder).toolResult,
	wire.AgentUserConfirm:   (*decoder).userConfirm,

	wire.PlanStart:          (*decoder).planStart,
	wire.PlanCompleted:      (*decoder).planCompleted,
	wire.PlanCancelled:      (*decoder).planCancelled,
	wire.PlanCoercion:       func(_ *decoder, f *frame) { f.planInvalid() },
	wire.PlanInvalid:        func(_ *decoder, f *frame) { f.planInvalid() },
	wire.SolverStart:        func(_ *decoder, f *frame) { f.recordTask(protocol.TaskStarted) },
	wire.SolverProgress:     func(_ *decoder, f *frame) { f.recordTask(protocol.TaskProgress) },
	wire.SolverCompleted:    func(_ *decoder, f *frame) { f.recordTask(protocol.TaskCompleted) },
	wire.SolverFailed:       func(_ *decoder, f *frame) { f.stepFailed() },
	wire.SolverCancelled:    func(_ *decoder, f *frame) { f.taskCancelled() },
	wire.SolverRestarted:    func(_ *decoder, f *frame) { f.recordTask(protocol.TaskRestarted) },
	wire.AggregateStart:     func(dec *decoder, f *frame) { dec.recordAggregate(f, protocol.AggregateStarted) },
	wire.AggregateCompleted: func(dec *decoder, f *frame) { dec.recordAggregate(f, protocol.AggregateCompleted) },
	wire.PipelineCompleted:  (*decoder).pipelineCompleted,

	wire.SystemError:          func(_ *decoder, f *frame) { f.recordError(protocol.ErrorKindExecution) },
	wire.ErrorValidation:      func(_ *decoder, f *frame) { f.recordError(protocol.ErrorKindValidation) },
	wire.ErrorTimeout:         func(_ *decoder, f *frame) { f.recordError(protocol.ErrorKindTimeout) },
	wire.ErrorExecution:       func(_ *decoder, f *frame) { f.recordError(protocol.ErrorKindExecution) },
	wire.ErrorRetry:           func(_ *decoder, f *frame) { f.retry() },
	wire.ErrorRetryAttempt:    func(_ *decoder, f *frame) { f.retry() },
	wire.ErrorRecoveryStarted: func(dec *decoder, f *frame) { dec.recovery(f, protocol.RecoveryStarted) },
	wire.ErrorRecoverySuccess: func(dec *decoder, f *frame) { dec.recovery(f, protocol.RecoverySucceeded) },
	wire.ErrorRecoveryFailed:  func(dec *decoder, f *frame) { dec.recovery(f, protocol.RecoveryFailed) },
}

// startingEvents are the events that start a turn, if none runs, at a server that does not name turns.
var startingEvents = []string{
	wire.AgentThinking, wire.AgentToolCall, wire.AgentUserConfirm, wire.AgentFinalAnswer, wire.AgentTimeout,
	wire.PlanStart, wire.PlanCompleted, wire.PlanCoercion, wire.PlanInvalid, wire.SolverStart, wire.AggregateStart,
}

// forgetTurn resets the state of one turn.
func (dec *decoder) forgetTurn() {
	dec.answerState, dec.aggregate = answerState{}, ""
	dec.runsTasks, dec.planDenied, dec.turnDeadline = false, false, time.Time{}
}

// answered reports whether a frame replays a confirmation that is no longer pending.
func (dec *decoder) answered(f *frame) bool {
	return f.event == wire.AgentUserConfirm && f.meta.Has("orig_seq") && !dec.pendingSteps[string(f.Step)]
}

// readPendingSteps notes the steps that still await an answer at the server.
func (dec *decoder) readPendingSteps(f *frame) {
	var list []json.RawMessage
	if !f.meta.Decode("pending_confirmations", &list) {
		f.content.Decode("pending_confirmations", &list)
	}
	dec.pendingSteps = map[string]bool{}
	for _, raw := range list[:min(len(list), maxApprovals)] {
		step := wire.Scalar(raw)
		if o := wire.ParseObject(raw); o != nil {
			step = o.Str("step_id")
		}
		dec.pendingSteps[step] = true
	}
}

// partOpen reports whether a part is open.
func (f *frame) partOpen(kind protocol.Kind, part string) bool {
	t := f.state.Turn
	return t != nil && slices.ContainsFunc(t.Parts, func(p protocol.OpenPart) bool {
		return p.Part == part && p.Kind == kind
	})
}

// newPartID returns a part id, for servers that send none.
func (dec *decoder) newPartID() string {
	dec.parts++
	return "p" + strconv.Itoa(dec.parts)
}

// appendPart appends text to a part and starts it if it is not open.
func (f *frame) appendPart(kind protocol.Kind, part, text string) {
	start, delta := protocol.TextStart, protocol.TextDelta
	if kind == protocol.KindReasoning {
		start, delta = protocol.ReasoningStart, protocol.ReasoningDelta
	}
	if !f.partOpen(kind, part) {
		f.add(start, protocol.PartStartData{Part: part, Agent: clipID(f.meta.Str("agent_name"))})
	}
	for _, piece := range protocol.SplitText(text, protocol.MaxText) {
		if piece != "" {
			f.add(delta, protocol.PartDeltaData{Part: part, Text: piece})
		}
	}
}

func (f *frame) endPart(t protocol.Type, part string, ms int64) {
	f.add(t, protocol.PartEndData{Part: part, DurationMS: ms})
}

func (dec *decoder) thinking(f *frame) {
	part, last := clipID(f.meta.Str("part")), f.meta.Str("is_final") == "true"
	streaming := part != "" || f.meta.Str("streaming") == "true"
	switch {
	case part != "":
	case dec.openReasoning != "":
		part = dec.openReasoning
	default:
		part = dec.newPartID()
	}
	f.appendPart(protocol.KindReasoning, part, f.text())
	if last || !streaming {
		f.endPart(protocol.ReasoningEnd, part, f.executionMS())
		dec.openReasoning = ""
	} else if !f.meta.Has("part") {
		dec.openReasoning = part
	}
}

// endReasoning ends the open reasoning of a server without part ids.
func (dec *decoder) endReasoning(f *frame) {
	if dec.openReasoning != "" {
		f.endPart(protocol.ReasoningEnd, dec.openReasoning, 0)
		dec.openReasoning = ""
	}
}

// partialAnswer records a piece of an answer.
func (dec *decoder) partialAnswer(f *frame) {
	if !f.namesTurns {
		dec.partialOfMyAgent(f)
		return
	}
	part, text := clipID(f.meta.Str("part")), f.text()
	if part == "" {
		if dec.openText == "" {
			dec.openText = dec.newPartID()
		}
		part = dec.openText
	}
	f.appendPart(protocol.KindText, part, text)
	if !f.meta.Has("task_id") && !f.meta.Has("parent_id") {
		dec.appendTurnText(text)
	}
	if f.meta.Str("is_final") == "true" {
		f.endPart(protocol.TextEnd, part, f.executionMS())
		dec.openText = ""
	}
}

// partialOfMyAgent records a piece of an answer of a MyAgent server. Such a server sends only the
// newest piece of each 75 ms, and the complete text as the final answer. Until the first missing
// piece, the pieces are the text. After it they are only progress: the text continues with the rest
// of the final answer.
func (dec *decoder) partialOfMyAgent(f *frame) {
	text := f.text()
	follows := f.arrived.follows(dec.pieceSeq, uint64(f.Seq))
	switch {
	case f.state.Turn == nil, f.Seq > 0 && uint64(f.Seq) <= dec.endedSeq:
		return // of a finished turn, whose answer includes it
	case text == "":
		dec.textEnded = dec.openText != ""
		return
	case !dec.textLost && follows:
		dec.pieceSeq = uint64(f.Seq)
		dec.endReasoning(f)
		if dec.textEnded {
			dec.endText(f)
		}
		if dec.openText == "" {
			dec.openText = dec.newPartID()
		}
		f.appendPart(protocol.KindText, dec.openText, text)
		dec.appendTurnText(text)
		return
	}
	if dec.pieceSeq = uint64(f.Seq); !follows {
		text = "…" + text
	}
	switch {
	case dec.openReasoning == "":
		dec.openReasoning = dec.newPartID()
	case !dec.textLost:
		text = "\n" + text
	}
	dec.textLost = true
	f.appendPart(protocol.KindReasoning, dec.openReasoning, text)
}

// endText ends the open text part of a server without part ids.
func (dec *decoder) endText(f *frame) {
	if dec.openText != "" {
		f.endPart(protocol.TextEnd, dec.openText, 0)
		dec.openText, dec.textEnded = "", false
	}
}

// appendTurnText collects the turn's text, to find the new part of the final answer.
func (dec *decoder) appendTurnText(text string) {
	if len(dec.turnText)+len(text) <= wire.MaxAnswer {
		dec.turnText = append(dec.turnText, text...)
	}
}

// finalAnswer records the part of a final answer that was not streamed. The answer joins parts by
// blank lines.
func (dec *decoder) finalAnswer(f *frame) {
	text := f.text()
	defer dec.endText(f)
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	before, sum, all := bare(string(dec.turnText)), bare(dec.aggregate), bare(text)
	if strings.Contains(before, all) || sum == all || f.namesTurns && before+sum != "" {
		return
	}
	part := dec.openText
	// the server trims its answer
	rest, goesOn := strings.CutPrefix(text, strings.TrimLeft(string(dec.turnText), " \n"))
	if goesOn {
		text = rest
	}
	if part == "" || !goesOn {
		dec.endText(f)
		part = dec.newPartID()
	}
	f.appendPart(protocol.KindText, part, text)
	dec.openText = part
}
