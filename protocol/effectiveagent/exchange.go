package effectiveagent

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The protocol reports errors but confirms nothing. agentctl's server answers commands in notes. At
// any other server an activity of the agent runtime confirms a message.
const (
	errorTimeout  = 500 * time.Millisecond // for an error, before a message is shown
	sendTimeout   = 30 * time.Second       // for an activity
	answerTimeout = 2 * time.Minute        // for the answer of agentctl's server
)

// resumeTimeout is the time that agentctl's server has to answer a resume on one connection. After
// maxResumeAttempts connections, the server is treated as another kind.
const (
	resumeTimeout     = 10 * time.Second
	maxResumeAttempts = 3
)

// A pendingCommand is a command without an answer.
type pendingCommand struct {
	command  protocol.Command
	id       string             // of the message sent
	send     *protocol.SendData // of a send; else nil
	sentAt   time.Time
	doneAt   time.Time           // when the wait for an error or for evidence ends
	shown    bool                // of a send: its turn was started without evidence
	result   protocol.SendResult // of a send
	readsLog bool                // a snapshot or history command of a session without activities
}

// An exchange sends messages to the server and has the commands without an answer, on one
// connection.
type exchange struct {
	codec.ClientBase
	pending        []*pendingCommand // oldest first
	brokenKeys     []string          // keys of sends without an answer when the last connection ended
	unansweredKeys *[]string         // keys of sends without an answer, oldest first; kept over connections
	sequence       uint64            // of the last activity sent
}

func (x *exchange) send(m any) { x.Send(encodeMessage(m)) }

// sendActivity sends an activity that carries a command, in the form of its server, and adds it to
// the pending ones. An activity over the limit fails. answers means that the server answers commands
// in notes.
func (x *exchange) sendActivity(w *pendingCommand, payload any, f activityForm, answers bool) {
	x.sequence++
	m := encodeMessage(sendMessage{typeSend, w.command.Session, activity{
		Sequence: x.sequence, Timestamp: f.encodeTime(x.Now), Type: f.typeName(kindInput),
		Payload:        protocol.MustEncode(payload),
		AgentRuntimeID: w.command.Session, ID: w.id,
		Metadata: &metadata{Note: &note{Command: w.command.Command, Key: w.command.Key}},
	}})
	if len(m.Data) > protocol.MaxMessage { // agentctl's server would close the connection
		x.Fail(&w.command, &protocol.Error{
			Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + Name,
			Limit: protocol.MaxMessage,
		})
		return
	}
	wait := errorTimeout
	if answers {
		wait = answerTimeout
	}
	if x.addPending(w, wait) && (w.send == nil || x.markSending(w, answers)) {
		x.Send(m)
	}
}

// addPending adds a command to the pending ones, or fails it if there are too many.
func (x *exchange) addPending(w *pendingCommand, wait time.Duration) bool {
	if len(x.pending) >= maxWaiting {
		x.Fail(&w.command, codec.TooMany(maxWaiting))
		return false
	}
	w.sentAt, w.doneAt = x.Now, x.Now.Add(wait)
	x.pending = append(x.pending, w)
	return true
}

// removePending removes an answered command.
func (x *exchange) removePending(w *pendingCommand) {
	x.pending = slices.DeleteFunc(x.pending, func(o *pendingCommand) bool { return o == w })
	*x.unansweredKeys = removeKey(*x.unansweredKeys, w.command.Key)
}

// markSending records the key of a send. It fails the send and returns false if the last connection
// broke before its answer: a server without keys would run it twice, and a server that crashes on
// it would crash again.
func (x *exchange) markSending(w *pendingCommand, answers bool) bool {
	key := w.command.Key
	if key == "" {
		return true
	}
	if slices.Contains(x.brokenKeys, key) && !answers {
		x.brokenKeys = removeKey(x.brokenKeys, key)
		x.removePending(w)
		x.Failf(&w.command, protocol.CodeTimeout,
			"the connection broke while it was sent, and this server does not confirm messages: "+
				"look whether it arrived before you send it again")
		return false
	}
	keys := append(removeKey(*x.unansweredKeys, key), key)
	*x.unansweredKeys = keys[max(0, len(keys)-maxWaiting):]
	return true
}

func removeKey(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(k string) bool { return k == key })
}

func (x *exchange) duePending(now time.Time) (due []*pendingCommand) {
	for _, w := range x.pending {
		if !w.doneAt.IsZero() && !now.Before(w.doneAt) {
			due = append(due, w)
		}
	}
	return due
}

// pendingSends returns the pending sends to a session.
func (x *exchange) pendingSends(session string) (list []*pendingCommand) {
	for _, w := range x.pending {
		if w.send != nil && w.command.Session == session {
			list = append(list, w)
		}
	}
	return list
}

// takeAnswered removes and returns the command that was sent under an id, or nil.
func (x *exchange) takeAnswered(id string) *pendingCommand {
	for _, w := range x.pending {
		if !w.readsLog && w.id == id {
			x.removePending(w)
			return w
		}
	}
	return nil
}

// failPending fails the pending commands of a session whose events ended, except sends. refused is
// the error of its subscription, or nil.
func (x *exchange) failPending(session string, refused *protocol.Error) {
	for _, w := range slices.Clone(x.pending) {
		if w.send != nil || w.command.Session != session {
			continue
		}
		x.removePending(w)
		err := refused
		if err == nil || !w.readsLog {
			err = protocol.Errorf(protocol.CodeNotSubscribed, "unsubscribed before its result was known")
		}
		x.Fail(&w.command, err)
	}
}
