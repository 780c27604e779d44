package chat

import (
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// API is the chat completions API. A response is complete with a finish reason or [DONE].
var API = transport.API{
	Stream: "chat/completions", List: "models", Headers: transport.Bearer, Encode: encode,
	NewDecoder: func(b *model.Builder) transport.Decoder { return &decoder{Builder: b} },
}
