package protocol

import "slices"

// Types of the events of messages that join the current turn.
const (
	MessageSteered  Type = "message.steered"
	MessageResolved Type = "message.resolved"
)

var steeringEvents = []EventType{
	{
		Type: MessageSteered, New: of[MessageSteeredData], Exported: true,
		line: func(e *Event) Line {
			return Line{Level: LevelInfo, Text: "message into the turn" + after(dataOf[MessageSteeredData](e).Text)}
		},
		reduce: decoded((*State).steer),
	},
	{
		Type: MessageResolved, New: of[MessageResolvedData], Exported: true,
		line:   func(e *Event) Line { return dataOf[MessageResolvedData](e).line() },
		reduce: decoded((*State).resolveSteered),
	},
}

// Commands about messages that join the current turn.
const (
	DoQueueSteer Verb = "queue.steer"
)

var steeringCommands = []CommandType{
	{
		Verb: DoQueueSteer, Data: of[QueueSteerData], Result: of[SendResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "delivering a queued message now",
		Examples: [2]string{`{"message_id":"m_1"}`, `{"message_id":"m_2"}`},
		Routes: []Route{
			{
				Name: "steerQueued", Method: "POST", Path: "/api/sessions/{id}/queue/{message_id}/steer",
				Summary: "Deliver a queued message in the current turn.",
			},
		},
	},
}

// A Delivery is how a message reaches the agent.
type Delivery string

// The deliveries. The empty one is DeliverQueue.
const (
	DeliverQueue Delivery = "queue" // it starts a turn
	DeliverSteer Delivery = "steer" // it joins the current turn at the agent's next safe point
)

// MessageSteeredData is the data of message.steered: a message that is sent to the agent in the
// current turn. Its outcome follows in message.resolved.
type MessageSteeredData struct{ Message }

// A SteerOutcome is what became of a message that was sent to the agent in the current turn.
type SteerOutcome string

// The outcomes.
const (
	SteerTakenIn SteerOutcome = "taken_in"
	SteerRefused SteerOutcome = "refused" // it is the first of the queue again
	SteerUnknown SteerOutcome = "unknown" // server or agent died; it is not sent again
)

// MessageResolvedData is the data of message.resolved: the outcome of a steered message.
type MessageResolvedData struct {
	MessageID string       `json:"message_id"`
	Outcome   SteerOutcome `json:"outcome"`
	Reason    string       `json:"reason,omitempty"` // for people
}

// QueueSteerData delivers a queued message in the current turn. Where that is not possible, the
// message becomes the first of the queue.
type QueueSteerData struct {
	MessageID string `json:"message_id"`
}

// A Steered is a message that joined the current turn. Without an outcome the agent has not answered
// yet; of a message with one only the ids are kept.
type Steered struct {
	Message
	Outcome SteerOutcome `json:"outcome,omitempty"` // taken_in, unknown
}

// Has reports whether a message started the turn or joined it. A nil turn has none.
func (t *TurnState) Has(message string) bool {
	return t != nil && (t.Message.MessageID == message || t.SteeredIndex(message) >= 0)
}

// SteeredIndex returns the index of a message that joined the turn, or -1.
func (t *TurnState) SteeredIndex(message string) int {
	return slices.IndexFunc(t.Steered, func(m Steered) bool { return m.MessageID == message })
}

// Sent returns the messages that joined the turn and have no outcome yet. A nil turn has none.
func (t *TurnState) Sent() (sent []Message) {
	if t == nil {
		return nil
	}
	for i := range t.Steered {
		if m := &t.Steered[i]; m.Outcome == "" {
			sent = append(sent, m.Message)
		}
	}
	return sent
}

func (s *State) steer(e *Event, d *MessageSteeredData) {
	if s.Turn == nil {
		return
	}
	m := Steered{Message: d.Message}
	if m.By == nil {
		m.By = e.By
	}
	s.Turn.Steered = append(s.Turn.Steered, m)
}

func (s *State) resolveSteered(_ *Event, d *MessageResolvedData) {
	if s.Turn == nil {
		return
	}
	i := s.Turn.SteeredIndex(d.MessageID)
	switch {
	case i < 0:
	case d.Outcome == SteerRefused:
		s.Turn.Steered = slices.Delete(s.Turn.Steered, i, i+1)
	default:
		m := &s.Turn.Steered[i]
		m.Message = Message{MessageID: m.MessageID, ClientMessageID: m.ClientMessageID}
		m.Outcome = d.Outcome
	}
}

// endSteering makes the queued messages that wait for a safe point ordinary ones: the turn that they
// were to join is over.
func (s *State) endSteering() {
	for i := range s.Queue {
		s.Queue[i].Delivery = ""
	}
}

func (d *MessageResolvedData) line() Line {
	switch d.Outcome {
	case SteerTakenIn:
		return Line{Level: LevelInfo, Text: "the agent took in the message" + after(d.Reason)}
	case SteerRefused:
		return Line{
			Level: LevelWarning, Text: "the agent did not take in the message, it is queued first" + after(d.Reason),
		}
	}
	return Line{Level: LevelWarning, Text: "it is not known whether the agent got the message" + after(d.Reason)}
}
