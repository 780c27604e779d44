package acp

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// clientCapabilities are the capabilities of a client that matter, in both versions.
type clientCapabilities struct {
	Elicitation *struct {
		Form *struct{} `json:"form"`
		URL  *struct{} `json:"url"`
	} `json:"elicitation"`
	Auth struct {
		Terminal json.RawMessage `json:"terminal"` // true, or an object in version 2
	} `json:"auth"`
	Session *struct {
		Notices *struct{} `json:"notices"`
	} `json:"session"`
}

// initialize negotiates the version and introduces the client to agentctl's server.
func (c *Conn) initialize(m *received) {
	type implementation struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	p, ok := decode[struct {
		Version        int                `json:"protocolVersion"`
		CapabilitiesV1 clientCapabilities `json:"clientCapabilities"`
		CapabilitiesV2 clientCapabilities `json:"capabilities"`
		ClientV1       implementation     `json:"clientInfo"`
		ClientV2       implementation     `json:"info"`
	}](&c.client, &request{m.ID, m.Params})
	switch {
	case !ok:
		return
	case c.version != 0:
		c.fail(m.ID, &rpcError{Code: codeInvalidRequest, Message: "initialize was sent before"})
		return
	}
	c.version, c.capabilities = 1, p.CapabilitiesV1
	program := p.ClientV1
	if p.Version >= 2 {
		c.version, c.capabilities, program = 2, p.CapabilitiesV2, p.ClientV2
	}
	hello := protocol.HelloData{Version: protocol.Version, Name: c.Options.By.Name, Agent: Name}
	if program.Name != "" {
		hello.Agent = codec.Truncate(program.Name+" ("+Name+")", maxProgram)
	}
	c.Request(protocol.DoHello, "", "", hello, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.HelloResult](a)
		if err != nil {
			c.fail(m.ID, errorOf(err))
			return
		}
		c.hello, c.Connection = r, r.Connection
		c.answer(m.ID, c.introduction())
	})
}

// maxProgram bounds the name of the client program, in bytes.
const maxProgram = 100

// maxFold is the time for which deltas are joined, in ms.
const maxFold = 50

// introduction returns the result of initialize.
func (c *Conn) introduction() object {
	info := object{"name": "agentctl", "title": "agentctl", "version": c.Options.Version}
	none := object{}
	if c.version == 2 {
		return object{
			"protocolVersion": 2, "info": info, "authMethods": c.authMethods(),
			"capabilities": object{"session": object{
				"prompt": object{"image": none, "embeddedContext": none}, "delete": none, "fork": none,
			}},
		}
	}
	return object{
		"protocolVersion": 1, "agentInfo": info, "authMethods": c.authMethods(),
		"agentCapabilities": object{
			"loadSession":        true,
			"promptCapabilities": object{"image": true, "embeddedContext": true},
			"sessionCapabilities": object{
				"list": none, "delete": none, "resume": none, "close": none, "fork": none,
			},
		},
	}
}

// authMethods returns the logins that the client can run in a terminal, one for each agent.
func (c *Conn) authMethods() []object {
	list := []object{}
	agents := c.hello.Agents
	if c.fixed.Agent != "" {
		agents = []string{c.fixed.Agent}
	}
	if can := string(c.capabilities.Auth.Terminal); !c.fixed.Login || can == "" || can == "false" || can == "null" {
		return list
	}
	id := "id"
	if c.version == 2 {
		id = "methodId"
	}
	for _, agent := range agents {
		list = append(list, object{
			"type": "terminal", id: "login " + agent, "name": "Log in to " + agent, "args": []string{"--login", agent},
		})
	}
	return list
}

// authenticate refuses to log in: the agents do it themselves.
func (c *Conn) authenticate(r *request) {
	c.refuse(r.ID, protocol.CodeUnsupported, "log in on the machine of the server: agentctl agents login NAME")
}
