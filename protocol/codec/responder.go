package codec

import (
	"cmp"
	"slices"

	"agentctl/protocol"
)

// A Responder answers native commands in a client codec, in place of a native server.
type Responder struct {
	Dialect      string          // named in errors
	Server       string          // the server's name in the answer to hello
	Verbs        []protocol.Verb // supported, besides hello and ping
	ForwardsPing bool            // the dialect has a ping: Decode returns ping commands
	Epoch        string          // of the connection's first log
	Window       int64           // bytes, if the dialect has acks; 0: none

	OneShot    bool                     // see ClientOptions
	LocalVerbs []protocol.Verb          // of Verbs, those that need state of the codec, which a one-shot client loses
	Reasons    map[protocol.Verb]string // appended to the error of an unsupported verb
}

// supports reports whether the client may send a verb.
func (d *Responder) supports(v protocol.Verb) bool {
	return slices.Contains(d.Verbs, v) && !(d.OneShot && slices.Contains(d.LocalVerbs, v))
}

// activities names the verbs whose own name does not tell a user what they do.
var activities = map[protocol.Verb]string{
	protocol.DoSubscribe:    "following a session",
	protocol.DoWatch:        "following the list of sessions",
	protocol.DoList:         "a list of sessions",
	protocol.DoSnapshot:     "the state of a session",
	protocol.DoHistory:      "reading the history",
	protocol.DoSearch:       "searching",
	protocol.DoBlob:         "reading large content",
	protocol.DoCreate:       "creating sessions",
	protocol.DoRename:       "renaming sessions",
	protocol.DoConfigure:    "settings",
	protocol.DoClose:        "closing sessions",
	protocol.DoSend:         "sending messages",
	protocol.DoInterrupt:    "interrupting a turn",
	protocol.DoQueueEdit:    "editing queued messages",
	protocol.DoQueueRemove:  "removing queued messages",
	protocol.DoQueueMove:    "moving queued messages",
	protocol.DoQueueHold:    "holding the queue",
	protocol.DoQueueRelease: "releasing the queue",
	protocol.DoApprove:      "deciding approvals",
	protocol.DoRulesList:    "rules",
	protocol.DoRulesRevoke:  "rules",
	protocol.DoTaskCancel:   "cancelling tasks",
	protocol.DoTaskRestart:  "restarting tasks",
	protocol.DoPlanRun:      "running a plan",
	protocol.DoContext:      "measuring the context",
	protocol.DoCompact:      "compacting the context",
	protocol.DoExport:       "exporting the state",
	protocol.DoRestore:      "restoring a state",
}

// Unsupported returns the error of a verb or another feature that the dialect lacks.
func (d *Responder) Unsupported(what string) *protocol.Error {
	e := protocol.Errorf(protocol.CodeUnsupported, "the dialect %s does not support %s", d.Dialect,
		cmp.Or(activities[protocol.Verb(what)], what))
	if why := d.Reasons[protocol.Verb(what)]; why != "" {
		e.Message += ": " + why
	}
	return e
}

// Decode decodes a command. It answers hello, ping (unless ForwardsPing), invalid and unsupported
// commands itself, and drops an unsupported ack; ok is then false.
func (d *Responder) Decode(out *Output, line []byte) (c protocol.Command, ok bool) {
	c, err := protocol.DecodeCommand(line)
	if err != nil {
		d.Fail(out, &c, err)
		return c, false
	}
	switch c.Command {
	case protocol.DoAck:
		return c, slices.Contains(d.Verbs, c.Command)
	case protocol.DoPing:
		if d.ForwardsPing {
			return c, true
		}
		d.Answer(out, &c, protocol.Empty{})
		return c, false
	case protocol.DoHello:
		var h protocol.HelloData
		if err := c.DecodeData(&h); err != nil {
			d.Fail(out, &c, err)
			return c, false
		}
		d.Answer(out, &c, protocol.HelloResult{
			Version: protocol.Version, Server: d.Server, Connection: d.Epoch, By: protocol.Actor{Name: h.Name},
			Commands: slices.DeleteFunc(append([]protocol.Verb{protocol.DoHello, protocol.DoPing}, d.Verbs...),
				func(v protocol.Verb) bool { return d.OneShot && slices.Contains(d.LocalVerbs, v) }),
			Window: d.Window,
			Limits: protocol.Limits{Message: protocol.MaxMessage, Event: protocol.MaxEvent},
		})
		return c, false
	}
	if !d.supports(c.Command) {
		d.Fail(out, &c, d.Unsupported(string(c.Command)))
		return c, false
	}
	return c, true
}

// Answer answers a command with a result.
func (d *Responder) Answer(out *Output, c *protocol.Command, result any) {
	if c.ID != "" {
		out.Native = append(
			out.Native, protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)}),
		)
	}
}

// Fail answers a command with an error.
func (d *Responder) Fail(out *Output, c *protocol.Command, err error) {
	out.Native = append(out.Native, protocol.MustEncode(protocol.Answer{ID: c.ID, Error: protocol.AsError(err)}))
}
