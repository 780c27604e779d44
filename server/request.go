package server

import (
	"encoding/json"
	"net"
	"net/http"

	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/server/web"
)

// nameHeader names the user of a request without a credential, as the name in hello does.
const nameHeader = "Agentctl-Name"

// requestCommands runs the commands of HTTP requests, with the checks of a connection.
type requestCommands struct{ server *Server }

var _ web.Commands = requestCommands{}

// Actor implements web.Commands. A sender without a name gets the name of its machine: all its
// connections are one user.
func (c requestCommands) Actor(r *http.Request) protocol.Actor {
	name := web.RemoteName(r)
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	if given := r.Header.Get(nameHeader); given != "" && len(given) <= maxClientName {
		name = protocol.ValidText(given)
	}
	return callerOf(r, name).by
}

// Resolve implements web.Commands.
func (c requestCommands) Resolve(r *http.Request, name string) (string, error) {
	from := callerOf(r, "")
	id, err := c.server.hub.Sessions().Resolve(name)
	if scope := from.scope(); scope != "" && id != scope {
		return "", protocol.Errorf(protocol.CodeForbidden, errScope)
	}
	return id, err
}

// Do implements web.Commands. Each network connection has the rate of a native connection.
func (c requestCommands) Do(r *http.Request, cmd *protocol.Command) (json.RawMessage, error) {
	from := callerOf(r, "")
	if len(r.Header.Get(nameHeader)) > maxClientName {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "%s: at most %d bytes", nameHeader, maxClientName)
	}
	if err := from.authorize(cmd, c.server.hub.Sessions().Resolve); err != nil {
		return nil, err
	}
	if limiter := socketOf(r).requests; !limiter.allow() {
		return nil, limiter.refusal()
	}
	type answer struct {
		result json.RawMessage
		err    error
	}
	answers := make(chan answer, 1)
	who := session.Caller{By: c.Actor(r), Conn: "h_" + session.NewEpoch(), Agent: from.agent, Grant: from.grant}
	ctx := r.Context()
	c.server.run(ctx, cmd, &from, who, func(result json.RawMessage, err error) { answers <- answer{result, err} })
	select {
	case a := <-answers:
		if a.err == nil {
			a.err = checkResult(a.result)
		}
		return a.result, a.err
	case <-ctx.Done():
		return nil, web.Ended(ctx)
	}
}
