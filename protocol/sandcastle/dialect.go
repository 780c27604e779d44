package sandcastle

import "agentctl/protocol"

// Name is the dialect's name.
const Name = "sandcastle"

// Dialect is Sandcastle's protocol, both ends.
var Dialect = protocol.Dialect{
	Name:     Name,
	Server:   func(d protocol.Door) protocol.Codec { return NewServer(d) },
	Client:   func(c protocol.Call) protocol.Codec { return NewClient(c) },
	Messages: Messages,
	Options: []protocol.DialectOption{{
		Name: "tags", Ends: []protocol.End{protocol.ClientEnd}, Values: []string{"auto", "chat", "document"},
		About: "the names of requests: the real system's, or the document's",
	}},
}
