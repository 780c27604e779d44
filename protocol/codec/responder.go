package codec

import (
	"cmp"
	"slices"

	"agentctl/protocol"
)

// A Responder answers native commands in a client codec, instead of a native server.
type Responder struct {
	Dialect      string          // named in errors
	Server       string          // the server's name in the answer to hello
	Verbs        []protocol.Verb // supported, in addition to hello and ping
	ForwardsPing bool            // the dialect has a ping: Decode returns ping commands
	Epoch        string          // of the connection's first log
	Window       int64           // bytes, if the dialect has acks; 0: none

	OneShot    bool                     // see ClientOptions
	LocalVerbs []protocol.Verb          // the Verbs that need state of the codec, which a one-shot client loses
	Reasons    map[protocol.Verb]string // appended to the error of an unsupported verb
}

// supports reports whether the client may send a verb.
func (d *Responder) supports(v protocol.Verb) bool {
	return slices.Contains(d.Verbs, v) && !(d.OneShot && slices.Contains(d.LocalVerbs, v))
}

// Unsupported returns the error of a verb or another feature that the dialect lacks. The message of
// a verb has the reason.
func (d *Responder) Unsupported(what string) *protocol.Error {
	reason := d.Reasons[protocol.Verb(what)]
	if t := protocol.CommandOf(protocol.Verb(what)); t != nil {
		what = cmp.Or(t.Words, what)
		reason = cmp.Or(reason, "its protocol has no message for it")
	}
	return Unsupported(d.Dialect, what, reason)
}

// Unsupported returns the error of something that a dialect lacks. reason is a clause for users, or
// empty.
func Unsupported(dialect, what, reason string) *protocol.Error {
	e := protocol.Errorf(protocol.CodeUnsupported, "the dialect %s does not support %s", dialect, what)
	if reason != "" {
		e.Message += ": " + reason
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
			Commands: append([]protocol.Verb{protocol.DoHello, protocol.DoPing},
				slices.DeleteFunc(slices.Clone(d.Verbs), func(v protocol.Verb) bool { return !d.supports(v) })...),
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
