package provider

import (
	"cmp"
	"maps"
	"strings"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider/anthropic"
	"agentctl/server/agent/llm/provider/chat"
	"agentctl/server/agent/llm/provider/google"
	"agentctl/server/agent/llm/provider/openai"
	"agentctl/server/agent/llm/transport"
)

// client returns a client with the headers that the provider wants: the configured ones, and its key.
func (c *Config) client(name string, keys *Keys) (*transport.Client, error) {
	key, err := keys.key(name, c)
	if err != nil {
		return nil, err
	}
	headers, secrets, err := keys.headers(name, c)
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	switch {
	case c.API == Anthropic:
		own = anthropic.Headers(key)
	case key == "":
	case c.API == Google:
		own["X-Goog-Api-Key"] = key
	default:
		own["Authorization"] = "Bearer " + key
	}
	for header := range headers {
		maps.DeleteFunc(own, func(name, _ string) bool { return strings.EqualFold(name, header) })
	}
	maps.Copy(headers, own)
	return &transport.Client{
		Base: keys.Base, Headers: headers, Secrets: append(secrets, key),
		FirstByte: transport.DefaultFirstByte, Idle: transport.DefaultIdle,
	}, nil
}

// open returns a model of the provider.
func (c *Config) open(r Reference, keys *Keys) (model.Model, error) {
	client, err := c.client(r.Provider, keys)
	if err != nil {
		return nil, err
	}
	origin := r.String()
	switch c.API {
	case OpenAI:
		return openai.New(client, directory(cmp.Or(c.BaseURL, openai.BaseURL)), r.Model, origin), nil
	case Anthropic:
		return anthropic.New(client, directory(cmp.Or(c.BaseURL, anthropic.BaseURL)), r.Model, origin), nil
	case Google:
		return google.New(client, cmp.Or(c.BaseURL, google.BaseURL), r.Model, origin), nil
	}
	return chat.New(client, c.BaseURL, r.Model, origin), nil
}

// directory returns a URL with a slash at its end, which the SDKs want.
func directory(url string) string { return strings.TrimSuffix(url, "/") + "/" }
