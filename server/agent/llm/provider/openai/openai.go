package openai

import (
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// API is the Responses API.
var API = transport.API{
	Base: "https://api.openai.com/v1", Stream: "responses", List: "models", Headers: transport.Bearer, Encode: encode,
	NewDecoder: func(b *model.Builder) transport.Decoder {
		return &decoder{Builder: b, parts: map[int64]int{}, summary: map[int64]int64{}}
	},
}
