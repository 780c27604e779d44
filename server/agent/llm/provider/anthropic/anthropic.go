package anthropic

import (
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// API is the Messages API.
var API = transport.API{
	Base: "https://api.anthropic.com", Stream: "v1/messages", List: "v1/models?limit=1000",
	Headers: headers, Encode: encode,
	NewDecoder: func(b *model.Builder) transport.Decoder {
		return &decoder{Builder: b, blocks: map[int64]*block{}}
	},
}

func headers(key string) map[string]string {
	headers := map[string]string{"Anthropic-Version": "2023-06-01"}
	if key != "" {
		headers["X-Api-Key"] = key
	}
	return headers
}
