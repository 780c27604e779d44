package provider

import (
	"cmp"
	"strings"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider/anthropic"
	"agentctl/server/agent/llm/provider/chat"
	"agentctl/server/agent/llm/provider/google"
	"agentctl/server/agent/llm/provider/openai"
	"agentctl/server/agent/llm/transport"
)

// open returns a model of the provider.
func (c *Config) open(r Reference, keys *Keys) (model.Model, error) {
	key, err := keys.key(r.Provider, c)
	if err != nil {
		return nil, err
	}
	headers, secrets, err := keys.headers(r.Provider, c)
	if err != nil {
		return nil, err
	}
	client := &transport.Client{
		Base: keys.Base, Headers: headers, Secrets: append(secrets, key),
		FirstByte: transport.DefaultFirstByte, Idle: transport.DefaultIdle,
	}
	origin := r.String()
	switch c.API {
	case OpenAI:
		return openai.New(client, directory(cmp.Or(c.BaseURL, openai.BaseURL)), key, r.Model, origin), nil
	case Anthropic:
		return anthropic.New(client, directory(cmp.Or(c.BaseURL, anthropic.BaseURL)), key, r.Model, origin), nil
	case Google:
		if key != "" {
			headers["X-Goog-Api-Key"] = key
		}
		return google.New(client, cmp.Or(c.BaseURL, google.BaseURL), r.Model, origin), nil
	}
	if _, set := headers["Authorization"]; key != "" && !set {
		headers["Authorization"] = "Bearer " + key
	}
	return chat.New(client, c.BaseURL, r.Model, origin), nil
}

// directory returns a URL with a slash at its end, which the SDKs want.
func directory(url string) string { return strings.TrimSuffix(url, "/") + "/" }
