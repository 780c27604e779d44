package codec

import "agentctl/protocol"

// Renew goes on with a log after a time in which something may have been missed: under another epoch, unattached, without a turn
// and without anything that waits for somebody. Finished turns stay for history, so the caller ends an open one before.
func (l *Log) Renew(epoch string) {
	was := l.State
	l.Epoch, l.follow = epoch, false
	l.StartFrom(&protocol.State{
		Session: was.Session, Seq: was.Seq, Name: was.Name, Title: was.Title, Agent: was.Agent, CWD: was.CWD, Created: was.Created,
		Closed: was.Closed, Last: was.Last, Turns: was.Turns, Context: was.Context, Usage: was.Usage, Options: was.Options,
		History: was.History,
	})
}
