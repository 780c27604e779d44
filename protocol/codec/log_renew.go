package codec

import "agentctl/protocol"

// Renew continues a log after a time in which events may have been missed: with another epoch,
// unsubscribed, without a turn, queue or approvals. Finished turns stay in the history, so the
// caller ends an open turn first.
func (l *Log) Renew(epoch string) {
	was := l.State
	l.Epoch, l.following = epoch, false
	l.StartFrom(&protocol.State{
		Session: was.Session, Seq: was.Seq, Name: was.Name, Title: was.Title, Agent: was.Agent, CWD: was.CWD,
		Attributes: was.Attributes,
		Closed:     was.Closed, Last: was.Last, Turns: was.Turns, Context: was.Context, Usage: was.Usage,
		Options: was.Options,
		History: was.History,
	})
}
