package protocol

import "slices"

// A Type is the type of an event: a family, and what happened.
type Type string

// An EventType describes one type of event. Its row holds all facts about the type: the sanitizer
// of agents' events, exports, imports, pages of history, documents and screens use it.
type EventType struct {
	Type      Type
	New       func() any // returns a pointer to the type of the data
	Ephemeral bool       // it has no seq and is not stored
	AgentMay  bool       // an agent may emit it; only the session emits the others
	Exported  bool       // an exported state carries it
	Outside   bool       // outside of turns it is a part of the conversation: history and exports have it
	Sample    string     // JSON of its data, for generated histories; "": they draw it from the state

	line   func(*Event) Line          // its words; nil: its readers show more than a line, or nothing
	reduce func(*State, *Event) error // changes the state; nil: the event changes only its seq
}

func of[T any]() any { return new(T) }

// EventTypes lists every event type of the protocol, in the order of the documentation. The rows of
// a topic are in its file.
var EventTypes = slices.Concat(
	sessionEvents,
	messageEvents,
	steeringEvents,
	turnEvents,
	textEvents,
	toolEvents,
	approvalEvents,
	queueEvents,
	planEvents,
	contextEvents,
	limitEvents,
	errorEvents,
	archiveEvents,
	noticeEvents,
	clientEvents,
	summaryEvents,
	connectionEvents,
)

var eventTypes = func() map[Type]*EventType {
	byType := make(map[Type]*EventType, len(EventTypes))
	for i := range EventTypes {
		byType[EventTypes[i].Type] = &EventTypes[i]
	}
	return byType
}()

// EventTypeOf returns the row of a type, or nil if the protocol has no such type.
func EventTypeOf(t Type) *EventType { return eventTypes[t] }

// OutsideOfTurns reports whether an event of type t in a turn, "" if it is in no turn, is a part of
// the conversation that belongs to no turn.
func OutsideOfTurns(t Type, turn string) bool {
	row := eventTypes[t]
	return turn == "" && row != nil && row.Outside
}
