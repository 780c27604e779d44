package google

import (
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// API is the Gemini API.
var API = transport.API{
	Base:   "https://generativelanguage.googleapis.com/v1beta",
	Stream: "models/{model}:streamGenerateContent?alt=sse", List: "models?pageSize=1000",
	Headers: headers, Encode: encode,
	NewDecoder: func(b *model.Builder) transport.Decoder { return &decoder{Builder: b} },
}

func headers(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{"X-Goog-Api-Key": key}
}
