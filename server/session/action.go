package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"agentctl/protocol"
)

// An action is a command on its way through a session.
type action struct {
	verb  protocol.Verb
	data  any // pointer to the command's data type
	by    protocol.Actor
	conn  string // the connection it came by
	key   string
	hash  []byte // of the command's body
	reply func(json.RawMessage, error)
}

// errLater says that a handler answers later, by answer.
var errLater = errors.New("answered later")

// handlers holds what a session does with each command. A handler runs on the session's goroutine; what it returns is
// answered once everything it recorded is visible.
var handlers map[protocol.Verb]func(*Session, *action) (any, error)

func init() {
	handlers = map[protocol.Verb]func(*Session, *action) (any, error){
		protocol.DoSend:         on((*Session).send),
		protocol.DoPlanRun:      on((*Session).planRun),
		protocol.DoInterrupt:    on((*Session).interrupt),
		protocol.DoQueueEdit:    on((*Session).queueEdit),
		protocol.DoQueueRemove:  on((*Session).queueRemove),
		protocol.DoQueueMove:    on((*Session).queueMove),
		protocol.DoQueueHold:    on((*Session).queueHold),
		protocol.DoQueueRelease: on((*Session).queueRelease),
		protocol.DoApprove:      on((*Session).approve),
		protocol.DoRulesList:    on((*Session).rulesList),
		protocol.DoRulesRevoke:  on((*Session).rulesRevoke),
		protocol.DoTaskCancel:   on((*Session).taskCancel),
		protocol.DoTaskRestart:  on((*Session).taskRestart),
		protocol.DoContext:      on((*Session).context),
		protocol.DoCompact:      on((*Session).compact),
		protocol.DoConfigure:    on((*Session).configure),
		protocol.DoRename:       on((*Session).rename),
		protocol.DoClose:        on((*Session).close),
		protocol.DoSnapshot:     on((*Session).snapshot),
		protocol.DoExport:       on((*Session).export),
	}
}

func on[T any](f func(*Session, *action, *T) (any, error)) func(*Session, *action) (any, error) {
	return func(s *Session, a *action) (any, error) { return f(s, a, a.data.(*T)) }
}

// do runs an action on the session's goroutine.
func (s *Session) do(a *action) {
	if a.key != "" && s.answers.known(s, a) {
		return
	}
	if protocol.CommandOf(a.verb).Changes {
		if s.shutting {
			s.answer(a, nil, stopping())
			return
		}
		if s.state.Closed && a.verb != protocol.DoClose {
			s.answer(a, nil, protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", s.id))
			return
		}
		s.mend()
	}
	result, err := handlers[a.verb](s, a)
	if err != errLater {
		s.answer(a, result, err)
	}
}

// answer replies once everything recorded so far is visible. The answer to a keyed command is kept with it.
func (s *Session) answer(a *action, result any, err error) {
	var body json.RawMessage
	if err == nil {
		if body, err = encode(result); err == nil && body == nil {
			body = json.RawMessage("{}")
		}
	}
	if a.key != "" {
		s.answers.settle(s, a, body, err)
	}
	s.then(func(failed error) {
		if failed != nil {
			a.reply(nil, failed)
			return
		}
		a.reply(body, err)
	})
}

// answers are the answers to keyed commands: of late ones here, of all in the store.
type answers struct {
	byKey map[string]*kept
	order []string // oldest first
}

// kept is what is known of a key. While its command is under way, body is nil and more wait; only what is durable may be
// forgotten.
type kept struct {
	hash    []byte
	body    json.RawMessage
	durable bool
	waiting []*action
}

const keepInMemory = 256

// known answers an action whose key was used before, and reports whether it was.
func (k *answers) known(s *Session, a *action) bool {
	if e := k.byKey[a.key]; e != nil {
		switch {
		case !bytes.Equal(e.hash, a.hash):
			a.reply(nil, keyReused(a.key))
		case e.body == nil:
			e.waiting = append(e.waiting, a)
		default:
			s.then(func(err error) { a.reply(e.body, err) })
		}
		return true
	}
	stored, err := s.hub.cfg.Store.Answer(s.background, a.key)
	switch {
	case errors.Is(err, ErrNotFound):
		k.put(a.key, &kept{hash: a.hash})
		return false
	case err != nil:
		s.hub.log.Error("read answer", "session", s.id, "err", err)
		a.reply(nil, unanswered())
	case stored.Session != s.id || !bytes.Equal(stored.Hash, a.hash):
		a.reply(nil, keyReused(a.key))
	default:
		a.reply(stored.Body, nil)
	}
	return true
}

func unanswered() error {
	return protocol.Errorf(protocol.CodeStorage, "the store did not answer; nothing was changed, try again")
}

func keyReused(key string) error {
	return protocol.Errorf(protocol.CodeKeyReused, "key %.80q was used for another command: make a new key", key)
}

func (k *answers) put(key string, e *kept) {
	if k.byKey == nil {
		k.byKey = map[string]*kept{}
	}
	k.byKey[key] = e
	k.order = append(k.order, key)
	for i := 0; len(k.order) > keepInMemory && i < len(k.order); {
		if old := k.byKey[k.order[i]]; old != nil && !old.durable {
			i++
			continue
		}
		delete(k.byKey, k.order[i])
		k.order = append(k.order[:i], k.order[i+1:]...)
	}
}

// settle keeps the answer in the commit of what the command recorded, and answers who sent the same key meanwhile. An error
// changed nothing and is not kept: sent again, the command is tried again.
func (k *answers) settle(s *Session, a *action, body json.RawMessage, err error) {
	e := k.byKey[a.key]
	if e == nil { // the commit that it was part of failed
		return
	}
	for _, w := range e.waiting {
		s.then(func(failed error) { w.reply(body, errors.Join(failed, err)) })
	}
	e.waiting = nil
	if err != nil {
		delete(k.byKey, a.key)
		return
	}
	e.body = body
	b := s.pending()
	b.Answers = append(b.Answers, Answer{Key: a.key, Session: s.id, Hash: a.hash, Body: body, At: time.Now()})
	s.then(func(failed error) { e.durable = failed == nil })
}

// take forgets a key and returns the actions that wait for its answer.
func (k *answers) take(key string) []*action {
	e := k.byKey[key]
	if e == nil {
		return nil
	}
	delete(k.byKey, key)
	return e.waiting
}

// reset forgets what a failed commit did not keep; the store knows the rest. Actions under way stay.
func (k *answers) reset() {
	for key, e := range k.byKey {
		if e.body != nil {
			delete(k.byKey, key)
		}
	}
	k.order = k.order[:0]
	for key := range k.byKey {
		k.order = append(k.order, key)
	}
}

// forsake answers who waits for a command that was under way when its session ended.
func (k *answers) forsake(err error) {
	for _, e := range k.byKey {
		for _, a := range e.waiting {
			a.reply(nil, err)
		}
		e.waiting = nil
	}
}

// hashOf identifies a command's body. Its session is not part of it: a session may be named in several ways.
func hashOf(c *protocol.Command) []byte {
	data, _ := protocol.Compact(c.Data)
	sum := sha256.Sum256(append([]byte(c.Command+"\x00"), data...))
	return sum[:]
}
