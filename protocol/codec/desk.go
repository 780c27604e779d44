package codec

import (
	"slices"

	"agentctl/protocol"
)

// A Desk answers the commands of our client in place of a native server.
type Responder struct {
	Dialect      string          // named in errors
	Server       string          // what hello tells of the foreign server
	Verbs        []protocol.Verb // that the dialect can carry out, beside hello and ping
	ForwardsPing bool            // the dialect can ask for a sign of life: Take hands ping on
	Epoch        string          // of this connection's logs
	Window       int64           // of unacknowledged bytes, where the dialect has acks; 0: none

	OneShot    bool                     // the client is gone after a command or two
	LocalVerbs []protocol.Verb          // of Verbs, those about what is kept here alone: nothing that a brief client could say or learn
	Reasons    map[protocol.Verb]string // what more there is to say of a verb that is refused
}

// says reports whether the client may ask for something.
func (d *Responder) says(v protocol.Verb) bool {
	return slices.Contains(d.Verbs, v) && !(d.OneShot && slices.Contains(d.LocalVerbs, v))
}

// refusal is the error of a verb that the dialect has no words for.
func (d *Responder) refusal(v protocol.Verb) *protocol.Error {
	e := protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say %s", d.Dialect, v)
	if why := d.Reasons[v]; why != "" {
		e.Message += ": " + why
	}
	return e
}

// Decode decodes a command of our client. It answers what needs no dialect: hello, ping unless Pings, ack, and what the dialect cannot do; then
// ok is false.
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
	if !d.says(c.Command) {
		d.Fail(out, &c, d.refusal(c.Command))
		return c, false
	}
	return c, true
}

// Answer answers a command with a result.
func (d *Responder) Answer(out *Output, c *protocol.Command, result any) {
	if c.ID != "" {
		out.Native = append(out.Native, protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)}))
	}
}

// Fail answers a command with an error.
func (d *Responder) Fail(out *Output, c *protocol.Command, err error) {
	out.Native = append(out.Native, protocol.MustEncode(protocol.Answer{ID: c.ID, Error: protocol.AsError(err)}))
}
