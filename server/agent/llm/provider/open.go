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

// apis are the APIs by their names in the configuration.
var apis = map[string]*transport.API{
	OpenAI: &openai.API, Anthropic: &anthropic.API, Google: &google.API, Chat: &chat.API,
}

// Open returns a model. The key and the variables of headers are read now.
func (s Set) Open(r Reference, keys *Keys) (model.Backend, error) {
	c, err := s.require(r.Provider)
	if err != nil {
		return model.Backend{}, err
	}
	client, err := c.client(r.Provider, keys)
	if err != nil {
		return model.Backend{}, err
	}
	k := s.Known(r)
	return model.Backend{
		Model:  apis[c.API].NewModel(client, c.base(), r.Model, r.String()),
		Window: k.Window, MaxOut: k.MaxOutput, Price: k.Price,
	}, nil
}

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
	own := apis[c.API].Headers(key)
	for header := range headers {
		maps.DeleteFunc(own, func(name, _ string) bool { return strings.EqualFold(name, header) })
	}
	maps.Copy(headers, own)
	return &transport.Client{Base: keys.Base, Headers: headers, Secrets: append(secrets, key)}, nil
}

// base returns the address of the API, with a slash at its end.
func (c *Config) base() string { return directory(cmp.Or(c.BaseURL, apis[c.API].Base)) }

// directory returns a URL with a slash at its end.
func directory(url string) string { return strings.TrimSuffix(url, "/") + "/" }
