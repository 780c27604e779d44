package wsclient

import "errors"

// ErrWithdrawn is the end of a command that was taken back before it went to the server.
var ErrWithdrawn = errors.New("the command was taken back")

// Withdraw takes back a command that waits for a connection: its Do returns ErrWithdrawn, and the server never sees it. It reports
// false, and changes nothing, when no command with that key waits, or when it may have reached a server already: then it is
// sent again until it is answered.
func (c *Client) Withdraw(key string) bool {
	withdrawn := make(chan bool, 1)
	if !c.post(func(l *loop) { withdrawn <- l.withdraw(key) }) {
		return false
	}
	select {
	case was := <-withdrawn:
		return was
	case <-c.done:
		return false
	}
}

func (l *loop) withdraw(key string) bool {
	for _, c := range l.calls {
		if key != "" && c.command.Key == key && !c.sent {
			l.abandon(c)
			c.answer(nil, ErrWithdrawn)
			return true
		}
	}
	return false
}
