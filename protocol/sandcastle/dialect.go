package sandcastle

import "agentctl/protocol/codec"

// Name is the name of the dialect.
const Name = "sandcastle"

// Dialect is Sandcastle's protocol.
var Dialect = codec.Dialect{
	Name:     Name,
	Server:   func(d codec.ServerOptions) codec.Codec { return newServer(d) },
	Client:   func(c codec.ClientOptions) codec.Codec { return newClient(c) },
	Messages: Messages,
	Options: []codec.Option{{
		Name: "tags", Ends: []codec.End{codec.ClientEnd}, Values: []string{"auto", "chat", "document"},
		About: "request names of the real system (chat) or of the document",
	}},
}
