package session

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

func init() {
	handlers[protocol.DoSend] = handler((*Session).send)
	handlers[protocol.DoPlanRun] = handler((*Session).planRun)
	handlers[protocol.DoQueueEdit] = queueHandler((*queue.Queue).Edit)
	handlers[protocol.DoQueueRemove] = queueHandler((*queue.Queue).Remove)
	handlers[protocol.DoQueueMove] = queueHandler((*queue.Queue).Move)
	handlers[protocol.DoQueueHold] = queueHandler((*queue.Queue).Hold)
	handlers[protocol.DoQueueRelease] = queueHandler((*queue.Queue).Release)
}

// partPlan is the type of the message part that holds the tasks of a plan.run.
const partPlan = "plan"

// queueHandler returns the handler of an operation of the queue. After it another message may be
// next.
func queueHandler[T any](
	op func(*queue.Queue, *protocol.State, queue.Caller, *T) (queue.Change, error),
) func(*Session, *command) (any, error) {
	return handler(func(s *Session, cmd *command, d *T) (any, error) {
		settings := s.hub.settings()
		change, err := op(&s.queue, s.state, queue.Caller{
			By: cmd.By, Conn: cmd.Conn, Gone: !s.subscribers.Connected(cmd.Conn), Now: time.Now(),
			HoldID: NewID(idHold), EditTime: settings.EditHold, Limits: settings.Limits.queue(),
			CannotSteer: cannotSteer(s.turn, s.slot.Agent()),
		}, d)
		if err != nil {
			return nil, err
		}
		s.recorder.RecordAll(change.Events...)
		s.scheduleTimer()
		s.startNext()
		return change.Result, nil
	})
}

// send starts a turn with the message. It queues the message while a turn runs or is undone, the
// queue is held, or other messages wait.
func (s *Session) send(cmd *command, d *protocol.SendData) (any, error) {
	if d.Text == "" && len(d.Parts) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "send: text or parts: missing")
	}
	m := protocol.Message{Text: d.Text, Parts: d.Parts, ClientMessageID: d.ClientMessageID, Delivery: d.Delivery}
	switch d.Delivery {
	case protocol.DeliverQueue:
		m.Delivery = ""
	case "", protocol.DeliverSteer:
	default:
		return nil, protocol.Errorf(protocol.CodeInvalidMessage,
			"send: delivery: invalid value %.20q: want queue or steer", d.Delivery)
	}
	if now := time.Now(); d.NotBefore != nil && d.NotBefore.After(now) {
		if err := queue.CheckSchedule(d, now); err != nil {
			return nil, err
		}
		at := record.Time(*d.NotBefore)
		m.NotBefore = &at
	}
	return s.acceptMessage(cmd, m, d.Front)
}

// planRun sends a message with the tasks of its plan.
func (s *Session) planRun(cmd *command, d *protocol.PlanRunData) (any, error) {
	if _, err := s.openAgent(); err != nil {
		return nil, err
	}
	if !s.slot.Capabilities().RunsPlans {
		return nil, unsupported(s.state.Agent, "run plans")
	}
	if len(d.Tasks) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "plan.run: tasks: missing")
	}
	part := protocol.Part{Type: partPlan, Data: protocol.MustEncode(d)}
	return s.acceptMessage(cmd, protocol.Message{Text: d.Question, Parts: []protocol.Part{part}}, false)
}

// planOf returns the tasks in a message of planRun, or nil.
func planOf(m protocol.Message) *protocol.PlanRunData {
	for _, p := range m.Parts {
		d := new(protocol.PlanRunData)
		if p.Type == partPlan && json.Unmarshal(p.Data, d) == nil && len(d.Tasks) > 0 {
			return d
		}
	}
	return nil
}

// acceptMessage starts, queues or schedules a message and returns the SendResult.
func (s *Session) acceptMessage(cmd *command, m protocol.Message, front bool) (any, error) {
	if s.spec.SubAgent != nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported,
			"a sub-agent takes no messages: its parent gives it work; send the message to its parent")
	}
	if err := s.hub.disk.Check(); err != nil {
		return nil, err
	}
	m.MessageID, m.By = NewID(idMessage), &cmd.By
	if err := queue.Sanitize(&m); err != nil {
		return nil, err
	}
	steers := m.Delivery == protocol.DeliverSteer
	if m.NotBefore == nil && s.mayStart() && queue.StartsNow(s.state, front || steers) {
		m.Delivery = ""
		e := s.start(m)
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: e.Turn, Seq: e.Seq}, nil
	}
	limits := s.hub.settings().Limits.queue()
	if err := limits.Check(s.state, &m); err != nil {
		return nil, err
	}
	if m.NotBefore != nil {
		e := s.recorder.RecordAll(queue.Schedule(m))
		s.scheduleTimer()
		return protocol.SendResult{Status: protocol.SendScheduled, MessageID: m.MessageID, Seq: e.Seq}, nil
	}
	if steers {
		added, result := s.queue.AddFirst(s.state, m, cannotSteer(s.turn, s.slot.Agent()), time.Now(), limits)
		result.Seq = s.recorder.RecordAll(added).Seq
		s.startNext()
		return result, nil
	}
	added, index := queue.Add(s.state, m, front, time.Now())
	e := s.recorder.RecordAll(added)
	return protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: e.Seq}, nil
}

// startNext starts the turn of the next queued message, unless a turn is undone or the queue is held. A
// turn that runs gets the messages that join it.
func (s *Session) startNext() {
	if s.turn != nil {
		s.turn.steering.offer(s.state)
	}
	if !s.mayStart() {
		return
	}
	if m, taken, ok := queue.Next(s.state); ok {
		s.recorder.RecordAll(taken)
		s.start(m)
	}
}

// queueTimeouts ends edit holds, queues scheduled messages and releases the hold of a usage limit whose
// time has come.
func (s *Session) queueTimeouts(now time.Time) {
	events := s.queue.Expire(s.state, now)
	if !s.exit.closing(s.state) {
		events = append(events, queue.Due(s.state, now)...)
		events = append(events, s.limits.Due(s.state, now)...)
	}
	if len(events) > 0 {
		s.recorder.RecordAll(events...)
		s.startNext()
	}
}
