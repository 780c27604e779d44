package provider

import (
	"context"
	"slices"
	"strings"
)

// List requests the names of the models of a provider, sorted. For a provider in the table they come from
// both, or from the table alone if the provider does not answer.
func (s Set) List(ctx context.Context, name string, keys *Keys) ([]string, error) {
	c, err := s.require(name)
	if err != nil {
		return nil, err
	}
	known := c.listed(name)
	names, err := c.list(ctx, name, keys)
	if known == nil {
		return names, err
	}
	names = slices.DeleteFunc(names, func(id string) bool { _, ok := known.find(id); return !ok })
	if len(names) == 0 {
		return slices.Clone(known.names), nil
	}
	return names, nil
}

func (c *Config) list(ctx context.Context, name string, keys *Keys) (names []string, err error) {
	client, err := c.client(name, keys)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data   []struct{ ID string }
		Models []struct{ Name string }
	}
	if err := client.Get(ctx, c.base()+apis[c.API].List, &answer); err != nil {
		return nil, err
	}
	for _, m := range answer.Data {
		names = append(names, m.ID)
	}
	for _, m := range answer.Models {
		names = append(names, strings.TrimPrefix(m.Name, "models/"))
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(id string) bool { return id == "" }), nil
}
